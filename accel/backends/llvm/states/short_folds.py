"""Folds of short segments, some segments at a time: every lane folds one of its own, in the order of docs/order.md.

In: a loop over segments, and in it one over the elements of each, which folds and does nothing else. Out: the code for as many
segments as there are lanes, if all of them are short. Lanes whose segment has ended keep what they have.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value, Writer
from accel.backends.llvm.states.row_folds import RowFold
from accel.backends.llvm.text.routine import Routine
from accel.backends.sites import EmptySite
from accel.ir.nodes import For, LoopDirection, ManyToOne, OneToOne, Read, Remap, State, Stream, Write
from accel.schedule.legality import straight

SHORTEST = 16
"""Elements of the longest of some segments that are folded so."""

REGISTER_BYTES = 64


def are_short(loop: For) -> bool:
    """Whether a loop is one over segments that only folds each, and makes something of the results."""
    inner = loop.body.loop
    if inner is None or not isinstance(inner.extent, Stream) or inner.body.loop is not None or not inner.states:
        return False
    if loop.direction is not LoopDirection.UP:
        return False
    inside, around = (*inner.body.before, *inner.body.after), (*loop.body.before, *loop.body.after)
    own = {state.name for state in inner.states}
    return (
        not any(state.running or state.when is not None or not straight(state.merge) for state in inner.states)
        and all(isinstance(s, OneToOne | Remap | Read | ManyToOne) and s.when is None for s in inside)
        and all(s.state in own for s in inside if isinstance(s, ManyToOne))
        and all(isinstance(s, OneToOne | Remap | Read | Write) and s.when is None for s in around)
    )


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
        mask = has_more(self._writer, self.counts, number)
        return [self._writer.select(mask, one, other) for one, other in zip(there, otherwise, strict=True)]


def has_more(writer: Writer, counts: str, number: str) -> str:
    """The lanes whose count is greater than a number."""
    return writer.code.emit(f"icmp sgt {writer.code.type(I64)} {counts}, {writer.splat(number, 'i64')}")


class ShortFolds:
    """The folds of one loop over segments, of one function."""

    def __init__(self, routine: Routine, memory: Memory, streams: Streams, loop: For) -> None:
        inner = loop.body.loop
        assert inner is not None, "segments have elements"
        self._routine, self._outer, self._loop, self._inner = routine, streams, loop, inner
        kinds = [final.type for state in inner.states for final in state.finals]
        kinds += [statement.out.type for statement in inner.body.before if isinstance(statement, Read)]
        self.lanes = REGISTER_BYTES // max(4, *(kind.bytes for kind in kinds))
        self._writer = Writer(routine.code, self.lanes)
        self._memory = memory.with_writer(self._writer)
        self._functions = Functions(self._writer, self._memory)
        self._folds = {state.name: _LaneFold(routine, self._writer, self._functions, state) for state in inner.states}
        self._made: dict[str, Value] = {}

    def longest(self, at: str) -> str:
        """What stands before the folds, of the segments from `at` on; gives the most elements that one has."""
        self._made = dict(self._outer.made)
        self._made[self._loop.index.name] = Progression(at, 1)
        streams = Streams(self._memory, self._made)
        for statement in self._loop.body.before:
            Statements(self._writer, self._memory, streams, self._step).masked(statement, None)
        vector = self._writer.code.type(I64)
        counts = self._writer.every(streams.value(self._inner.extent))
        for fold in self._folds.values():
            fold.counts = counts
        return self._routine.code.call(
            f"llvm.vector.reduce.smax.v{self.lanes}i64", "i64", [vector], [f"{vector} {counts}"]
        )

    def write(self, longest: str) -> None:
        """Their folds, and what is made of them."""
        streams = Streams(self._memory, self._made)
        statements = Statements(self._writer, self._memory, streams, self._step)
        counts = next(iter(self._folds.values())).counts
        outside = dict(self._made)
        with self._routine.count("0", longest) as number:
            self._made[self._inner.index.name] = Uniform(number, I64)
            mask = has_more(self._writer, counts, number)
            for statement in (*self._inner.body.before, *self._inner.body.after):
                statements.masked(statement, mask)
        self._made.clear()
        self._made.update(outside)
        present = has_more(self._writer, counts, "0")
        most = self._most_of_one(longest)
        for state in self._inner.states:
            total = self._folds[state.name].total(most)
            if state.initial is None:
                absent = self._writer.code.emit(f"xor {self._writer.code.vector('i1')} {present}, {self._all()}")
                self._memory.fail_if(self._writer.any(absent), [], EmptySite(state))
            else:
                initial = streams.values(state.initial)
                merged = self._functions.apply(state.merge, [*initial, *total], None)
                total = [self._writer.select(present, one, seed) for one, seed in zip(merged, initial, strict=True)]
            streams.bind(state.finals, total)
        for statement in self._loop.body.after:
            statements.masked(statement, None)

    def _most_of_one(self, longest: str) -> str:
        """What joins where no lane has an element, too: nobody sees it."""
        empty = self._routine.code.emit(f"icmp eq i64 {longest}, 0")
        return self._routine.code.emit(f"select i1 {empty}, i64 1, i64 {longest}")

    def _all(self) -> str:
        return self._writer.code.splat("i1", "true")

    def _step(
        self, statement: ManyToOne, values: Sequence[Value], active: str | None
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        number = self._made[self._inner.index.name]
        self._folds[statement.state].step(values, self._writer.one(number))
        return (), ()
