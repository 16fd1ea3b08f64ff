"""Writes folds of windows: some vectors of neighbouring results side by side, whose partial results stay in registers.

Lanes of the order are visited so that those which join follow each other, eight at a time in the text; what eight come to
waits on the stack. Where the number of elements is known, each is in the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Step, Streams
from accel.backends.llvm.emit.values import Progression, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.accumulators import Tools
from accel.backends.llvm.states.outer_folds import OuterFolds
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.templates.strips.accumulators import Fold, Lane, Row, Strip, subtrees
from accel.backends.llvm.templates.strips.folds import LANES
from accel.backends.llvm.templates.strips.statements import Scope, StripStatements
from accel.ir.nodes import For, LoopBody, ManyToOne
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.columns import Columns
from accel.support.dataclass import dataclass

TOGETHER = 4
"""Vectors whose folds are computed side by side, with many registers; half as many with few."""

Leaves: TypeAlias = Mapping[str, Sequence[Value]]
"""What each state of a loop comes to, by name."""


@dataclass(frozen=True, slots=True)
class Here:
    """Where statements are written: what is the same for all columns; some vectors of these, by their first columns, each with
    the streams that are known in it; which lanes are columns (None: all); where the block of 4096 columns begins."""

    scope: Scope
    vectors: Sequence[str]
    known: Sequence[Mapping[str, Value]]
    mask: str | None = None
    start: str = "0"


class WindowText(StripStatements):
    """Writes the folds of one strip. counts: how many elements loops fold, by their indices, where that is known. heavy:
    vectors, and lanes of the order, are computed one by one. masks: the last columns of a row, if they are no whole vector, are
    masked; else they are computed with some before them. outer: the records of what folds the columns."""

    def __init__(
        self,
        columns: Columns,
        memory: Memory,
        writer: Writer,
        counts: Mapping[str, int],
        outer: Sequence[Record] = (),
        *,
        heavy: bool,
        masks: bool = False,
    ) -> None:
        self._masks = masks
        self._together = 1 if heavy else TOGETHER if host().processor.registers.many else TOGETHER // 2
        strip = Strip(memory.routine, writer, memory, Functions(writer, memory), self._together, str(self._together))
        super().__init__(columns.lanes, columns.varying(), strip, "0", "0", None, columns.positions, BLOCK.bit_length())
        self._columns = columns
        self._counts = counts
        self.outer = OuterFolds(Tools(memory.routine, writer, strip.functions), outer, "%records")
        # Around other folds the text of a step is long.
        self._at_once = {loop.index: 1 if heavy or loop is not columns.folds[-1] else LANES for loop in columns.folds}
        self._folds = {state.name: Fold(strip, state) for loop in columns.folds for state in loop.states}
        self._rows = {
            state.name: Row(strip, state.types, self._width(loop) // self._at_once[loop.index])
            for loop in columns.folds
            for state in loop.states
            if self._width(loop) > 1
        }

    def _width(self, loop: For) -> int:
        """Lanes of the order; 1 if any order serves."""
        return max(self._folds[state.name].width for state in loop.states)

    def position(self, vector: str) -> Value:
        """The columns of a vector, from its first one on."""
        return Progression(vector, 1)

    def write(self, indices: Sequence[str], first: str, end: str, columns: str) -> None:
        """The columns first .. end-1 of a row of so many columns. indices: of the loops around."""
        self.strips(self.scope(indices), first, end, columns)

    def strips(self, scope: Scope, first: str, end: str, columns: str) -> None:
        """The same in the loops around, of which the scope has the streams."""
        routine, code, lanes = self.strip.routine, self.strip.routine.code, self.strip.writer.lanes
        here = Here(scope, [], [{}])
        if self._masks:
            self._up_to(here, first, end)
            return
        position = self._whole(here, first, end)
        lowest = code.emit(f"sub i64 {columns}, {lanes}")
        with routine.advance(position, end, lanes) as column:
            self._run(replace(here, vectors=[routine.least(column, lowest)]), self._columns.last, [{}])

    def fold(self, first: str, end: str, start: str) -> None:
        """The columns first .. end-1 of the outermost loop, whose states take in what they come to; the block of 4096 columns
        begins at `start`."""
        self._up_to(Here(self.scope([]), [], [{}], start=start), first, end)

    def _up_to(self, here: Here, first: str, end: str) -> None:
        """These columns, of which the last ones are masked where they are no whole vector."""
        routine, code, lanes = self.strip.routine, self.strip.routine.code, self.strip.writer.lanes
        position = self._whole(here, first, end)
        with routine.advance(position, code.emit(f"sub i64 {end}, {lanes - 1}"), lanes) as column:
            self._run(replace(here, vectors=[column]), self._columns.last, [{}])
        rest = routine.load("i64", position)
        with routine.when(code.emit(f"icmp slt i64 {rest}, {end}")):
            mask = self.strip.writer.first_lanes(code.emit(f"sub i64 {end}, {rest}"))
            self._run(replace(here, vectors=[rest], mask=mask), self._columns.last, [{}])

    def scope(self, indices: Sequence[str]) -> Scope:
        """What is known in the loops around, at these indices."""
        last = self._columns.last
        scope = self.within(self._columns.outer, last, Streams(self.strip.memory, {}), indices)
        scope = self.uniform(last.body.before, scope)
        return self.with_reciprocals(scope)

    def _whole(self, here: Here, first: str, end: str) -> str:
        """As many columns from the first one on as fill vectors side by side; where the next one's number stands."""
        routine, code = self.strip.routine, self.strip.routine.code
        lanes, position = self.strip.writer.lanes, routine.slot("i64")
        routine.store("i64", first, position)
        for count in self.side_by_side():
            with routine.advance(position, code.emit(f"sub i64 {end}, {count * lanes - 1}"), count * lanes) as column:
                vectors = [code.emit(f"add i64 {column}, {lanes * each}") for each in range(count)]
                self._run(replace(here, vectors=vectors, known=[{}] * count), self._columns.last, [{}] * count)
        return position

    def side_by_side(self) -> Sequence[int]:
        """Of how many vectors side by side there is code, beside that of one."""
        return [self._together] if self._together > 1 else []

    def _run(self, here: Here, loop: For, held: Sequence[Leaves]) -> Sequence[Leaves]:
        """One iteration of a loop, whose index is known: what its states come to, with what is held of them."""
        level = loop.body
        found = [{name: list(values) for name, values in leaves.items()} for leaves in held]
        statements = level.before if level.loop is not None else (*level.before, *level.after)
        here = replace(here, scope=self.uniform(statements, here.scope))
        varying = [statement for statement in statements if self.varies(statement)]
        known = self._in_lanes(here, varying, found)
        if level.loop is None:
            return found
        leaves = self._fold(level.loop, replace(here, known=known))
        known = [self._with_finals(level.loop, *each) for each in zip(known, leaves, strict=True)]
        here = replace(here, scope=self.uniform(level.after, here.scope), known=known)
        self._in_lanes(here, [statement for statement in level.after if self.varies(statement)], found)
        return found

    def _in_lanes(
        self, here: Here, statements: Sequence[LoopBody], held: Sequence[dict[str, list[Value]]]
    ) -> Sequence[Mapping[str, Value]]:
        """Statements that differ between columns, which step what is held. Gives what is known then."""
        return [
            self.in_lanes(statements, here.scope, vector, known, self._folding(leaves, vector, here.start), here.mask)
            for vector, known, leaves in zip(here.vectors, here.known, held, strict=True)
        ]

    def _with_finals(self, loop: For, known: Mapping[str, Value], leaves: Leaves) -> Mapping[str, Value]:
        found = dict(known)
        for state in loop.states:
            values = leaves[state.name]
            if state.initial is not None:
                initial = Streams(self.strip.memory, dict(known)).values(state.initial)
                values = self._folds[state.name].merge(initial, values)
            found.update((final.name, value) for final, value in zip(state.finals, values, strict=True))
        return found

    # Folds.

    def _fold(self, loop: For, here: Here) -> Sequence[Leaves]:
        """All elements of a loop."""
        counts = [self._counts.get(each.index.name, 0) for each in self._columns.visited(loop)]
        if all(counts):
            return self._written(loop, here, prod(counts))
        return self._ordered(loop, here) if self._width(loop) > 1 else self._chain(loop, here, "0", 1)

    def _written(self, loop: For, here: Here, count: int) -> Sequence[Leaves]:
        """So many elements, each in a lane of its own."""

        def subtree(lane: int, step: int) -> Sequence[Leaves]:
            """Of every so many lanes."""
            if step >= count:
                return self._stepped(loop, here, str(lane), [{}] * len(here.vectors))
            left = subtree(lane, 2 * step)
            return left if lane + step >= count else self._merged(loop, left, subtree(lane + step, 2 * step))

        return subtree(0, 1)

    def _ordered(self, loop: For, here: Here) -> Sequence[Leaves]:
        """Elements of an order's lanes: subtrees of some lanes, then what these come to."""
        routine, code = self.strip.routine, self.strip.routine.code
        width, at_once, numbers = self._width(loop), self._at_once[loop.index], range(len(here.vectors))
        groups = subtrees(code, routine.least(self.count(loop, here.scope), str(width)), at_once)

        def held(row: str) -> Sequence[Leaves]:
            return [
                {state.name: self._rows[state.name].load(str(each), row) for state in loop.states} for each in numbers
            ]

        def hold(found: Sequence[Leaves], row: str) -> None:
            for number, leaves in enumerate(found):
                for name, values in leaves.items():
                    self._rows[name].store(values, str(number), row)

        with routine.count("0", groups) as group:

            def subtree(lane: int, step: int) -> Sequence[Leaves]:
                """Of every so many lanes of a group."""
                if step == at_once:
                    start = code.emit(f"add i64 {group}, {code.emit(f'mul i64 {groups}, {lane}')}")
                    return self._chain(loop, here, start, width)
                return self._merged(loop, subtree(lane, 2 * step), subtree(lane + step, 2 * step))

            hold(subtree(0, 1), group)
        half = width // at_once // 2
        while half:
            with routine.when(code.emit(f"icmp sgt i64 {groups}, {half}")), routine.count("0", str(half)) as row:
                hold(self._merged(loop, held(row), held(code.emit(f"add i64 {row}, {half}"))), row)
            half //= 2
        return held("0")

    def _merged(self, loop: For, left: Sequence[Leaves], right: Sequence[Leaves]) -> Sequence[Leaves]:
        names = [state.name for state in loop.states]
        return [
            {name: self._folds[name].merge(one[name], two[name]) for name in names}
            for one, two in zip(left, right, strict=True)
        ]

    def _chain(self, loop: For, here: Here, start: str, step: int) -> Sequence[Leaves]:
        """Elements start, start + step, …: a lane of the order, or all that is folded in any order."""
        lanes = [
            {state.name: Lane(self.strip, self._folds[state.name].nothing()) for state in loop.states}
            for _ in here.vectors
        ]

        def held() -> list[Leaves]:
            return [{name: one.get() for name, one in lane.items()} for lane in lanes]

        with self.strip.routine.count(start, self.count(loop, here.scope), step) as element:
            for lane, leaves in zip(lanes, self._stepped(loop, here, element, held()), strict=True):
                for name, values in leaves.items():
                    lane[name].put(values)
        return held()

    def _stepped(self, loop: For, here: Here, element: str, held: Sequence[Leaves]) -> Sequence[Leaves]:
        """What a loop's states come to by one more element; or by the first one, where nothing is held."""
        return self._run(replace(here, scope=self.at(loop, here.scope, element)), loop, held)

    def divided(self, element: str, loop: For, scope: Scope) -> tuple[str, str]:
        """A number of what is known is known."""
        if (count := self._counts.get(loop.index.name)) is None:
            return super().divided(element, loop, scope)
        quotient, rest = divmod(int(element), count)
        return str(quotient), str(rest)

    def _folding(self, held: dict[str, list[Value]], vector: str, start: str) -> Step:
        """Steps the states. `held`: what those of columns come to, from column `vector` on, of the block from `start` on."""

        def step(
            statement: ManyToOne, values: Sequence[Value], mask: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            if statement.state in self.outer:
                return self.outer.step(statement.state, values, mask, vector, start)
            fold, before = self._folds[statement.state], held.get(statement.state)
            # Lanes that are no columns may hold anything.
            active = None if statement.when is None else mask
            held[statement.state] = (
                fold.begin_with(values, active) if before is None else fold.step(before, values, active)
            )
            return (), ()

        return step
