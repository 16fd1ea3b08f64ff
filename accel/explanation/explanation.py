"""What became of a program: attributes, a report, pictures, a page."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from os import PathLike

from accel.explanation.dot import dot
from accel.explanation.facts import ArrayReport, ClusterReport, CopyReport, Flow, OperationReport, ViewReport
from accel.explanation.html import write_page
from accel.explanation.mermaid import mermaid
from accel.explanation.picture import draw
from accel.explanation.report import report
from accel.explanation.strategies import StrategyReport
from accel.explanation.svg import svg, svg_or_none


@dataclass(frozen=True, slots=True)
class Explanation:
    """What was fused, what it costs, and what is known about all other ways; `str()` is a report.

    loops: nests over at least one dimension. reads, writes: array passes, by the size of the pass (`n0`, `n0*n1`; a single
    element counts under `1`). bytes_read, bytes_written: with the extents in `sizes`; others count 1024. cost, bound: one
    number per level of the cost model, sub-programs included; `proved`: no clustering costs less; `recalled`: an earlier
    process found that out, and the plan cache kept it. unfused: the cost with every operation by itself. levels: what the
    numbers count. operations, flows: every operation, and who reads what. views: other names of arrays. copies: work that
    is done again. strategies: what each strategy makes of the program, found out when it is asked for. stages: the
    program's text in every stage, likewise. name: of the function.
    """

    loops: int
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    bytes_read: int
    bytes_written: int
    sizes: Mapping[str, int]
    clusters: tuple[ClusterReport, ...]
    arrays: tuple[ArrayReport, ...]
    strategy: str
    cost_model: str
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    proved: bool
    recalled: bool
    solve_seconds: float
    unfused: tuple[int, ...]
    levels: tuple[str, ...]
    operations: tuple[OperationReport, ...]
    flows: tuple[Flow, ...]
    views: tuple[ViewReport, ...]
    copies: tuple[CopyReport, ...]
    name: str
    strategies: Mapping[str, StrategyReport] = field(repr=False, compare=False)
    stages: Mapping[str, str] = field(repr=False, compare=False)

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
