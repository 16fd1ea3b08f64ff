"""The user's own lines, as far as their files can be read."""

from __future__ import annotations

import linecache
from collections.abc import Iterable

from accel.errors import Where
from accel.support.dataclass import dataclass

AROUND = 2
"""How many lines before and after the user's line are shown."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file. marked: a call of the program stands there."""

    number: int
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Successive lines of one file."""

    file: str
    lines: tuple[Line, ...]


def place(where: Where | None) -> str:
    """`file.py:12`, or nothing."""
    return "" if where is None else f"{where.file}:{where.line}"


def short_place(where: Where | None) -> str:
    """`file.py:12` without folders, or nothing."""
    return "" if where is None else f"{where.file.replace(chr(92), '/').rpartition('/')[2]}:{where.line}"


def excerpts(places: Iterable[Where | None]) -> list[Excerpt]:
    """The lines of some calls with a few around each; calls that stand close together share an excerpt."""
    marked: dict[str, set[int]] = {}
    for where in places:
        if where is not None:
            marked.setdefault(where.file, set()).add(where.line)
    found = []
    for file, numbers in marked.items():
        text = linecache.getlines(file)
        for first, last in _ranges(sorted(numbers)):
            lines = range(max(1, first - AROUND), min(len(text), last + AROUND) + 1)
            shown = tuple(Line(number, text[number - 1].rstrip("\n"), number in numbers) for number in lines)
            found.append(Excerpt(file, shown or tuple(Line(number, "", True) for number in (first,))))
    return found


def _ranges(numbers: list[int]) -> list[tuple[int, int]]:
    """Numbers that are so close that their excerpts touch, as first and last."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and number - ranges[-1][1] <= 2 * AROUND + 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    return ranges
