"""Scans down columns, strip by strip: launches in which a row of the vectors' loop has at least one vector.

Strips of columns run on any thread, each from its first row to its last.
"""

from __future__ import annotations

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.chunks import leave_if_failed, run_units
from accel.backends.llvm.loops.durations import ALONE
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.schedule import note_streaming
from accel.backends.llvm.loops.steps import Steps, iterations
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.templates.strips.accumulators import Strip
from accel.backends.llvm.templates.strips.scans import ScanText
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import THREADS
from accel.ir.nodes import Read, Stream, Write
from accel.schedule.templates.column_scans import ColumnScans
from accel.schedule.templates.columns import inside

STRIP_BYTES = 1 << 13
"""Of a row of a strip: carries stay in the first cache while rows of arrays stream by."""

LEAST_VECTORS = 8
"""Of a strip that is made narrower so that every thread has one: with less, rows are read in pieces that are too short."""

UNITS_OF_THREAD = 2

_STRIPS, _VECTORS = (Stream(f"column scans: {what}", I64) for what in ("strips", "vectors of a strip"))
"""Words of the frame. No stream of a nest has a space."""


class ScanStrips:
    """One nest by columns. `few`: with half of a register, where there are fewer columns than lanes. `vectors` of a strip are
    chosen, unless they are given."""

    def __init__(self, text: NestText, columns: ColumnScans, *, few: bool = False, vectors: int | None = None) -> None:
        self._text = text
        self._columns = columns
        widths = [final.type.bytes for state in columns.scanned.states for final in state.finals]
        widths += [s.array.element.bytes for s in inside(columns.last.body) if isinstance(s, Read | Write)]
        self._lanes = (REGISTER_BYTES // 2 if few else REGISTER_BYTES) // max(widths)
        self._vectors = vectors or STRIP_BYTES // REGISTER_BYTES
        self._name = f"{text.name}_{'few_scans' if few else 'column_scans'}"

    def applies(self, levels: Levels) -> str:
        """There are enough columns for a vector, and something to scan in every one."""
        code = levels.routine.code
        enough = code.emit(f"icmp sge i64 {levels.own_extent(self._columns.lanes)}, {self._lanes}")
        for loop in (*self._columns.outer, self._columns.scanned):
            some = code.emit(f"icmp sgt i64 {levels.own_extent(loop)}, 0")
            enough = code.emit(f"and i1 {enough}, {some}")
        return enough

    def run(self, levels: Levels) -> None:
        """Strips of all columns as chunks."""
        routine, code = levels.routine, levels.routine.code
        self._text.routines.append(self._chunk())
        columns, outer = levels.own_extent(self._columns.lanes), "1"
        for loop in self._columns.outer:
            outer = code.emit(f"mul i64 {outer}, {levels.own_extent(loop)}")
        rows = code.emit(f"mul i64 {outer}, {levels.own_extent(self._columns.scanned)}")
        elements = code.emit(f"mul i64 {rows}, {columns}")
        note_streaming(self._text, levels, elements, 1)
        time = self._text.duration.of(code, code.emit(f"sitofp i64 {elements} to double"))
        small = code.emit(f"fcmp olt double {time}, {ALONE:e}")
        threads = routine.load("i64", levels.view.address(THREADS))
        units = self._cut(levels, columns, outer, code.emit(f"select i1 {small}, i64 1, i64 {threads}"))
        run_units(levels, f"@{self._name}", units, time)

    def _cut(self, levels: Levels, columns: str, outer: str, threads: str) -> str:
        """How many strips there are, some for each thread if there is one; puts their sizes into the frame."""
        routine, code = levels.routine, levels.routine.code
        whole = code.parts(columns, str(self._lanes))
        wanted = code.emit(f"mul i64 {threads}, {UNITS_OF_THREAD}")

        def few(vectors: str) -> str:
            strips = code.emit(f"mul i64 {outer}, {code.parts(whole, vectors)}")
            several = code.emit(f"icmp sgt i64 {threads}, 1")
            fewer = code.emit(f"and i1 {several}, {code.emit(f'icmp slt i64 {strips}, {wanted}')}")
            return code.emit(f"and i1 {fewer}, {code.emit(f'icmp sgt i64 {vectors}, {LEAST_VECTORS}')}")

        size = routine.slot("i64")
        routine.store("i64", str(self._vectors), size)
        routine.shift_while(size, "lshr", few)
        vectors = routine.least(whole, routine.load("i64", size))
        of_a_row = code.parts(whole, vectors)
        levels.view.keep(_STRIPS.name, I64, of_a_row)
        levels.view.keep(_VECTORS.name, I64, vectors)
        return code.emit(f"mul i64 {outer}, {of_a_row}")

    def _chunk(self) -> Routine:
        """`@<name>_…_scans(frame, low, high)`: some strips."""
        routine = Routine(f"void @{self._name}(ptr %frame, i64 %low, i64 %high)")
        view, writer = FrameView(routine, self._text.frame), Writer(routine.code, self._lanes)
        memory = Memory(view, writer, "ret void", None)
        leave_if_failed(view)
        with routine.count("%low", "%high") as unit:
            self._unit(memory, writer, unit)
        routine.code.line("ret void")
        memory.close()
        return routine

    def _unit(self, memory: Memory, writer: Writer, unit: str) -> None:
        routine, code, view = memory.routine, memory.routine.code, memory.view
        strips, streams = view.stream(_STRIPS), Streams(memory, {})
        columns = writer.one(streams.value(self._columns.lanes.extent))
        width = code.emit(f"mul i64 {view.stream(_VECTORS)}, {self._lanes}")
        first = code.emit(f"mul i64 {code.emit(f'urem i64 {unit}, {strips}')}, {width}")
        rest = code.emit(f"sub i64 {columns}, {first}")
        count = routine.least(code.parts(rest, str(self._lanes)), view.stream(_VECTORS))
        last = code.emit(f"sub i64 {columns}, {self._lanes}")
        strip = Strip(routine, writer, memory, Functions(writer, memory), self._vectors, count)
        steps = Steps(memory, iterations(self._text.duration))
        text = ScanText(self._columns, strip, first, last, steps)
        scope = text.before(
            self._columns.last.body,
            text.around(self._columns.outer, self._columns.last, streams, code.emit(f"udiv i64 {unit}, {strips}")),
        )
        text.scan(scope)
        text.after(self._columns.last.body, scope)
