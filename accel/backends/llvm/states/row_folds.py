"""Folds of which every lane has a row of its own: what a state accumulates, in the order of docs/order.md for each row.

Rows are shorter than a block. Lanes of the order are vectors in memory here, one for each: the first elements go there, later
ones join them, and in the end they join each other, those that are there. Runs are vectors in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.values import Fixed, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import State
from accel.labelled.meaning.order import BLOCK, lanes
from accel.labelled.meaning.products import steps
from accel.schedule.legality import in_lanes_of_order


class RowFold:
    """One state of one function: `begin`, `step` for each element, then `total`."""

    def __init__(self, routine: Routine, writer: Writer, functions: Functions, state: State, longest: int) -> None:
        """`longest`: elements of the longest row."""
        self._routine = routine
        self._writer = writer
        self._functions = functions
        self._state = state
        self._kinds: list[ScalarType] = state.types
        self._steps = steps(state.merge, state.monoid, state.types, state.products)
        self._types = [writer.code.type(kind) for kind in self._kinds]
        self._width = lanes(self._kinds)
        self._run = BLOCK // self._width
        self._longest = longest
        runs = 1 if state.monoid.exact else -(-longest // self._run)
        count = self._width if self._has_lanes() else runs
        self._arrays = [routine.slot(f"[{count} x {type_}]", align=64) for type_ in self._types]

    def _has_lanes(self) -> bool:
        """Whether elements go to the lanes of the order, which join in the end."""
        return in_lanes_of_order(self._state)

    def begin(self) -> None:
        """Before the first element."""
        if self._state.monoid.exact and self._state.monoid.neutral is not None:
            self._store([Fixed(element) for element in self._state.monoid.neutral], "0")

    def step(self, values: Sequence[Value], number: str) -> None:
        """Element `number` of every row."""
        code, monoid = self._routine.code, self._state.monoid
        if monoid.exact and monoid.neutral is not None:
            self._store(self._joined("0", values), "0")
            return
        if self._has_lanes() and self._longest < self._width:
            self._store(self._begun(values), number)
            return
        if monoid.exact:
            place, first = "0", code.emit(f"icmp eq i64 {number}, 0")
        elif monoid.commutes:
            place = code.emit(f"and i64 {number}, {self._width - 1}")
            first = code.emit(f"icmp slt i64 {number}, {self._width}")
        else:
            place = code.emit(f"udiv i64 {number}, {self._run}")
            first = code.emit(f"icmp eq i64 {code.emit(f'and i64 {number}, {self._run - 1}')}, 0")
        begins, goes_on, after = self._routine.label(), self._routine.label(), self._routine.label()
        self._routine.branch(first, begins, goes_on)
        self._routine.place(begins)
        self._store(self._begun(values), place)
        self._routine.jump(after)
        self._routine.place(goes_on)
        self._store(self._joined(place, values), place)
        self._routine.jump(after)
        self._routine.place(after)

    def _begun(self, element: Sequence[Value]) -> list[Value]:
        """What a lane begins with."""
        return self._functions.apply(self._steps.first, element, None)

    def _joined(self, place: str, element: Sequence[Value]) -> list[Value]:
        """The lane at `place` and one more element."""
        return self._functions.apply(self._steps.following, [*self._load(place), *element], None)

    def total(self, count: str) -> list[Value]:
        """All elements of each row: `count` of them, at least one; without the initial value."""
        if self._has_lanes():
            self._join_lanes(count)
        elif not self._state.monoid.exact:
            self._join_runs(count)
        return self._load("0")

    def _join_lanes(self, count: str, nearest: int = 1) -> None:
        """Lane l with lane l + half, where that is there, then with half of that, and so on down to lane l + `nearest`."""
        routine, code = self._routine, self._routine.code
        present = routine.least(count, str(self._width))
        half = routine.slot("i64")
        routine.store("i64", _half(routine, present), half)
        with routine.repeat() as while_:
            distance = routine.load("i64", half)
            while_(code.emit(f"icmp sge i64 {distance}, {nearest}"))
            pairs = routine.least(code.emit(f"sub i64 {present}, {distance}"), distance)
            with routine.count("0", pairs) as lane:
                self._join(lane, code.emit(f"add i64 {lane}, {distance}"))
            routine.store("i64", code.emit(f"lshr i64 {distance}, 1"), half)

    def _join_runs(self, count: str) -> None:
        """Adjacent pairs of at most four runs."""
        code, routine = self._routine.code, self._routine
        for left, right in ((0, 1), (2, 3), (0, 2)):
            if right * self._run < self._longest:
                with routine.when(code.emit(f"icmp sgt i64 {count}, {right * self._run}")):
                    self._join(str(left), str(right))

    def _join(self, left: str, right: str) -> None:
        self._store(self._merge(self._load(left), self._load(right)), left)

    def _merge(self, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        return self._functions.apply(self._state.merge, [*left, *right], None)

    def _places(self, place: str) -> list[str]:
        code = self._routine.code
        return [
            code.emit(f"getelementptr {type_}, ptr {array}, i64 {place}")
            for type_, array in zip(self._types, self._arrays, strict=True)
        ]

    def _load(self, place: str) -> list[Value]:
        return [
            self._writer.varying(self._routine.load(type_, pointer), kind)
            for type_, pointer, kind in zip(self._types, self._places(place), self._kinds, strict=True)
        ]

    def _store(self, values: Sequence[Value], place: str) -> None:
        for type_, value, pointer in zip(self._types, values, self._places(place), strict=True):
            self._routine.store(type_, self._writer.every(value), pointer)


def _half(routine: Routine, present: str) -> str:
    """The greatest power of two below `present`, which is at least 1; 0 if there is none."""
    code = routine.code
    last = code.emit(f"sub i64 {present}, 1")
    zeros = code.call("llvm.ctlz.i64", "i64", ["i64", "i1"], [f"i64 {last}", "i1 false"])
    bit = code.emit(f"sub i64 63, {routine.least(zeros, '63')}")
    power = code.emit(f"shl i64 1, {bit}")
    return code.emit(f"select i1 {code.emit(f'icmp eq i64 {last}, 0')}, i64 0, i64 {power}")
