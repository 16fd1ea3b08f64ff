"""Folds of windows, `x[i + k]` over k say: what some vectors of neighbouring results come to stays in registers.

Neighbours share most of what they read, so all of it lies in the first cache, and no row of accumulators has to stream by, as
where matrices are folded down their columns (`folds.py`). Lanes of the order are visited so that those which join follow each
other, eight at a time; what eight of them come to waits on the stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Step, Streams
from accel.backends.llvm.emit.values import Progression, Value, Writer
from accel.backends.llvm.loops.chunks import chunk_of, run_chunks
from accel.backends.llvm.loops.durations import ALONE
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.analysis import weight
from accel.backends.llvm.templates.strips.accumulators import Fold, Lane, Row, Strip, subtrees
from accel.backends.llvm.templates.strips.folds import LANES
from accel.backends.llvm.templates.strips.statements import Scope, StripStatements, no_step
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import FAILED, THREADS
from accel.ir.nodes import ManyToOne
from accel.schedule.templates.columns import Columns, widths

VECTORS = 16
"""Of a strip: of so many neighbouring results."""

TOGETHER = 4
"""Vectors whose folds are computed side by side, with many registers; half as many with few."""

HEAVY = 24
"""Instructions of an iteration from which on vectors, and lanes of the order, are computed one by one: to gain there is little,
and the code is written for each."""

MANY = 256
"""Results for which this code is compiled: of fewer, rows take some microseconds."""

Leaves: TypeAlias = Mapping[str, Sequence[Value]]
"""What each state comes to, by name."""


class WindowStrips:
    """One nest in strips of neighbouring results."""

    def __init__(self, text: NestText, columns: Columns) -> None:
        self._text = text
        self._columns = columns
        self._lanes = REGISTER_BYTES // max(widths(columns))
        self._name = f"{text.name}_windows"

    def applies(self, levels: Levels) -> str:
        """There is a vector of results in a row, and enough of them in all; and no more to fold than is as fast by rows."""
        code, (loop,) = levels.routine.code, self._columns.folds
        columns, count = levels.own_extent(self._columns.lanes), levels.own_extent(loop)
        enough, results = code.emit(f"icmp sge i64 {columns}, {self._lanes}"), columns
        for outer in self._columns.outer:
            results = code.emit(f"mul i64 {results}, {levels.own_extent(outer)}")
        for condition in (
            f"sge i64 {results}, {MANY}",
            f"sgt i64 {count}, 0",
            f"sle i64 {count}, {self._columns.longest}",
        ):
            enough = code.emit(f"and i1 {enough}, {code.emit(f'icmp {condition}')}")
        return enough

    def run(self, levels: Levels) -> None:
        """All strips as chunks, by a function that is compiled at the first such launch."""
        routine, code, (loop,) = levels.routine, levels.routine.code, self._columns.folds
        late = Late(self._name, 1, lambda _: [self._chunk()])
        self._text.routines.append(late.found())
        self._text.late.append(late)
        function = late.address(routine, "0")
        columns = levels.own_extent(self._columns.lanes)
        units = code.parts(columns, str(VECTORS * self._lanes))
        elements = code.emit(f"sitofp i64 {code.emit(f'mul i64 {columns}, {levels.own_extent(loop)}')} to double")
        for outer in self._columns.outer:
            extent = levels.own_extent(outer)
            units = code.emit(f"mul i64 {units}, {extent}")
            elements = code.emit(f"fmul double {elements}, {code.emit(f'sitofp i64 {extent} to double')}")
        time = self._text.duration.of(code, elements)
        alone, several, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"fcmp olt double {time}, {ALONE:e}"), alone, several)
        routine.place(alone)
        code.line(f"call void {function}(ptr %frame, i64 0, i64 {units})")
        routine.jump(after)
        routine.place(several)
        threads = routine.load("i64", levels.view.address(THREADS))
        run_chunks(levels, function, units, chunk_of(routine, 1, units, time), threads, time)
        routine.jump(after)
        routine.place(after)

    def _chunk(self) -> Routine:
        """`@<name>(frame, low, high)`: some strips."""
        routine = Routine(f"void @{self._name}(ptr %frame, i64 %low, i64 %high)")
        view, writer = FrameView(routine, self._text.frame), Writer(routine.code, self._lanes)
        memory = Memory(view, writer, "ret void", None)
        code, strip = routine.code, VECTORS * self._lanes
        routine.leave(code.emit(f"icmp ne i64 {routine.load('i64', view.address(FAILED))}, 0"), "void")
        text = WindowText(self._columns, memory, writer, heavy=weight(self._text.nest) >= HEAVY)
        columns = writer.one(Streams(memory, {}).value(self._columns.lanes.extent))
        of_a_row = code.parts(columns, str(strip))
        with routine.count("%low", "%high") as unit:
            first = code.emit(f"mul i64 {code.emit(f'urem i64 {unit}, {of_a_row}')}, {strip}")
            end = routine.least(code.emit(f"add i64 {first}, {strip}"), columns)
            text.write(code.emit(f"udiv i64 {unit}, {of_a_row}"), first, end, columns)
        code.line("ret void")
        memory.close()
        return routine


class WindowText(StripStatements):
    """Writes the folds of one strip. Vectors go by their first column."""

    def __init__(self, columns: Columns, memory: Memory, writer: Writer, *, heavy: bool) -> None:
        functions = Functions(writer, memory)
        self._at_once = 1 if heavy else LANES
        self._together = 1 if heavy else TOGETHER if host().processor.registers.many else TOGETHER // 2
        strip = Strip(memory.routine, writer, memory, functions, self._together, str(self._together))
        super().__init__(columns.lanes, columns.varying(), strip, "0", "0")
        self._columns = columns
        (self._loop,) = columns.folds
        self._folds = [Fold(strip, state) for state in self._loop.states]
        self._width = max(fold.width for fold in self._folds)
        self._rows = {fold.state.name: Row(strip, fold.state.types, self._width) for fold in self._folds}

    def position(self, vector: str) -> Value:
        """The columns of a vector, from its first one on."""
        return Progression(vector, 1)

    def write(self, number: str, first: str, end: str, columns: str) -> None:
        """The columns first .. end-1 of a row of so many columns. number: of the iteration of the loops around."""
        routine, code, lanes = self.strip.routine, self.strip.routine.code, self.strip.writer.lanes
        level = self._columns.last.body
        scope = self.around(self._columns.outer, self._columns.last, Streams(self.strip.memory, {}), number)
        scope = self.uniform(level.before, scope)
        position = routine.slot("i64")
        routine.store("i64", first, position)
        whole = code.emit(f"sub i64 {end}, {self._together * lanes - 1}")
        if self._together > 1:
            with routine.advance(position, whole, self._together * lanes) as column:
                vectors = [code.emit(f"add i64 {column}, {lanes * each}") for each in range(self._together)]
                self._side_by_side(scope, vectors)
        last = code.emit(f"sub i64 {columns}, {lanes}")
        with routine.advance(position, end, lanes) as column:
            self._side_by_side(scope, [routine.least(column, last)])

    def _side_by_side(self, scope: Scope, vectors: Sequence[str]) -> None:
        """The results of some vectors."""
        level = self._columns.last.body
        varying = [statement for statement in level.before if self.varies(statement)]
        known = [self.in_lanes(varying, scope, vector, {}, no_step) for vector in vectors]
        found = self._ordered(scope, vectors, known) if self._width > 1 else self._chain(scope, vectors, known, "0", 1)
        scope = self.uniform(level.after, scope)
        varying = [statement for statement in level.after if self.varies(statement)]
        for vector, streams, leaves in zip(vectors, known, found, strict=True):
            finals = dict(streams)
            for fold in self._folds:
                values, initial = leaves[fold.state.name], fold.state.initial
                if initial is not None:
                    values = fold.merge(Streams(self.strip.memory, dict(streams)).values(initial), values)
                finals.update((final.name, value) for final, value in zip(fold.state.finals, values, strict=True))
            self.in_lanes(varying, scope, vector, finals, no_step)

    def _count(self, scope: Scope) -> str:
        return self.strip.writer.one(Streams(self.strip.memory, dict(scope.made)).value(self._loop.extent))

    def _ordered(self, scope: Scope, vectors: Sequence[str], known: Sequence[Mapping[str, Value]]) -> Sequence[Leaves]:
        """All elements, by the order's lanes: subtrees of some of them, then what these come to."""
        routine, code = self.strip.routine, self.strip.routine.code
        groups = subtrees(code, routine.least(self._count(scope), str(self._width)), self._at_once)
        with routine.count("0", groups) as group:

            def subtree(lane: int, step: int) -> Sequence[Leaves]:
                """Of every so many lanes of a group."""
                if step == self._at_once:
                    start = code.emit(f"add i64 {group}, {code.emit(f'mul i64 {groups}, {lane}')}")
                    return self._chain(scope, vectors, known, start, self._width)
                pairs = zip(subtree(lane, 2 * step), subtree(lane + step, 2 * step), strict=True)
                return [self._merged(left, right) for left, right in pairs]

            self._hold(subtree(0, 1), group)
        half = self._width // self._at_once // 2
        while half:
            with routine.when(code.emit(f"icmp sgt i64 {groups}, {half}")), routine.count("0", str(half)) as row:
                other = code.emit(f"add i64 {row}, {half}")
                pairs = [(self._held(number, row), self._held(number, other)) for number in range(len(vectors))]
                self._hold([self._merged(left, right) for left, right in pairs], row)
            half //= 2
        return [self._held(number, "0") for number in range(len(vectors))]

    def _merged(self, left: Leaves, right: Leaves) -> Leaves:
        return {fold.state.name: fold.merge(left[fold.state.name], right[fold.state.name]) for fold in self._folds}

    def _hold(self, found: Sequence[Leaves], row: str) -> None:
        for number, leaves in enumerate(found):
            for name, values in leaves.items():
                self._rows[name].store(values, str(number), row)

    def _held(self, number: int, row: str) -> Leaves:
        return {name: rows.load(str(number), row) for name, rows in self._rows.items()}

    def _chain(
        self, scope: Scope, vectors: Sequence[str], known: Sequence[Mapping[str, Value]], start: str, step: int
    ) -> Sequence[Leaves]:
        """Elements start, start + step, …: a lane of the order, or all that is folded in any order."""
        statements = [*self._loop.body.before, *self._loop.body.after]
        varying = [statement for statement in statements if self.varies(statement)]
        lanes = [{fold.state.name: Lane(self.strip, fold.nothing()) for fold in self._folds} for _ in vectors]
        with self.strip.routine.count(start, self._count(scope), step) as element:
            here = self.uniform(statements, scope.with_index(self._loop.index, element))
            for vector, streams, lane in zip(vectors, known, lanes, strict=True):
                held = {name: one.get() for name, one in lane.items()}
                self.in_lanes(varying, here, vector, streams, self._folding(held))
                for name, one in lane.items():
                    one.put(held[name])
        return [{name: one.get() for name, one in lane.items()} for lane in lanes]

    def _folding(self, held: dict[str, list[Value]]) -> Step:
        """Steps the states; `held`: what they come to."""
        folds = {fold.state.name: fold for fold in self._folds}

        def step(
            statement: ManyToOne, values: Sequence[Value], mask: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            held[statement.state] = folds[statement.state].step(held[statement.state], values, mask)
            return (), ()

        return step
