"""Writes the code of one strip: some hundred columns side by side, whose rows stream through accumulators.

What differs between columns is computed in lanes, vector after vector along a row; what does not, once for each row. Several
rows that meet in the same accumulators are taken at once, so that an accumulator is loaded and stored once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.templates.strip_folds import LaneVisit, Row, Strip, StripFold
from accel.ir import flow
from accel.ir.nodes import For, Level, LoopBody, ManyToOne, Stream
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.columns import Columns, inside


@dataclass(frozen=True, slots=True)
class Scope:
    """The streams that are known at a place. `made`: those that are the same in all columns; `rows`: those that are not."""

    made: Mapping[str, Value]
    rows: Mapping[str, Row]

    def with_index(self, index: Stream, text: str) -> Scope:
        """And a loop's index."""
        return replace(self, made={**self.made, index.name: Uniform(text, I64)})


@dataclass(frozen=True, slots=True)
class _Rows:
    """Iterations start, start + step, … below `end` of a loop of folds; `places`: the row in which each state takes them in."""

    loop: For
    scope: Scope
    start: str
    end: str
    step: int
    places: Mapping[str, str]


class StripText:
    """One strip of columns. `first`: its first column; `last`: where the last vector of the last strip begins; `mask`: which
    lanes of every vector are columns (None: all).

    `streams`: whether rows are visited in their order, with accumulators for all lanes of a block at once, as is best where
    rows are short; else lane by lane.
    """

    def __init__(
        self, columns: Columns, strip: Strip, first: str, last: str, together: int, mask: str | None, *, streams: bool
    ) -> None:
        """`together`: the most rows that are taken at once."""
        self._columns = columns
        self.strip = strip
        self._first = first
        self._last = last
        self._together = together
        self._mask = mask
        self._streams = streams
        self._varying = columns.varying()
        self.folds = {
            state.name: StripFold(strip, state, streams=streams) for loop in columns.folds for state in loop.states
        }

    # Statements.

    def uniform(self, statements: Iterable[LoopBody], scope: Scope) -> Scope:
        """The statements that are the same for all columns."""
        made = dict(scope.made)
        streams = Streams(self.strip.memory, made)
        written = Statements(self.strip.writer, self.strip.memory, streams, _no_step)
        for statement in statements:
            if not self._varies(statement):
                written.masked(statement, None)
        return replace(scope, made=made)

    def _varies(self, statement: LoopBody) -> bool:
        if isinstance(statement, ManyToOne) or not flow.made(statement):
            return True
        return any(stream.name in self._varying for stream in flow.needed(statement))

    def _in_lanes(
        self,
        statements: Sequence[LoopBody],
        scope: Scope,
        vector: str,
        known: Mapping[str, Value],
        held: dict[str, list[Value]],
    ) -> dict[str, Value]:
        """The statements that differ between columns, for one vector of them; `held`: what the stepped states come to."""
        made = {**scope.made, **known, self._columns.lanes.index.name: self._position(vector)}

        def step(
            statement: ManyToOne, values: Sequence[Value], mask: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            fold = self.folds[statement.state]
            # Lanes that are no columns may hold anything.
            held[statement.state] = fold.step(held[statement.state], values, None if statement.when is None else mask)
            return (), ()

        written = Statements(self.strip.writer, self.strip.memory, Streams(self.strip.memory, made), step)
        for statement in statements:
            written.masked(statement, self._mask)
        return made

    def _position(self, vector: str) -> Value:
        """The columns of a vector; the last one of all ends with the last column."""
        code = self.strip.routine.code
        offset = code.emit(f"mul i64 {vector}, {self.strip.writer.lanes}")
        return Progression(self.strip.routine.least(code.emit(f"add i64 {self._first}, {offset}"), self._last), 1)

    def _known(self, statements: Iterable[LoopBody], scope: Scope, vector: str) -> dict[str, Value]:
        """What the statements need of what is kept in rows."""
        needed = {stream.name for statement in statements for stream in flow.needed(statement)}
        return {name: scope.rows[name].load(vector)[0] for name in sorted(needed & set(scope.rows))}

    # Levels.

    def before(self, level: Level, scope: Scope) -> Scope:
        """The statements before a level's loop. What the loop, or what is after it, needs of them is kept in rows."""
        scope = self.uniform(level.before, scope)
        varying = [statement for statement in level.before if self._varies(statement)]
        later = [*level.after, *(inside(level.loop.body) if level.loop else ())]
        needed = {stream.name for statement in later for stream in flow.needed(statement)}
        states = level.loop.states if level.loop else ()
        needed |= {stream.name for state in states for stream in flow.state_needs(state)}
        kept = [stream for statement in varying for stream in flow.made(statement) if stream.name in needed]
        rows = {stream.name: Row(self.strip, [stream.type]) for stream in kept}
        if varying:
            steps = [s for s in varying if isinstance(s, ManyToOne)]
            with self.strip.each() as vector:
                made = self._in_lanes(varying, scope, vector, self._known(varying, scope, vector), {})
                for name, row in rows.items():
                    row.store([made[name]], vector)
            assert not steps, "a level's states are stepped after its loop"
        return replace(scope, rows={**scope.rows, **rows})

    def after(self, level: Level, scope: Scope, places: Mapping[str, str], fresh: str | None = None) -> None:
        """The statements after a level's loop, in which the loop's folds are final. `places`: rows of the states stepped, which
        hold nothing yet where the i1 `fresh` holds."""
        assert level.loop is not None
        if not level.after:
            return
        scope = self.uniform(level.after, scope)
        varying = [statement for statement in level.after if self._varies(statement)]
        with self.strip.each() as vector:
            known = self._known(varying, scope, vector)
            for state in level.loop.states:
                known.update(self._final(self.folds[state.name], scope, vector))
            held = {name: self.folds[name].held(vector, place, fresh) for name, place in places.items()}
            self._in_lanes(varying, scope, vector, known, held)
            for name, place in places.items():
                self.folds[name].hold(held[name], vector, place)

    def _final(self, fold: StripFold, scope: Scope, vector: str) -> dict[str, Value]:
        """The finals of a fold whose row 0 is what its elements come to."""
        values, initial = fold.held(vector, "0"), fold.state.initial
        if initial is not None:
            seeds = {
                s.name: scope.rows[s.name].load(vector)[0] for s in flow.state_needs(fold.state) if s.name in scope.rows
            }
            streams = Streams(self.strip.memory, {**scope.made, **seeds})
            values = self.strip.functions.apply(fold.state.merge, [*streams.values(initial), *values], None)
        return {final.name: value for final, value in zip(fold.state.finals, values, strict=True)}

    # Folds.

    def fold(self, loop: For, scope: Scope, low: str, high: str) -> None:
        """Iterations low .. high-1 of a loop of folds: all, or a power of two of blocks. Row 0 is what they come to."""
        routine, code = self.strip.routine, self.strip.routine.code
        own = [self.folds[state.name] for state in loop.states]
        ordered = [fold for fold in own if fold.width > 1]
        for fold in own:
            fold.begin()
        if not ordered:
            self._chain(_Rows(loop, scope, low, high, 1, {fold.state.name: "0" for fold in own}))
            return
        visit = LaneVisit(routine, ordered[0].width)
        with routine.count(low, high, BLOCK) as start:
            end = routine.least(code.emit(f"add i64 {start}, {BLOCK}"), high)
            if self._streams:
                self._stream(loop, scope, start, end)
            else:
                with visit.lanes(code.emit(f"sub i64 {end}, {start}"), ordered) as (lane, row):
                    places = {fold.state.name: row if fold.width > 1 else "0" for fold in own}
                    begin = code.emit(f"add i64 {start}, {lane}")
                    self._chain(_Rows(loop, scope, begin, end, ordered[0].width, places))
            for fold in ordered:
                fold.push()
        for fold in ordered:
            fold.collapse()

    def _chain(self, rows: _Rows) -> None:
        """The iterations of one lane of a block, or of all that is folded in any order."""
        routine, code = self.strip.routine, self.strip.routine.code
        position = routine.slot("i64")
        routine.store("i64", rows.start, position)
        together = self._together if rows.loop.body.loop is None else 1
        while together:
            ahead = code.emit(f"sub i64 {rows.end}, {(together - 1) * rows.step}")
            with routine.advance(position, ahead, together * rows.step) as first:
                self._together_at(rows, first, together, code.emit(f"icmp eq i64 {first}, {rows.start}"))
            together //= 2

    def _stream(self, loop: For, scope: Scope, start: str, end: str) -> None:
        """The iterations of one block, in their order but for those taken together."""
        routine, code = self.strip.routine, self.strip.routine.code
        own = [self.folds[state.name] for state in loop.states]
        (width,) = {fold.width for fold in own if fold.width > 1}
        position = routine.slot("i64")
        routine.store("i64", start, position)

        def rows(lane: str) -> _Rows:
            places = {fold.state.name: lane if fold.width > 1 else "0" for fold in own}
            return _Rows(loop, scope, start, end, width, places)

        if loop.body.loop is None and self._together > 1:
            group = width * self._together
            with (
                routine.advance(position, code.emit(f"sub i64 {end}, {group - 1}"), group) as first,
                routine.count("0", str(width)) as lane,
            ):
                fresh = code.emit(f"icmp eq i64 {first}, {start}")
                self._together_at(rows(lane), code.emit(f"add i64 {first}, {lane}"), self._together, fresh)
        with routine.advance(position, end, 1) as row:
            done = code.emit(f"sub i64 {row}, {start}")
            lane = code.emit(f"and i64 {done}, {width - 1}")
            self._together_at(rows(lane), row, 1, code.emit(f"icmp slt i64 {done}, {width}"))
        present = routine.least(code.emit(f"sub i64 {end}, {start}"), str(width))
        for fold in own:
            if fold.width > 1:
                fold.join_halves(present)

    def _together_at(self, rows: _Rows, first: str, together: int, fresh: str) -> None:
        """Iterations whose elements join the same lane, one after the other; there is nothing in it yet where `fresh` holds."""
        code, inner = self.strip.routine.code, rows.loop.body.loop
        if inner is not None:
            self._around(rows, inner, first, fresh)
            return
        others = [code.emit(f"add i64 {first}, {turn * rows.step}") for turn in range(1, together)]
        self._innermost(rows, [first, *others], fresh)

    def _innermost(self, rows: _Rows, some: Sequence[str], fresh: str) -> None:
        loop = rows.loop
        statements = [*loop.body.before, *loop.body.after]
        varying = [statement for statement in statements if self._varies(statement)]
        scopes = [self.uniform(statements, rows.scope.with_index(loop.index, row)) for row in some]
        with self.strip.each() as vector:
            known = self._known(varying, rows.scope, vector)
            held = {name: self.folds[name].held(vector, place, fresh) for name, place in rows.places.items()}
            for each in scopes:
                self._in_lanes(varying, each, vector, known, held)
            for name, place in rows.places.items():
                self.folds[name].hold(held[name], vector, place)

    def _around(self, rows: _Rows, inner: For, row: str, fresh: str) -> None:
        """One iteration of a loop of folds around another."""
        scope = self.before(rows.loop.body, rows.scope.with_index(rows.loop.index, row))
        extent = self.strip.writer.one(Streams(self.strip.memory, dict(scope.made)).value(inner.extent))
        self.fold(inner, scope, "0", extent)
        self.after(rows.loop.body, scope, rows.places, fresh)


def _no_step(
    statement: ManyToOne, values: Sequence[Value], mask: str | None
) -> tuple[Sequence[Value], Sequence[Value]]:
    raise AssertionError("a step differs between columns")
