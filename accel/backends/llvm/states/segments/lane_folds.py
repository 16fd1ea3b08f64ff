"""Folds of which every lane has a segment of its own, of different lengths. Lanes that have no more elements keep what they
have."""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.values import Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.states.row_folds import RowFold
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import State


class LaneFold(RowFold):
    """A state whose lanes have rows of different lengths."""

    def __init__(self, routine: Routine, writer: Writer, functions: Functions, state: State, longest: int) -> None:
        super().__init__(routine, writer, functions, state, longest)
        self.counts = ""
        """How many elements each lane has: a register of i64."""

    def begin(self) -> None:
        """The first element of each lane begins it; of those without there is nothing to see."""

    def step(self, values: Sequence[Value], number: str) -> None:
        """Element `number` of the rows that have one."""
        if self._has_lanes():
            self._store(self._begun(values), number)
            return
        routine = self._routine
        first = routine.code.emit(f"icmp eq i64 {number}, 0")
        begins, goes_on, after = routine.label(), routine.label(), routine.label()
        routine.branch(first, begins, goes_on)
        routine.place(begins)
        self._store(self._begun(values), "0")
        routine.jump(after)
        routine.place(goes_on)
        self._store(self._chosen(number, self._joined("0", values), self._load("0")), "0")
        routine.jump(after)
        routine.place(after)

    def _join(self, left: str, right: str) -> None:
        before = self._load(left)
        self._store(self._chosen(right, self._merge(before, self._load(right)), before), left)

    def _chosen(self, number: str, there: Sequence[Value], otherwise: Sequence[Value]) -> list[Value]:
        """The first values in lanes that have an element of that number, the others elsewhere."""
        mask = has_more(self._writer, self.counts, number)
        return [self._writer.select(mask, one, other) for one, other in zip(there, otherwise, strict=True)]


def has_more(writer: Writer, counts: str, number: str) -> str:
    """The lanes whose count is greater than a number."""
    return writer.code.emit(f"icmp sgt {writer.code.type(I64)} {counts}, {writer.splat(number, 'i64')}")
