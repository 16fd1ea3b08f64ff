"""Where extremes stand, of which every lane has a row of its own, as in `row_folds.py`: elements come in the order of the row.

So a place that is held is less than those that follow, and only an element that beats the one that is held takes its place. Of
the element itself nobody asks for more than to be compared: zeros of both signs are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F16, F32, I8, I64, ScalarType
from accel.backends.llvm.emit.values import Fixed, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import State
from accel.labelled.scalar import constant

_KEYS: Mapping[ScalarType, ScalarType] = {F16: F32, BOOL: I8}


def compared_as(kind: ScalarType) -> ScalarType:
    """The type as which elements are compared, which has their order."""
    return _KEYS.get(kind, kind)


class RowPlace:
    """One such state of one function: `begin`, `step` for each element, then `total`."""

    def __init__(self, routine: Routine, writer: Writer, state: State) -> None:
        assert state.monoid.neutral is not None
        self._routine, self._writer, self._state = routine, writer, state
        self._beats = Operator.GT if state.monoid.extreme is Operator.MAX else Operator.LT
        self._kinds = (compared_as(state.types[0]), I64)
        self._types = [writer.code.type(kind) for kind in self._kinds]
        self._slots = [routine.slot(type_, align=64) for type_ in self._types]

    def begin(self) -> None:
        """Before the first element: it has its place if no other one beats the worst."""
        assert self._state.monoid.neutral is not None
        worst = constant(self._kinds[0], self._state.monoid.neutral[0].value)
        self._store([Fixed(worst), Fixed(constant(I64, 0))])

    def step(self, values: Sequence[Value], number: str) -> None:
        """Element `number` of every row, which is its place."""
        held, place = self._load()
        element = self._writer.operator(Operator.CAST, self._kinds[0], [values[0]])
        beats = self._writer.operator(self._beats, BOOL, [element, held])
        if self._kinds[0].is_float:
            # The first NaN beats all, and is beaten by none.
            first = self._writer.operator(Operator.EQ, BOOL, [held, held])
            nan = self._writer.operator(Operator.NE, BOOL, [element, element])
            nan = self._writer.operator(Operator.AND, BOOL, [nan, first])
            beats = self._writer.operator(Operator.OR, BOOL, [beats, nan])
        mask = self._writer.every(beats)
        self._store([self._writer.select(mask, element, held), self._writer.select(mask, values[1], place)])

    def total(self, count: str) -> list[Value]:
        """The element and its place in each row, of `count` elements, at least one."""
        element, place = self._load()
        return [self._writer.operator(Operator.CAST, self._state.types[0], [element]), place]

    def _load(self) -> list[Value]:
        return [
            self._writer.varying(self._routine.load(type_, slot), kind)
            for type_, slot, kind in zip(self._types, self._slots, self._kinds, strict=True)
        ]

    def _store(self, values: Sequence[Value]) -> None:
        for type_, value, slot in zip(self._types, values, self._slots, strict=True):
            self._routine.store(type_, self._writer.every(value), slot)
