"""What users hold of an explanation: attributes, a report, pictures, a page."""

from __future__ import annotations

from collections.abc import Container
from os import PathLike

from accel.explanation.facts.explained import Explained
from accel.explanation.show.dot import dot
from accel.explanation.show.html import write_page
from accel.explanation.show.mermaid import mermaid
from accel.explanation.show.picture import draw
from accel.explanation.show.report import report
from accel.explanation.show.svg import svg, svg_or_none
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Explanation(Explained):
    """What was fused, what it costs, and what is known about all other ways; `str()` is a report: see `Explained`."""

    def __str__(self) -> str:
        return report(self)

    def to_dot(self) -> str:
        """The program as a graph in Graphviz's language: loops are boxes, arrays are edges."""
        return dot(draw(self))

    def to_mermaid(self) -> str:
        """The same graph in Mermaid's language, which GitHub and notebooks draw."""
        return mermaid(draw(self))

    def to_svg(self) -> str:
        """The same graph as SVG. Raises `AccelError` where nothing is installed that can draw it."""
        return svg(self.to_dot())

    def to_html(self, path: str | PathLike[str]) -> None:
        """Writes one page that holds everything, with a script to click through it; it needs no network.

        Raises `AccelError` if the file cannot be written; then what was there before is still there.
        """
        write_page(self, path)

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """What Jupyter shows: the report, and the graph where it can be drawn. Nothing is run or compiled for it."""
        bundle = {"text/plain": str(self)}
        if (include is None or "image/svg+xml" in include) and (exclude is None or "image/svg+xml" not in exclude):
            picture = svg_or_none(self.to_dot())
            if picture is not None:
                bundle["image/svg+xml"] = picture
        return bundle
