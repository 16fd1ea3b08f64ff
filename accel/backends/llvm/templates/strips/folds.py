"""Writes the folds of one strip: some hundred columns side by side, whose rows stream through accumulators.

Several rows that meet in the same accumulators are taken at once, so that an accumulator is loaded and stored once for all
of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.backends.llvm.emit.statements import Step, Streams
from accel.backends.llvm.emit.values import Value
from accel.backends.llvm.templates.strips.accumulators import Lane, Strip, StripFold, subtrees
from accel.backends.llvm.templates.strips.statements import Scope, StripStatements
from accel.backends.llvm.templates.strips.visits import LaneVisit, Piece
from accel.ir.nodes import For, Level, ManyToOne, Read, Stream
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.columns import Columns
from accel.support.dataclass import dataclass

LANES = 8
"""Lanes of the order that are combined in registers, where each has few elements."""

FEW_STEPS = 2
"""So many. Of more too many rows are read side by side: out of caches three take longer than lane by lane."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Iterations start, start + step, … below `end` of a loop of folds; `places`: the row in which each state takes them in.

    `following`: the first iteration of those that are taken next; None if nothing is asked for ahead.
    """

    loop: For
    scope: Scope
    start: str
    end: str
    step: int
    places: Mapping[str, str]
    following: str | None = None


class StripText(StripStatements):
    """One strip of columns whose rows are folded.

    `streams`: whether rows are visited in their order, with accumulators for all lanes of a block at once, as is best where
    rows are short; else lane by lane.
    """

    def __init__(
        self,
        columns: Columns,
        strip: Strip,
        first: str,
        last: str,
        together: int,
        mask: str | None,
        *,
        far: str | None,
        streams: bool,
    ) -> None:
        """`together`: the most rows that are taken at once. `far`: whether arrays are larger than caches, an i1; None if
        nothing is asked for ahead."""
        super().__init__(columns.lanes, columns.varying(), strip, first, last, mask, columns.positions)
        self._together = together
        self._far = far
        self._streams = streams
        self.folds = {
            state.name: StripFold(strip, state, streams=streams) for loop in columns.folds for state in loop.states
        }

    def _folding(self, held: dict[str, list[Value]], first: str | None = None) -> Step:
        """Steps the states; `held`: what they come to. `first`: whether they have no element yet, an i1."""

        def step(
            statement: ManyToOne, values: Sequence[Value], mask: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            fold = self.folds[statement.state]
            # Lanes that are no columns may hold anything.
            active = None if statement.when is None else mask
            held[statement.state] = fold.step_from(held[statement.state], values, active, first)
            return (), ()

        return step

    # Levels.

    def after(self, level: Level, scope: Scope, places: Mapping[str, str], fresh: str | None = None) -> None:
        """The statements after a level's loop, in which the loop's folds are final. `places`: rows of the states stepped, which
        hold nothing yet where the i1 `fresh` holds."""
        assert level.loop is not None
        if not level.after:
            return
        scope = self.uniform(level.after, scope)
        varying = [statement for statement in level.after if self.varies(statement)]
        with self.strip.each() as vector:
            known = self.known(varying, scope, vector)
            for state in level.loop.states:
                known.update(self._final(self.folds[state.name], scope, vector))
            held = {name: self.folds[name].held(vector, place, fresh) for name, place in places.items()}
            self.in_lanes(varying, scope, vector, known, self._folding(held))
            for name, place in places.items():
                self.folds[name].hold(held[name], vector, place)

    def _final(self, fold: StripFold, scope: Scope, vector: str) -> dict[str, Value]:
        """The finals of a fold whose row 0 is what its elements come to."""
        values, initial = fold.held(vector, "0"), self.initial(fold.state, scope, vector)
        if initial is not None:
            values = self.strip.functions.apply(fold.state.merge, [*initial, *values], None)
        return {final.name: value for final, value in zip(fold.state.finals, values, strict=True)}

    # Folds.

    def fold(self, loop: For, scope: Scope, low: str, high: str, piece: Piece | None = None) -> None:
        """Iterations low .. high-1 of a loop of folds: all, or a power of two of blocks, or a piece of one. Row 0 is what they
        come to."""
        routine, code = self.strip.routine, self.strip.routine.code
        own = [self.folds[state.name] for state in loop.states]
        ordered = [fold for fold in own if fold.width > 1]
        for fold in own:
            fold.begin()
        if (run := next((fold.run for fold in own if fold.run is not None), None)) is not None:
            self._runs(loop, scope, (low, high), own, run)
            return
        if not ordered:
            self._chain(Rows(loop, scope, low, high, 1, {fold.state.name: "0" for fold in own}, high))
            return
        if self._can_be_few(loop, own):
            count = code.emit(f"sub i64 {high}, {low}")
            few, many, after = routine.label(), routine.label(), routine.label()
            routine.branch(code.emit(f"icmp sle i64 {count}, {FEW_STEPS * ordered[0].width}"), few, many)
            routine.place(few)
            self._few(loop, scope, low, count)
            routine.jump(after)
            routine.place(many)
            self._blocks(loop, scope, (low, high), own, piece)
            routine.jump(after)
            routine.place(after)
        else:
            self._blocks(loop, scope, (low, high), own, piece)

    def _blocks(
        self, loop: For, scope: Scope, part: tuple[str, str], own: Sequence[StripFold], piece: Piece | None
    ) -> None:
        """The same, block by block."""
        routine, code, (low, high) = self.strip.routine, self.strip.routine.code, part
        ordered = [fold for fold in own if fold.width > 1]
        visit = LaneVisit(routine, ordered[0].width)
        with routine.count(low, high, BLOCK) as start:
            end = routine.least(code.emit(f"add i64 {start}, {BLOCK}"), high)
            if self._streams:
                self._stream(loop, scope, start, end)
            else:
                with visit.lanes(code.emit(f"sub i64 {end}, {start}"), ordered, piece) as (lane, row, later):
                    places = {fold.state.name: row if fold.width > 1 else "0" for fold in own}
                    begin = code.emit(f"add i64 {start}, {lane}")
                    following = code.emit(f"add i64 {start}, {later}")
                    self._chain(Rows(loop, scope, begin, end, ordered[0].width, places, following))
            for fold in ordered:
                fold.push()
        for fold in ordered:
            fold.collapse()

    def _runs(self, loop: For, scope: Scope, part: tuple[str, str], own: Sequence[StripFold], run: int) -> None:
        """The same, run by run, each from its first element to its last."""
        routine, (low, high) = self.strip.routine, part
        in_order = [fold for fold in own if fold.run is not None]
        with routine.count(low, high, run) as start:
            end = routine.least(routine.code.emit(f"add i64 {start}, {run}"), high)
            self._chain(Rows(loop, scope, start, end, 1, {fold.state.name: "0" for fold in own}, end))
            for fold in in_order:
                fold.push()
        for fold in in_order:
            fold.collapse()

    def _can_be_few(self, loop: For, own: Sequence[StripFold]) -> bool:
        """Whether there is code of its own for few iterations."""
        ordered = all(fold.width // LANES in range(1, LANES + 1) for fold in own)
        return ordered and loop.body.loop is None and self._together == LANES and not self._streams

    def _few(self, loop: For, scope: Scope, low: str, count: str) -> None:
        """So many iterations, of which each lane has two at most: subtrees of some lanes are combined in registers. A lane that
        lacks an element stays as it is."""
        routine, code = self.strip.routine, self.strip.routine.code
        own = [self.folds[state.name] for state in loop.states]
        (width,) = {fold.width for fold in own}
        groups = subtrees(code, routine.least(count, str(width)), LANES)
        statements = [*loop.body.before, *loop.body.after]
        varying = [statement for statement in statements if self.varies(statement)]
        last, several = code.emit(f"sub i64 {count}, 1"), code.emit(f"icmp sgt i64 {count}, {width}")
        with routine.count("0", groups) as first:
            places = [code.emit(f"add i64 {first}, {code.emit(f'mul i64 {groups}, {lane}')}") for lane in range(LANES)]
            elements = []
            for step in range(FEW_STEPS):
                for place in places:
                    at = code.emit(f"add i64 {place}, {step * width}")
                    row = code.emit(f"add i64 {low}, {routine.least(at, last)}")
                    there = code.emit(f"icmp slt i64 {at}, {count}")
                    elements.append((there, self.uniform(statements, self.at(loop, scope, row))))
            with self.strip.each() as vector:
                known = self.known(varying, scope, vector)
                lanes = [{fold.state.name: Lane(self.strip, fold.nothing()) for fold in own} for _ in range(LANES)]

                def take(step: int) -> None:
                    for lane, (there, each) in zip(lanes, elements[step * LANES :], strict=False):
                        held = {name: one.get() for name, one in lane.items()}
                        self.in_lanes(varying, each, vector, known, self._folding(held))
                        for name, one in lane.items():
                            one.put(held[name], there)

                take(0)
                with routine.when(several):
                    take(1)
                for fold in own:
                    fold.hold(fold.tree([lane[fold.state.name].get() for lane in lanes]), vector, first)
        for fold in own:
            fold.join_halves(groups)

    def _chain(self, rows: Rows) -> None:
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

        def rows(lane: str) -> Rows:
            places = {fold.state.name: lane if fold.width > 1 else "0" for fold in own}
            return Rows(loop, scope, start, end, width, places)

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

    def _together_at(self, rows: Rows, first: str, together: int, fresh: str) -> None:
        """Iterations whose elements join the same lane, one after the other; there is nothing in it yet where `fresh` holds."""
        code, inner = self.strip.routine.code, rows.loop.body.loop
        if inner is not None:
            self._around(rows, inner, first, fresh)
            return
        others = [code.emit(f"add i64 {first}, {turn * rows.step}") for turn in range(1, together)]
        self._innermost(rows, [first, *others], fresh, self._next(rows, first, together))

    def _next(self, rows: Rows, first: str, together: int) -> list[str]:
        """The iterations that are taken next, if rows are asked for ahead: as soon as those before them are read."""
        code = self.strip.routine.code
        if self._far is None or rows.following is None or together < self._together:
            return []
        beyond = code.emit(f"add i64 {first}, {together * rows.step}")
        more = code.emit(f"icmp slt i64 {beyond}, {rows.end}")
        start = code.emit(f"select i1 {more}, i64 {beyond}, i64 {rows.following}")
        return [code.emit(f"add i64 {start}, {turn * rows.step}") for turn in range(together)]

    def _ask_ahead(self, rows: Rows, some: Sequence[str], vector: str) -> None:
        """Asks for what a vector reads in some iterations, so that it is there when they are taken."""
        loop, memory = rows.loop, self.strip.memory
        known = {**rows.scope.made, self._lanes.index.name: self.position(vector)}
        scopes = [self.at(loop, rows.scope, row) for row in some]
        for read in (s for s in (*loop.body.before, *loop.body.after) if isinstance(s, Read) and self.varies(s)):
            streams = [operand for operand in read.index if isinstance(operand, Stream)]
            for scope in scopes:
                made = {**scope.made, **known}
                if read.when is None and all(stream.name in made for stream in streams):
                    memory.ask_ahead(read.array, Streams(memory, made).values(read.index))

    def _innermost(self, rows: Rows, some: Sequence[str], fresh: str, ahead: Sequence[str]) -> None:
        loop = rows.loop
        statements = [*loop.body.before, *loop.body.after]
        varying = [statement for statement in statements if self.varies(statement)]
        scopes = [self.uniform(statements, self.at(loop, rows.scope, row)) for row in some]
        with self.strip.each() as vector:
            if ahead and self._far is not None:
                with self.strip.routine.when(self._far):
                    self._ask_ahead(rows, ahead, vector)
            known = self.known(varying, rows.scope, vector)
            held = {name: self.folds[name].held(vector, place, fresh) for name, place in rows.places.items()}
            for turn, each in enumerate(scopes):
                self.in_lanes(varying, each, vector, known, self._folding(held, None if turn else fresh))
            for name, place in rows.places.items():
                self.folds[name].hold(held[name], vector, place)

    def _around(self, rows: Rows, inner: For, row: str, fresh: str) -> None:
        """One iteration of a loop of folds around another."""
        scope = self.before(rows.loop.body, self.at(rows.loop, rows.scope, row))
        extent = self.strip.writer.one(Streams(self.strip.memory, dict(scope.made)).value(inner.extent))
        self.fold(inner, scope, "0", extent)
        self.after(rows.loop.body, scope, rows.places, fresh)
