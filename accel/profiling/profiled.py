"""What users hold of a profile: attributes, a table, a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from os import PathLike

from accel.explanation.explanation import Explanation
from accel.explanation.facts.facts import OperationReport
from accel.explanation.facts.measured import Measured
from accel.explanation.facts.ways import WayReport
from accel.explanation.naming.source import place
from accel.support.dataclass import dataclass

MANY = 8
"""Of more combinators than this in a loop, the number is printed."""


@dataclass(frozen=True, slots=True)
class LoopProfile(Measured):
    """One loop: its figures, and the number and the title that it has in the explanation.

    operations: the combinators that the loop holds, each with the user's call. part: the control flow around it.
    ways: how it may run, where that is measured.
    """

    number: int
    title: str
    operations: tuple[OperationReport, ...]
    part: tuple[str, ...]
    ways: tuple[WayReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """What each loop of a program takes; `str()` is a table.

    name: of the function. milliseconds: the least that a whole run took; the loops' together are less, since arguments are
    checked, memory is found and sizes are computed between them. runs: how many were measured. bandwidth: what this machine
    moves with this backend and these threads, in GB/s. explanation: why the loops are what they are, with these figures in
    its pages and pictures.
    """

    name: str
    backend: str
    runs: int
    milliseconds: float
    bandwidth: float
    loops: tuple[LoopProfile, ...]
    explanation: Explanation = field(repr=False)

    def __str__(self) -> str:
        return "\n".join([*_head(self), "", *_table(self.loops)])

    def to_html(self, path: str | PathLike[str]) -> None:
        """Writes the page of the explanation, with the figures of each loop: see `Explanation.to_html`."""
        self.explanation.to_html(path)


def _head(profile: Profile) -> Iterator[str]:
    inside = sum(loop.milliseconds for loop in profile.loops)
    runs = f"the least of {profile.runs} runs"
    yield f"{profile.name} on {profile.backend}: {profile.milliseconds:,.3f} ms, {inside:,.3f} ms of it in loops, {runs}"
    yield f"bandwidth: {profile.bandwidth:.1f} GB/s"


def _table(loops: tuple[LoopProfile, ...]) -> Iterator[str]:
    heads = ("", "turns", "ms", "read", "written", "GB/s", "of bandwidth")
    rows = [(loop.title, f"{loop.times:,}", *_figures(loop)) for loop in loops]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    yield _row(heads, widths)
    part: tuple[str, ...] = ()
    for loop, row in zip(loops, rows, strict=True):
        if loop.part != part:
            part = loop.part
            yield f"in {' / '.join(part)}" if part else "outside of control flow"
        yield _row(row, widths)
        yield from _operations(loop)
        yield from (f"    by {way}" for way in loop.ways)


def _figures(loop: LoopProfile) -> tuple[str, ...]:
    if not loop.times:
        return ("-",) * 5
    moved = (f"{loop.bytes_read:,}", f"{loop.bytes_written:,}")
    return f"{loop.milliseconds:,.3f}", *moved, f"{loop.gigabytes_per_second:.1f}", f"{loop.share:.0%}"


def _row(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *numbers = cells
    title, *rest = widths
    padded = [number.rjust(width) for number, width in zip(numbers, rest, strict=True)]
    return "  ".join([first.ljust(title), *padded])


def _operations(loop: LoopProfile) -> Iterator[str]:
    shown, hidden = loop.operations[:MANY], len(loop.operations) - MANY
    width = max((len(operation.name) for operation in shown), default=0)
    for operation in shown:
        yield f"    {operation.name.ljust(width)}  {place(operation.where)}".rstrip()
    if hidden > 0:
        yield f"    and {hidden} more"
