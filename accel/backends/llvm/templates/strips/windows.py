"""Folds of windows, `x[i + k]` over k say, and other short ones: what some vectors of neighbouring results come to stays in
registers.

Neighbours share most of what they read, so all of it lies in the first cache, and no row of accumulators has to stream by, as
where matrices are folded down their columns (`folds.py`). In: a nest by columns. Out: what is asked at launch, and functions
that are compiled when they are first needed: of very few elements there is one for each number of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.chunks import fold_in_chunks, leave_if_failed, run_units
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.analysis import iteration_work
from accel.backends.llvm.states.outer_folds import functions
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.templates.strips.window_text import TOGETHER, WindowText
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import For, Stream
from accel.ir.work import element_work
from accel.labelled.meaning.order import BLOCK
from accel.labelled.work import INSTRUCTIONS
from accel.schedule.templates.columns import LONGEST_ROW, Columns, widths
from accel.schedule.templates.cpu.alike_in_lanes import alike_in_lanes
from accel.schedule.templates.cpu.loaded_before import loaded_before

VECTORS = 16
"""Of a strip: of so many neighbouring results."""

ONE_BY_ONE = 24
"""Instructions of an iteration from which on vectors, and lanes of the order, are computed one by one: to gain there is little,
and the code is written for each."""

MANY, MUCH = 96, 2048
"""Results for which this code is compiled, or elements that are folded in all: of fewer, rows take about a microsecond."""

MOST = 1 << 16
"""Elements of one result, where several loops fold up to a block each: a strip of results should not take long."""

WRITTEN = 16
"""Elements up to which there is code for each number of them, one after the other in the text; of the two innermost loops,
together."""

SIDE_BY_SIDE = 16
"""Elements across memory that are read side by side, where rows are all that there is: of more it takes longer than row by row,
out of caches. (Zen 4, sums of 100,000 columns: 16 rows take 0.8 of that time, 32 1.1, 63 twice as long.)"""


_FUNCTION = Stream("windows: function", I64)
"""A word of the frame: the function that was found. No stream of a nest has a space."""


class WindowStrips:
    """One nest in strips of neighbouring results."""

    def __init__(self, text: NestText, columns: Columns) -> None:
        self._text = text
        self._columns, alike = alike_in_lanes(loaded_before(columns))
        self._lanes = REGISTER_BYTES // max(widths(columns))
        self._heavy = iteration_work(text.nest) - element_work(alike, INSTRUCTIONS) >= ONE_BY_ONE
        self._written = () if self._heavy else _innermost_two(columns)
        # Fewer columns than lanes need masks, with which processors without registers of them are slow. Of narrow elements
        # longer rows are slower with masks, so that there is code for both.
        masked, narrow = host().processor.registers.many, min(widths(columns)) < 4
        self._masks = masked and not narrow
        self._few = masked and narrow and host().processor.masks_bytes and not columns.lanes.states
        self._numbers = (WRITTEN + 1) ** len(self._written) << int(self._few)
        self._most = columns.longest or (LONGEST_ROW if columns.outer else SIDE_BY_SIDE)
        self._name = f"{text.name}_windows"

    def applies(self, levels: Levels) -> str:
        """There is a vector of results in a row, or a part of one, and enough to fold in all; for each result no more than is
        as fast otherwise."""
        levels.statements([positions.size for positions in self._columns.positions])
        code, columns, folded = levels.routine.code, levels.own_extent(self._columns.lanes), "1"
        enough, results = (
            code.emit(f"icmp sge i64 {columns}, {2 if self._masks or self._few else self._lanes}"),
            columns,
        )
        for outer in self._columns.outer:
            results = code.emit(f"mul i64 {results}, {levels.own_extent(outer)}")
        most = str(self._most)
        if self._columns.longest is None and self._columns.outer:  # what is folded then lies together
            few = code.emit(f"icmp sle i64 {columns}, {TOGETHER * self._lanes}")
            most = code.emit(f"select i1 {few}, i64 {BLOCK}, i64 {most}")
        conditions = list[str]()
        for loop in self._columns.folds:
            count = levels.own_extent(loop)
            folded = code.emit(f"mul i64 {folded}, {count}")
            conditions += [f"sgt i64 {count}, 0", f"sle i64 {count}, {most}"]
        conditions.append(f"sle i64 {folded}, {MOST if self._most == BLOCK else most}")
        elements, many = code.emit(f"mul i64 {results}, {folded}"), code.emit(f"icmp sge i64 {results}, {MANY}")
        much = code.emit(f"or i1 {many}, {code.emit(f'icmp sge i64 {elements}, {MUCH}')}")
        enough = code.emit(f"and i1 {enough}, {much}")
        for condition in conditions:
            enough = code.emit(f"and i1 {enough}, {code.emit(f'icmp {condition}')}")
        return enough

    def run(self, levels: Levels) -> None:
        """All strips as chunks, by a function that is compiled at the first such launch."""
        routine, code = levels.routine, levels.routine.code
        late = Late(self._name, self._numbers, self._routines)
        self._text.routines.append(late.found())
        self._text.late.append(late)
        function = late.address(routine, self._number(levels))
        if self._columns.lanes.states:
            levels.view.keep(_FUNCTION.name, I64, code.emit(f"ptrtoint ptr {function} to i64"))
            self._text.routines.append(self._body())
            fold_in_chunks(self._text, levels, self._columns.lanes, self._name, VECTORS * self._lanes)
            return
        columns = levels.own_extent(self._columns.lanes)
        units = code.parts(columns, str(VECTORS * self._lanes))
        elements = code.emit(f"sitofp i64 {columns} to double")
        for outer in self._columns.outer:
            units = code.emit(f"mul i64 {units}, {levels.own_extent(outer)}")
        for loop in (*self._columns.outer, *self._columns.folds):
            extent = code.emit(f"sitofp i64 {levels.own_extent(loop)} to double")
            elements = code.emit(f"fmul double {elements}, {extent}")
        run_units(levels, function, units, self._text.duration.of(code, elements))

    def _number(self, levels: Levels) -> str:
        """Of the function: what loops fold as digits, if that is little; else 0, which serves all numbers of elements. Where
        there is code for few columns, it is odd if there are fewer than lanes."""
        code, number, folded = levels.routine.code, "0", "1"
        for loop in self._written:
            count = levels.own_extent(loop)
            number = code.emit(f"add i64 {code.emit(f'mul i64 {number}, {WRITTEN + 1}')}, {count}")
            folded = code.emit(f"mul i64 {folded}, {count}")
        if self._written:
            few = code.emit(f"icmp sle i64 {folded}, {WRITTEN}")
            number = code.emit(f"select i1 {few}, i64 {number}, i64 0")
        if not self._few:
            return number
        short = code.emit(f"icmp slt i64 {levels.own_extent(self._columns.lanes)}, {self._lanes}")
        return code.emit(f"add i64 {code.emit(f'shl i64 {number}, 1')}, {code.emit(f'zext i1 {short} to i64')}")

    def _body(self) -> Routine:
        """`@<name>_body(frame, records, low, high)`, which calls the function that was found."""
        routine = Routine(f"void @{self._name}_body(ptr %frame, ptr %records, i64 %low, i64 %high)", hot=False)
        word = FrameView(routine, self._text.frame).stream(_FUNCTION)
        function = routine.code.emit(f"inttoptr i64 {word} to ptr")
        routine.code.line(f"call void {function}(ptr %frame, ptr %records, i64 %low, i64 %high)")
        routine.code.line("ret void")
        return routine

    def _routines(self, number: int) -> Sequence[Routine]:
        """The function of this number, and what it calls."""
        masks = self._masks or (self._few and number % 2 == 1)
        number >>= int(self._few)
        counts, digits = dict[str, int](), number
        for loop in reversed(self._written if number else ()):
            digits, counts[loop.index.name] = divmod(digits, WRITTEN + 1)
        records = [self._text.records[state.name] for state in self._columns.lanes.states]
        return [self._folding(counts, records), *functions(records)] if records else [self._chunk(counts, masks)]

    def _folding(self, counts: Mapping[str, int], records: Sequence[Record]) -> Routine:
        """`@<name>(frame, records, low, high)`: some columns, from the first of a block on, for the records."""
        routine = Routine(f"void @{self._name}(ptr %frame, ptr %records, i64 %low, i64 %high)")
        view, writer = FrameView(routine, self._text.frame), Writer(routine.code, self._lanes, bends=True)
        memory, code, size = Memory(view, writer, "ret void", None), routine.code, VECTORS * self._lanes
        text = WindowText(self._columns, memory, writer, counts, records, heavy=self._heavy)
        with text.outer.blocks("%low", "%high") as (start, end), routine.count(start, end, size) as first:
            text.fold(first, routine.least(code.emit(f"add i64 {first}, {size}"), end), start)
        code.line("ret void")
        memory.close()
        return routine

    def _chunk(self, counts: Mapping[str, int], masks: bool) -> Routine:
        """`@<name>(frame, low, high)`: some strips. counts: how many elements loops fold, where there is code for that."""
        routine = Routine(f"void @{self._name}(ptr %frame, i64 %low, i64 %high)")
        view, writer = FrameView(routine, self._text.frame), Writer(routine.code, self._lanes, bends=True)
        memory = Memory(view, writer, "ret void", None)
        code, outer = routine.code, self._columns.outer
        leave_if_failed(view)
        text = WindowText(self._columns, memory, writer, counts, heavy=self._heavy, masks=masks)
        streams = Streams(memory, {})
        columns = writer.one(streams.value(self._columns.lanes.extent))
        strips = code.parts(columns, str(VECTORS * self._lanes))
        column, *places = (routine.slot("i64") for _ in range(1 + len(outer)))
        first = code.emit(f"mul i64 {code.emit(f'urem i64 %low, {strips}')}, {VECTORS * self._lanes}")
        indices = text.indices(outer, streams, code.emit(f"udiv i64 %low, {strips}"))
        for place, value in zip((column, *places), (first, *indices), strict=True):
            routine.store("i64", value, place)
        with routine.count("%low", "%high"):
            first, *indices = (routine.load("i64", place) for place in (column, *places))
            end = routine.least(code.emit(f"add i64 {first}, {VECTORS * self._lanes}"), columns)
            text.write(indices, first, end, columns)
            last = code.emit(f"icmp eq i64 {end}, {columns}")
            routine.store("i64", code.emit(f"select i1 {last}, i64 0, i64 {end}"), column)
            for loop, place, index in zip(reversed(outer), reversed(places), reversed(indices), strict=True):
                following = code.emit(f"add i64 {index}, {code.emit(f'zext i1 {last} to i64')}")
                last = code.emit(f"icmp eq i64 {following}, {writer.one(streams.value(loop.extent))}")
                routine.store("i64", code.emit(f"select i1 {last}, i64 0, i64 {following}"), place)
        code.line("ret void")
        memory.close()
        return routine


def _innermost_two(columns: Columns) -> Sequence[For]:
    """The loops of the innermost folds, as long as these are two at most."""
    found: tuple[For, ...] = ()
    for fold in reversed(columns.folds):
        loops = columns.visited(fold)
        if len(loops) + len(found) > 2:
            break
        found = (*loops, *found)
    return found
