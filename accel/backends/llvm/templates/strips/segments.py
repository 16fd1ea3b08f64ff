"""Folds of segments down columns: each strip of neighbouring columns folds one segment, whose elements are rows of memory.

All columns have the same segments, so what a table of rows comes to, segment by segment, reads whole rows, as a sparse matrix
times a dense one does. Segments of up to a block's elements are folded as windows are, others as the rows of a matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.chunks import chunk_of, leave_if_failed, nanoseconds, run_chunks
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.analysis import iteration_work
from accel.backends.llvm.templates.strips.accumulators import Strip
from accel.backends.llvm.templates.strips.folds import Rows, StripText
from accel.backends.llvm.templates.strips.statements import Scope
from accel.backends.llvm.templates.strips.window_text import Here, Leaves, WindowText
from accel.backends.llvm.templates.strips.windows import ONE_BY_ONE, VECTORS
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import THREADS
from accel.backends.sites import EmptySite
from accel.ir import flow
from accel.ir.nodes import For, Read, Write
from accel.labelled.meaning.order import BLOCK
from accel.labelled.meaning.order import lanes as order_lanes
from accel.schedule.legality import in_order
from accel.schedule.templates.columns import Columns, inside
from accel.schedule.templates.cpu.alike_in_lanes import alike_in_lanes

LEAST = 64
"""Results below which rows take some microseconds, so that it is not worth to compile more code."""


class SegmentStrips:
    """One nest in strips of neighbouring columns: an `Alternative` to its rows."""

    def __init__(self, text: NestText, columns: Columns) -> None:
        self._text = text
        self._columns, _ = alike_in_lanes(columns)
        bytes_ = _widths(columns)
        self._lanes = REGISTER_BYTES // max(bytes_)
        self._masks = host().processor.registers.many and min(bytes_) >= 4
        self._late = Late(f"{text.name}_segments", 1, self._routines)

    def applies(self, levels: Levels) -> str:
        """There is a vector of columns, or a part of one where masks serve, and enough segments."""
        code, columns = levels.routine.code, levels.own_extent(self._columns.lanes)
        enough, results = code.emit(f"icmp sge i64 {columns}, {2 if self._masks else self._lanes}"), columns
        for loop in self._columns.outer:
            results = code.emit(f"mul i64 {results}, {levels.own_extent(loop)}")
        return code.emit(f"and i1 {enough}, {code.emit(f'icmp sge i64 {results}, {LEAST}')}")

    def run(self, levels: Levels) -> None:
        """All strips of all segments, by a function that is compiled at the first such launch."""
        routine, code = levels.routine, levels.routine.code
        self._text.routines.append(self._late.found())
        self._text.late.append(self._late)
        function = self._late.address(routine, "0")
        loop = self._text.visited.body.loop
        assert loop is not None, "columns are a loop"
        time = nanoseconds(self._text, levels, [loop], levels.own_extent(loop))
        units = code.parts(levels.own_extent(self._columns.lanes), str(VECTORS * self._lanes))
        for outer in self._columns.outer:
            units = code.emit(f"mul i64 {units}, {levels.own_extent(outer)}")
        threads = routine.load("i64", levels.view.address(THREADS))
        run_chunks(levels, function, units, chunk_of(routine, 1, units, time), threads, time)

    def _routines(self, _: int) -> Sequence[Routine]:
        """`@<name>(frame, low, high)`: some strips of columns, those of a segment after each other."""
        routine = Routine(f"void @{self._late.name}(ptr %frame, i64 %low, i64 %high)")
        view, writer = FrameView(routine, self._text.frame), Writer(routine.code, self._lanes, bends=True)
        memory, code = Memory(view, writer, "ret void", None), routine.code
        leave_if_failed(view)
        heavy = iteration_work(self._text.nest) >= ONE_BY_ONE
        text = _Segments(self._columns, memory, writer, heavy=heavy, masks=self._masks)
        columns = writer.one(Streams(memory, {}).value(self._columns.lanes.extent))
        strips = code.parts(columns, str(VECTORS * self._lanes))
        with routine.count("%low", "%high") as unit:
            first = code.emit(f"mul i64 {code.emit(f'urem i64 {unit}, {strips}')}, {VECTORS * self._lanes}")
            indices = text.indices(self._columns.outer, Streams(memory, {}), code.emit(f"udiv i64 {unit}, {strips}"))
            end = routine.least(code.emit(f"add i64 {first}, {VECTORS * self._lanes}"), columns)
            text.write(indices, first, end, columns)
        code.line("ret void")
        memory.close()
        return [routine]


def _widths(columns: Columns) -> Sequence[int]:
    """Bytes of the elements that are folded, and of those read and written that differ between columns."""
    varying = columns.varying()
    accesses = [s for s in inside(columns.last.body) if isinstance(s, Read | Write)]
    found = [final.type.bytes for loop in columns.folds for state in loop.states for final in state.finals]
    return found + [s.array.element.bytes for s in accesses if any(stream.name in varying for stream in flow.needed(s))]


class _Segments(WindowText):
    """Writes the fold of one segment in one strip."""

    def __init__(self, columns: Columns, memory: Memory, writer: Writer, *, heavy: bool, masks: bool) -> None:
        super().__init__(columns, memory, writer, {}, heavy=heavy, masks=masks)
        (self._loop,) = columns.folds
        self._most = max(order_lanes(state.types) for state in self._loop.states)
        self._in_order = any(map(in_order, self._loop.states))
        self._is_empty = False

    def write(self, indices: Sequence[str], first: str, end: str, columns: str) -> None:
        """Segments with no more elements than the order has lanes side by side; others, or if they do not commute, by rows."""
        routine, code = self.strip.routine, self.strip.routine.code
        scope = self.scope(indices)
        count = self.count(self._loop, scope)
        empty, some, short, long, after = (routine.label() for _ in range(5))
        routine.branch(code.emit(f"icmp eq i64 {count}, 0"), empty, some)
        routine.place(empty)
        for state in self._loop.states:
            if state.initial is None:
                self.strip.memory.fail_if("true", [], EmptySite(state))
        self._is_empty = True
        self.strips(scope, first, end, columns)
        self._is_empty = False
        routine.jump(after)
        routine.place(some)
        routine.branch(code.emit(f"icmp sle i64 {count}, {0 if self._in_order else self._most}"), short, long)
        routine.place(short)
        self.strips(scope, first, end, columns)
        routine.jump(after)
        routine.place(long)
        self._by_rows(scope, first, columns)
        routine.jump(after)
        routine.place(after)

    def side_by_side(self) -> Sequence[int]:
        """Also of half as many: what is the same for all columns is loaded once for them."""
        return [count for count in (self._together, self._together // 2) if count > 1]

    def _fold(self, loop: For, here: Here) -> Sequence[Leaves]:
        """All elements, if there are some."""
        if self._is_empty or self._in_order:
            return [{name: fold.nothing() for name, fold in self._folds.items()} for _ in here.vectors]
        return super()._fold(loop, here)

    def _with_finals(self, loop: For, known: Mapping[str, Value], leaves: Leaves) -> Mapping[str, Value]:
        """Of no elements the seed."""
        if not self._is_empty:
            return super()._with_finals(loop, known, leaves)
        found = dict(known)
        for state in loop.states:
            seed = leaves[state.name]
            if state.initial is not None:
                seed = Streams(self.strip.memory, dict(known)).values(state.initial)
            found.update((final.name, value) for final, value in zip(state.finals, seed, strict=True))
        return found

    def _chain(self, loop: For, here: Here, start: str, step: int) -> Sequence[Leaves]:
        """The one element of a lane of the order, if it is there: what is not there costs less than to branch around it."""
        if step == 1:
            return super()._chain(loop, here, start, step)
        strip, code, count = self.strip, self.strip.routine.code, self.count(loop, here.scope)
        there = strip.writer.splat(code.emit(f"icmp slt i64 {start}, {count}"), "i1")
        element = strip.routine.least(start, code.emit(f"sub i64 {count}, 1"))

        def or_nothing(name: str, values: Sequence[Value]) -> Sequence[Value]:
            pairs = zip(values, self._folds[name].nothing(), strict=True)
            return [strip.writer.select(there, value, nothing) for value, nothing in pairs]

        found = self._stepped(loop, here, element, [{}] * len(here.vectors))
        return [{name: or_nothing(name, values) for name, values in leaves.items()} for leaves in found]

    def _by_rows(self, scope: Scope, first: str, columns: str) -> None:
        """The strip's columns from the first one on, by rows that stream through accumulators."""
        strip, code, loop = self.strip, self.strip.routine.code, self._loop
        routine, writer, lanes = strip.routine, strip.writer, strip.writer.lanes
        rest = code.parts(code.emit(f"sub i64 {columns}, {first}"), str(lanes))
        wide = Strip(
            routine, writer, strip.memory, Functions(writer, strip.memory), VECTORS, routine.least(rest, str(VECTORS))
        )
        last = code.emit(f"sub i64 {columns}, {routine.least(columns, str(lanes))}")
        mask = writer.first_lanes(columns) if self._masks else None
        rows = _Rows(self._columns, wide, first, last, 1, mask, far=None, streams=True)
        level = self._columns.last.body
        scope = rows.before(level, scope)
        rows.fold(loop, scope, "0", rows.count(loop, scope))
        rows.after(level, scope, {})


class _Rows(StripText):
    """The rows of a segment; after each block of them it is asked whether the user has interrupted."""

    def _stream(self, loop: For, scope: Scope, start: str, end: str) -> None:
        self.strip.memory.poll()
        super()._stream(loop, scope, start, end)

    def _chain(self, rows: Rows) -> None:
        routine, code = self.strip.routine, self.strip.routine.code
        with routine.count(rows.start, rows.end, BLOCK) as start:
            self.strip.memory.poll()
            super()._chain(
                replace(rows, start=start, end=routine.least(code.emit(f"add i64 {start}, {BLOCK}"), rows.end))
            )
