"""Writes statements of a strip: some hundred columns side by side, of which each vector holds some.

What differs between columns is computed in lanes, vector after vector along a row; what does not, once for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.statements import Statements, Step, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.templates.strips.accumulators import Row, Strip
from accel.errors import AccelInternalError
from accel.ir import flow
from accel.ir.nodes import For, Level, LoopBody, ManyToOne, State, Stream
from accel.schedule.templates.columns import inside
from accel.schedule.templates.cpu.merged_folds import Positions
from accel.support.dataclass import dataclass

POSITION_BITS = 31
"""Of the positions of loops that stand for several, so that they are divided by a product."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The streams that are known at a place. `made`: those that are the same in all columns; `rows`: those that are not."""

    made: Mapping[str, Value]
    rows: Mapping[str, Row]

    def with_index(self, index: Stream, text: str) -> Scope:
        """And a loop's index."""
        return replace(self, made={**self.made, index.name: Uniform(text, I64)})


class StripStatements:
    """One strip of columns: `lanes` is their loop. `first`: its first column; `last`: where the last vector of the last strip
    begins; `mask`: which lanes of every vector are columns (None: all). `varying`: the streams that differ between columns.
    `positions`: the loops that stand for several, whose numbers of iterations have so many `bits`, at most.
    """

    def __init__(
        self,
        lanes: For,
        varying: Set[str],
        strip: Strip,
        first: str,
        last: str,
        mask: str | None = None,
        positions: Sequence[Positions] = (),
        bits: int = POSITION_BITS,
    ) -> None:
        self.strip = strip
        self._lanes = lanes
        self._varying = varying
        self._first = first
        self._last = last
        self._mask = mask
        self._positions = {each.index: each.loops for each in positions}
        self._bits = bits

    def around(self, outer: Sequence[For], last: For, streams: Streams, number: str) -> Scope:
        """The loops around: their indices, from the number of an iteration of them all, and statements but those of `last`."""
        return self.within(outer, last, streams, self.indices(outer, streams, number))

    def indices(self, outer: Sequence[For], streams: Streams, number: str) -> list[str]:
        """The indices of the loops around, from the number of an iteration of them all."""
        extents = [self.strip.writer.one(streams.value(loop.extent)) for loop in outer]
        return self.strip.routine.code.indices(number, extents)

    def within(self, outer: Sequence[For], last: For, streams: Streams, indices: Sequence[str]) -> Scope:
        """The loops around, at these indices: their statements but those of `last`."""
        scope = Scope(streams.made, {})
        for loop, index in zip(outer, indices, strict=True):
            scope = scope.with_index(loop.index, index)
        for loop in outer:
            if loop is not last:
                scope = self.uniform(loop.body.before, scope)
        return scope

    def at(self, loop: For, scope: Scope, iteration: str) -> Scope:
        """An iteration of a loop inside; of one over positions also the indices that it stands for."""
        scope = scope.with_index(loop.index, iteration)
        if (loops := self._positions.get(loop.index)) is None:
            return scope
        for each in reversed(loops[1:]):
            iteration, rest = self.divided(iteration, each, scope)
            scope = scope.with_index(each.index, rest)
        return scope.with_index(loops[0].index, iteration)

    def divided(self, position: str, loop: For, scope: Scope) -> tuple[str, str]:
        """A position, by how many iterations a loop has: quotient and remainder. Of numbers with so many bits, at most, the
        product of a position and 2^(2 bits) / iterations, rounded up, has the quotient in front of 2 bits."""
        code, reciprocal = self.strip.routine.code, self.strip.writer.one(scope.made[_reciprocal(loop)])
        if 3 * self._bits < 64:
            quotient = code.emit(f"lshr i64 {code.emit(f'mul i64 {position}, {reciprocal}')}, {2 * self._bits}")
        else:
            wide = [code.emit(f"zext i64 {value} to i128") for value in (position, reciprocal)]
            product = code.emit(f"mul i128 {wide[0]}, {wide[1]}")
            quotient = code.emit(f"trunc i128 {code.emit(f'lshr i128 {product}, {2 * self._bits}')} to i64")
        return quotient, code.emit(f"sub i64 {position}, {code.emit(f'mul i64 {quotient}, {self.count(loop, scope)}')}")

    def with_reciprocals(self, scope: Scope) -> Scope:
        """And what divides by the iterations of loops."""
        code, made = self.strip.routine.code, dict(scope.made)
        for loops in self._positions.values():
            for loop in loops[1:]:
                whole = code.emit(f"udiv i64 {1 << 2 * self._bits}, {self.count(loop, scope)}")
                made[_reciprocal(loop)] = Uniform(code.emit(f"add i64 {whole}, 1"), I64)
        return replace(scope, made=made)

    def count(self, loop: For, scope: Scope) -> str:
        """How many iterations a loop has."""
        return self.strip.writer.one(Streams(self.strip.memory, dict(scope.made)).value(loop.extent))

    def uniform(self, statements: Iterable[LoopBody], scope: Scope) -> Scope:
        """The statements that are the same for all columns, but for those that are made already."""
        made = dict(scope.made)
        streams = Streams(self.strip.memory, made)
        written = Statements(self.strip.writer, self.strip.memory, streams, no_step)
        for statement in statements:
            if not self.varies(statement) and not all(stream.name in scope.made for stream in flow.made(statement)):
                written.masked(statement, None)
        return replace(scope, made=made)

    def varies(self, statement: LoopBody) -> bool:
        """Whether a statement is written for each vector of a row."""
        if isinstance(statement, ManyToOne) or not flow.made(statement):
            return True
        return any(stream.name in self._varying for stream in flow.needed(statement))

    def in_lanes(
        self,
        statements: Sequence[LoopBody],
        scope: Scope,
        vector: str,
        known: Mapping[str, Value],
        step: Step,
        mask: str | None = None,
    ) -> dict[str, Value]:
        """The statements that differ between columns, for one vector of them, of which not all lanes need be columns (`mask`).
        Gives all streams that are known then."""
        made = {**scope.made, **known, self._lanes.index.name: self.position(vector)}
        written = Statements(self.strip.writer, self.strip.memory, Streams(self.strip.memory, made), step)
        for statement in statements:
            written.masked(statement, self._mask if mask is None else mask)
        return made

    def position(self, vector: str) -> Value:
        """The columns of a vector; the last one of all ends with the last column."""
        code = self.strip.routine.code
        offset = code.emit(f"mul i64 {vector}, {self.strip.writer.lanes}")
        return Progression(self.strip.routine.least(code.emit(f"add i64 {self._first}, {offset}"), self._last), 1)

    def known(self, statements: Iterable[LoopBody], scope: Scope, vector: str) -> dict[str, Value]:
        """What the statements need of what is kept in rows."""
        needed = {stream.name for statement in statements for stream in flow.needed(statement)}
        return {name: scope.rows[name].load(vector)[0] for name in sorted(needed & set(scope.rows))}

    def initial(self, state: State, scope: Scope, vector: str) -> list[Value] | None:
        """The initial value of a state in the columns of a vector."""
        if state.initial is None:
            return None
        rows = {s.name: scope.rows[s.name].load(vector)[0] for s in flow.state_needs(state) if s.name in scope.rows}
        return Streams(self.strip.memory, {**scope.made, **rows}).values(state.initial)

    def before(self, level: Level, scope: Scope) -> Scope:
        """The statements before a level's loop. What the loop, or what is after it, needs of them is kept in rows."""
        scope = self.uniform(level.before, scope)
        varying = [statement for statement in level.before if self.varies(statement)]
        later = [*level.after, *(inside(level.loop.body) if level.loop else ())]
        needed = {stream.name for statement in later for stream in flow.needed(statement)}
        states = level.loop.states if level.loop else ()
        needed |= {stream.name for state in states for stream in flow.state_needs(state)}
        kept = [stream for statement in varying for stream in flow.made(statement) if stream.name in needed]
        rows = {stream.name: Row(self.strip, [stream.type]) for stream in kept}
        if varying:
            with self.strip.each() as vector:
                made = self.in_lanes(varying, scope, vector, self.known(varying, scope, vector), no_step)
                for name, row in rows.items():
                    row.store([made[name]], vector)
        return replace(scope, rows={**scope.rows, **rows})


def _reciprocal(loop: For) -> str:
    """What divides by a loop's iterations, among streams: no stream of a nest has a space."""
    return f"reciprocal of {loop.index.name}"


def no_step(statement: ManyToOne, values: Sequence[Value], mask: str | None) -> tuple[Sequence[Value], Sequence[Value]]:
    """Where no state is stepped."""
    raise AccelInternalError("a level's states are stepped in its loop or after it, and differ between columns")
