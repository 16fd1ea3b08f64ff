"""Positions of several loops that run as one, row by row of the innermost: where its index rises by one, the others stay.

Packs take vectors within such rows, so that what they read lies side by side, and divide once where a row begins. Where rows
that are read lie one behind the other, those of a whole turn of the loop around are one. In: a loop, and those for which it
stands, if there are any. Out: pieces of rows, and what the statements of a side need there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from accel.ast.handles.extents import LARGEST_EXTENT
from accel.ast.tree.types import I64
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.ir.nodes import For
from accel.labelled.array import Array
from accel.schedule.templates.tile import Merged
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A position, and its digits, the outermost first; none where the loop stands for itself alone."""

    position: str
    digits: Sequence[str]


@dataclass(frozen=True, slots=True)
class Piece:
    """Positions of one row: the first one, its number among all that are asked for, and how many there are."""

    first: Place
    begin: str
    length: str


class DigitRows:
    """The rows of a loop, written into the function of `memory`."""

    def __init__(self, memory: Memory, loop: For, merged: Merged | None) -> None:
        self._routine = memory.routine
        self._index = loop.index
        self._digits = None if merged is None else merged.digits
        extents = Streams(memory, {}).values(() if merged is None else merged.digits.extents[1:])
        self._extents = [Writer(memory.routine.code, 1).one(extent) for extent in extents]
        self._joined = None if merged is None or merged.joins is None else self._lie_behind(memory, merged.joins)

    def _lie_behind(self, memory: Memory, arrays: Sequence[Array]) -> str:
        """An i1: whether rows of the arrays are as long as the innermost loop counts, and lie one behind the other."""
        code, found = self._routine.code, "true"
        for array in arrays:
            length = code.emit(f"mul i64 {self._extents[-1]}, {array.element.bytes}")
            behind = code.emit(f"icmp eq i64 {memory.view.stride(array, len(array.shape) - 2)}, {length}")
            found = code.emit(f"and i1 {found}, {behind}")
        return found

    @property
    def inner(self) -> str | None:
        """How long rows are; None if the loop stands for itself alone."""
        return self._span("0", "0", str(LARGEST_EXTENT)) if self._extents else None

    def _span(self, outer: str, inner: str, most: str) -> str:
        """How many positions there are from these innermost digits on to the end of the row; `most` if rows have no end."""
        code = self._routine.code
        alone = code.emit(f"sub i64 {self._extents[-1]}, {inner}")
        if self._joined is None:
            return alone
        together = most
        if len(self._extents) > 1:
            turns = code.emit(f"sub i64 {self._extents[-2]}, {outer}")
            together = code.emit(f"sub i64 {code.emit(f'mul i64 {turns}, {self._extents[-1]}')}, {inner}")
        return code.emit(f"select i1 {self._joined}, i64 {together}, i64 {alone}")

    @property
    def words(self) -> int:
        """How many numbers are a place."""
        return 1 if self._digits is None else 1 + len(self._digits.streams)

    def place(self, position: str) -> Place:
        """The place of a position, by divisions."""
        if self._digits is None:
            return Place(position, ())
        code, found, rest = self._routine.code, [], position
        for extent in reversed(self._extents):
            found.append(code.emit(f"urem i64 {rest}, {extent}"))
            rest = code.emit(f"udiv i64 {rest}, {extent}")
        return Place(position, (rest, *reversed(found)))

    def after(self, place: Place, steps: str) -> Place:
        """So many positions further, in the same row."""
        code = self._routine.code
        position = code.emit(f"add i64 {place.position}, {steps}")
        if not place.digits:
            return Place(position, ())
        return Place(position, (*place.digits[:-1], code.emit(f"add i64 {place.digits[-1]}, {steps}")))

    def at(self, place: Place) -> dict[str, Value]:
        """What statements find there."""
        return self._made(place, Uniform(place.position, I64), [Uniform(each, I64) for each in place.digits[-1:]])

    def along(self, place: Place) -> dict[str, Value]:
        """What they find in lanes from there on."""
        return self._made(place, Progression(place.position, 1), [Progression(each, 1) for each in place.digits[-1:]])

    def _made(self, place: Place, index: Value, inner: Sequence[Value]) -> dict[str, Value]:
        made = {self._index.name: index}
        if self._digits is not None:
            values = (*(Uniform(each, I64) for each in place.digits[:-1]), *inner)
            made.update(zip((stream.name for stream in self._digits.streams), values, strict=True))
        return made

    @contextmanager
    def pieces(self, first: str, count: str) -> Iterator[Piece]:
        """A loop over the rows of so many positions, of which the first and the last may be parts of rows."""
        if self._digits is None:
            yield Piece(Place(first, ()), "0", count)
            return
        routine, code = self._routine, self._routine.code
        slots = [routine.slot("i64") for _ in self._digits.streams]
        for slot, digit in zip(slots, self.place(first).digits, strict=True):
            routine.store("i64", digit, slot)
        counter = routine.slot("i64")
        routine.store("i64", "0", counter)
        with routine.repeat() as while_:
            begin = routine.load("i64", counter)
            while_(code.emit(f"icmp slt i64 {begin}, {count}"))
            digits = [routine.load("i64", slot) for slot in slots]
            length = routine.least(self._span(digits[-2], digits[-1], count), code.emit(f"sub i64 {count}, {begin}"))
            yield Piece(Place(code.emit(f"add i64 {first}, {begin}"), digits), begin, length)
            routine.store("i64", code.emit(f"add i64 {begin}, {length}"), counter)
            self._next_row(slots)

    def _next_row(self, slots: Sequence[str]) -> None:
        """The digits of the first position of the next row."""
        routine, code = self._routine, self._routine.code
        routine.store("i64", "0", slots[-1])
        carry, joined = "1", self._joined or "false"
        for slot, extent in zip(reversed(slots[1:-1]), reversed(self._extents[:-1]), strict=True):
            following = code.emit(f"add i64 {routine.load('i64', slot)}, {carry}")
            wraps = code.emit(f"or i1 {joined}, {code.emit(f'icmp eq i64 {following}, {extent}')}")
            joined = "false"
            routine.store("i64", code.emit(f"select i1 {wraps}, i64 0, i64 {following}"), slot)
            carry = code.emit(f"zext i1 {wraps} to i64")
        routine.store("i64", code.emit(f"add i64 {routine.load('i64', slots[0])}, {carry}"), slots[0])
