"""Folds of short segments, some segments at a time: every lane folds one of its own, in the order of docs/order.md.

In: segments, as many as there are lanes. Out: the code of their folds, if all of them are short. Lanes whose segment has ended
keep what they have.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.values import Uniform, Value, Writer
from accel.backends.llvm.states.row_folds import RowFold
from accel.backends.llvm.states.segments.group import Scans, SegmentGroup
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import ManyToOne, State

SHORTEST = 16
"""Elements of the longest of some segments that are folded so."""


class _LaneFold(RowFold):
    """A state whose lanes have rows of different lengths."""

    def __init__(self, routine: Routine, writer: Writer, functions: Functions, state: State) -> None:
        super().__init__(routine, writer, functions, state, SHORTEST)
        self.counts = ""
        """How many elements each lane has: a register of i64."""

    def begin(self) -> None:
        """The first element of each lane begins it; of those without there is nothing to see."""

    def step(self, values: Sequence[Value], number: str) -> None:
        """Element `number` of the rows that have one."""
        if not self._state.monoid.exact and self._state.monoid.commutes:
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
        mask = _has_more(self._writer, self.counts, number)
        return [self._writer.select(mask, one, other) for one, other in zip(there, otherwise, strict=True)]


def _has_more(writer: Writer, counts: str, number: str) -> str:
    """The lanes whose count is greater than a number."""
    return writer.code.emit(f"icmp sgt {writer.code.type(I64)} {counts}, {writer.splat(number, 'i64')}")


class ShortFolds:
    """The folds of groups of segments of which none has more than `SHORTEST` elements."""

    def __init__(self, group: SegmentGroup) -> None:
        self._group, self._scans = group, Scans(group)
        self._folds = {
            state.name: _LaneFold(group.routine, group.writer, group.functions, state) for state in group.inner.states
        }
        self._made: dict[str, Value] = {}
        self._counts = ""
        """How many elements each lane has: a register of i64."""

    def begin(self, at: str) -> None:
        """What stands before the folds, of the segments from `at` on."""
        group = self._group
        self._made = group.enter(at)
        self._scans.begin()
        statements = group.statements(self._made, self._scans.step)
        for statement in group.loop.body.before:
            statements.masked(statement, None)
        self._counts = group.writer.every(self._made[group.segment.outs[-1].name])
        for fold in self._folds.values():
            fold.counts = self._counts

    def longest(self) -> str:
        """The most elements that one has."""
        group = self._group
        vector = group.writer.code.type(I64)
        name = f"llvm.vector.reduce.smax.v{group.lanes}i64"
        return group.routine.code.call(name, "i64", [vector], [f"{vector} {self._counts}"])

    def write(self, longest: str) -> None:
        """Their folds, and what is made of them."""
        group, outside = self._group, dict(self._made)
        statements = group.statements(self._made, self._step)
        with group.routine.count("0", longest) as number:
            self._made[group.inner.index.name] = Uniform(number, I64)
            mask = _has_more(group.writer, self._counts, number)
            for statement in (*group.inner.body.before, *group.inner.body.after):
                statements.masked(statement, mask)
        most = self._most_of_one(longest)
        totals = {name: fold.total(most) for name, fold in self._folds.items()}
        self._scans.end()
        group.finish(outside, totals, _has_more(group.writer, self._counts, "0"))

    def _most_of_one(self, longest: str) -> str:
        """What joins where no lane has an element, too: nobody sees it."""
        code = self._group.routine.code
        empty = code.emit(f"icmp eq i64 {longest}, 0")
        return code.emit(f"select i1 {empty}, i64 1, i64 {longest}")

    def _step(
        self, statement: ManyToOne, values: Sequence[Value], active: str | None
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        number = self._made[self._group.inner.index.name]
        self._folds[statement.state].step(values, self._group.writer.one(number))
        return (), ()
