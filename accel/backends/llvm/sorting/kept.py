"""The best elements of a row so far and their places, in order, in vectors: another one goes in without a branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.values import Lanes, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.sorting.selection_frame import MOST
from accel.backends.llvm.text.routine import WORD, Routine

Before: TypeAlias = Callable[[Writer, Value, Value], Value]
"""Whether one element comes before another, in each lane."""


class Kept:
    """What is kept of one row at a time; `first`, an i64, says how many at most."""

    def __init__(self, routine: Routine, key: ScalarType, before: Before, first: str) -> None:
        self._routine, self._key, self._before, self._first = routine, key, before, first
        self._writer = Writer(routine.code, MOST)
        self._type, self._vector = Writer(routine.code, 1).code.type(key), self._writer.code.type(key)
        self._places_vector = self._writer.code.vector("i64")
        self._elements = routine.slot(self._vector, align=64)
        self._places = routine.slot(self._places_vector, align=64)
        self._count = routine.slot("i64")
        self._last = routine.code.emit(f"sub i64 {first}, 1")

    def begin(self) -> None:
        """Nothing is kept."""
        self._routine.store("i64", "0", self._count)

    def enough(self) -> str:
        """Whether as many are kept as are wanted: an i1."""
        return self._routine.code.emit(f"icmp eq i64 {self._routine.load('i64', self._count)}, {self._first}")

    def last(self) -> Value:
        """The last of those that are wanted; if not as many are kept, anything."""
        vector = self._routine.load(self._vector, self._elements)
        text = self._routine.code.emit(f"extractelement {self._vector} {vector}, i64 {self._last}")
        return Uniform(text, self._key)

    def take(self, element: Value, place: str) -> None:
        """One that comes later in the row than all that are kept. It stands behind those that it does not come before."""
        routine, code, bits = self._routine, self._routine.code, f"i{MOST}"
        count = routine.load("i64", self._count)
        elements: Value = Lanes(routine.load(self._vector, self._elements), self._key)
        comes_before = self._writer.every(self._before(self._writer, element, elements))
        behind = code.emit(f"bitcast {self._writer.code.vector('i1')} {comes_before} to {bits}")
        absent = code.emit(f"shl i64 -1, {count}")
        behind = code.emit(f"or {bits} {behind}, {code.emit(f'trunc i64 {absent} to {bits}')}")
        # The lanes of those that move: all behind the element, which takes the first of these lanes.
        moves = self._mask(code.emit(f"shl {bits} {behind}, 1"))
        own = self._mask(behind)
        self._move(self._elements, self._type, self._writer.every(element), own, moves)
        self._move(self._places, "i64", self._writer.splat(place, "i64"), own, moves)
        routine.store("i64", routine.least(code.emit(f"add i64 {count}, 1"), self._first), self._count)

    def _mask(self, bits: str) -> str:
        return self._routine.code.emit(f"bitcast i{MOST} {bits} to {self._writer.code.vector('i1')}")

    def _move(self, slot: str, type_: str, new: str, own: str, moves: str) -> None:
        code, vector, masks = self._routine.code, self._writer.code.vector(type_), self._writer.code.vector("i1")
        held = self._routine.load(vector, slot)
        with_new = code.emit(f"select {masks} {own}, {vector} {new}, {vector} {held}")
        later = self._writer.shifted(held, type_, 1, held)
        self._routine.store(vector, code.emit(f"select {masks} {moves}, {vector} {later}, {vector} {with_new}"), slot)

    def write(self, places: str) -> None:
        """The places, in order, as i64 from an address on."""
        size = self._routine.code.emit(f"mul i64 {self._first}, {WORD}")
        self._routine.copy(places, self._places, size)
