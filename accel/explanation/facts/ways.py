"""What explanations say about the ways to run a nest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WayReport:
    """One way to run a loop, by the name of its template. milliseconds: what it took, if it was measured. chosen: it is the one
    that is tried first.
    """

    template: str
    milliseconds: float | None
    chosen: bool

    def __str__(self) -> str:
        taken = f"measured {self.milliseconds:,.3f} ms" if self.milliseconds is not None else "not measured"
        return f"{self.template}: {taken}{', chosen' if self.chosen else ''}"
