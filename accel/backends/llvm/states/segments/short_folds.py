"""Folds of short segments, some segments at a time: every lane folds one of its own, in the order of docs/order.md.

In: segments, as many as there are lanes. Out: the code of their folds, if all of them are short. Lanes whose segment has ended
keep what they have.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.states.segments.group import Scans, SegmentGroup, statements_of
from accel.backends.llvm.states.segments.lane_folds import LaneFold, has_more
from accel.backends.llvm.states.segments.short_row import ShortRow, depends_on_places_alone
from accel.ir.nodes import ManyToOne

LONGEST = 16
"""Elements of the longest of some segments that are folded so, where each lane makes its own elements."""


class ShortFolds:
    """The folds of groups of segments of which none has many elements."""

    def __init__(self, group: SegmentGroup) -> None:
        self._group, self._scans = group, Scans(group)
        self._row = ShortRow(group) if depends_on_places_alone(group.loop) else None
        states = () if self._row is not None else group.inner.states
        self._folds = {
            state.name: LaneFold(group.routine, group.writer, group.functions, state, LONGEST) for state in states
        }
        self._made: dict[str, Value] = {}
        self._counts = ""
        """How many elements each lane has: a register of i64."""
        self._starts = ""
        """Where each lane's segment begins: a register of i64."""
        self._longest = ""
        """The most elements that one has: an i64."""

    def begin(self, at: str) -> None:
        """What stands before the folds, of the segments from `at` on."""
        group = self._group
        self._made = group.enter(at)
        self._scans.begin()
        statements = group.statements(self._made, self._scans.step)
        for statement in group.loop.body.before:
            statements.masked(statement, None)
        self._starts, _, self._counts = (group.writer.every(self._made[out.name]) for out in group.segment.outs)
        for fold in self._folds.values():
            fold.counts = self._counts

    def fit(self) -> str:
        """Whether none has too many elements, and they may run together: an i1."""
        group = self._group
        vector = group.writer.code.type(I64)
        name = f"llvm.vector.reduce.smax.v{group.lanes}i64"
        self._longest = group.routine.code.call(name, "i64", [vector], [f"{vector} {self._counts}"])
        most = LONGEST if self._row is None else self._row.longest
        short = group.routine.code.emit(f"icmp sle i64 {self._longest}, {most}")
        if self._row is None:
            return short
        return group.routine.code.emit(f"and i1 {short}, {self._row.fits(self._starts, self._counts)}")

    def write(self) -> None:
        """Their folds, and what is made of them."""
        group, outside = self._group, dict(self._made)
        if self._row is not None:
            self._row.compute(group.outside().made)
            totals = self._row.totals(self._starts, self._counts, self._longest)
        else:
            totals = self._folded_in_lanes()
        self._scans.end()
        group.finish(outside, totals, has_more(group.writer, self._counts, "0"))

    def _folded_in_lanes(self) -> dict[str, Sequence[Value]]:
        """What each state comes to where each lane makes its own elements."""
        group = self._group
        statements = group.statements(self._made, self._step)
        with group.routine.count("0", self._longest) as number:
            self._made[group.inner.index.name] = Uniform(number, I64)
            mask = has_more(group.writer, self._counts, number)
            for statement in statements_of(group.inner):
                statements.masked(statement, mask)
        most = self._most_of_one(self._longest)
        return {name: fold.total(most) for name, fold in self._folds.items()}

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
