"""What explanations say about the ways to run a nest."""

from __future__ import annotations

from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WayReport:
    """One way to run a loop, by the name of its template. predicted: milliseconds on one thread by a model, if extents
    are known. milliseconds: what it took, if it was measured. chosen: it is the one that is tried first.
    """

    template: str
    predicted: float | None
    milliseconds: float | None
    chosen: bool

    def __str__(self) -> str:
        known = [f"predicted {self.predicted:,.3f} ms"] if self.predicted is not None else []
        known += ["not measured" if self.milliseconds is None else f"measured {self.milliseconds:,.3f} ms"]
        return f"{self.template}: {', '.join(known)}{', chosen' if self.chosen else ''}"
