"""Folds down columns, strip by strip: launches in which a row of the vectors' loop has at least one vector.

Strips of columns run on any thread. Where there are few of them the rows are cut as well, into parts of a power of two of
blocks, whose results join in order once all are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.chunks import leave_if_failed, run_units
from accel.backends.llvm.loops.durations import ALONE
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.steps import iterations
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.analysis import iteration_work
from accel.backends.llvm.templates.strips.accumulators import Strip, order_width, partial_bytes
from accel.backends.llvm.templates.strips.folds import StripText
from accel.backends.llvm.templates.strips.statements import POSITION_BITS
from accel.backends.llvm.templates.strips.visits import Piece
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import PARTIALS, THREADS
from accel.ir.nodes import Read, Stream
from accel.labelled.meaning.order import BLOCK
from accel.schedule.legality import in_order
from accel.schedule.templates.columns import Columns, inside, widths

ROW_BYTES = 1 << 14
"""Of a row of accumulators of a wide strip: a few of them stay in the first cache while rows of arrays stream by."""

NARROW_BYTES = 1 << 10
"""The same of a narrow strip, which has a row for each lane of a block."""

FEW_ROWS = 512
"""Rows up to which lanes are visited one by one in narrow strips as well: their arrays lie in caches."""

TOGETHER = 8
"""Rows taken at once, whose elements meet in the same accumulators."""

HALF_TOGETHER, ONE_ROW = 8, 24
"""Instructions of an iteration from which on half as many rows are taken at once, and from which on one."""

UNIT_STEPS = 2
"""Of `loops/steps.py`: the most of a strip or a part, where there is room for enough of them."""

PARTIAL_BYTES = 1 << 17
"""Of the results of parts, which stand on the stack of the call."""

UNITS_OF_THREAD = 2

MIN_VECTORS = 4
"""Of a strip."""

LEAST_VECTORS = 32
"""Of a strip that is made narrower: with less, rows are read in pieces that are too short for memory."""

MOST_PIECES = 8
"""Of a block, if it is the only one: a thread takes some lanes of the order, and reads whole rows."""

ROWS_OF_PIECE = 256
"""Rows of a piece at least, so that all lanes have elements, and to join what pieces come to is little."""

NEAR_BYTES = float(16 << 20)
"""Up to so much memory is read fast enough without being asked for ahead, which takes instructions. Beyond, processors with
registers of 64 bytes gain by it; first-generation EPYCs, with half of that, take 1.2 times as long."""

_STRIPS, _VECTORS, _PARTS, _PIECES, _ROWS, _FAR = (
    Stream(f"columns: {what}", I64)
    for what in ("strips", "vectors of a strip", "parts", "pieces of a block", "rows of a part", "far")
)
"""Words of the frame. No stream of a nest has a space."""


class ColumnStrips:
    """One nest by columns; `narrow`: where a row is so short that accumulators for all lanes of a block stay in the cache.

    `vectors` of a strip and `blocks` of a part are chosen, unless they are given.
    """

    def __init__(
        self, text: NestText, columns: Columns, *, narrow: bool, vectors: int | None = None, blocks: int | None = None
    ) -> None:
        self._text = text
        self._columns = columns
        self._narrow = narrow
        bytes_ = sorted(widths(columns))
        self._lanes = (REGISTER_BYTES // 2 if narrow else REGISTER_BYTES) // bytes_[-1]
        # Fewer columns than lanes need masks, which narrow elements are slow with; where positions are divided for each row of
        # them, rows are as fast.
        self._masks = narrow and bytes_[0] >= 4 and not columns.positions
        self._vectors = vectors or _vectors(columns, self._lanes, NARROW_BYTES if narrow else ROW_BYTES)
        self._blocks = blocks
        self._name = f"{text.name}_{'narrow' if narrow else 'columns'}"
        self._states = columns.folds[0].states
        self._partial_bytes = sum(partial_bytes(state, self._lanes) for state in self._states)
        work = iteration_work(text.nest)
        self._asks_ahead = host().processor.registers.bytes == REGISTER_BYTES
        self._pieces = (
            not narrow and vectors is None and blocks is None and host().processor.registers.bytes == REGISTER_BYTES
        )
        self._together = TOGETHER if work < HALF_TOGETHER else TOGETHER // 2 if work < ONE_ROW else 1

    # At launch.

    def applies(self, levels: Levels) -> str:
        """There are enough columns for a vector, or half of one, and not too many for a narrow strip; and something to fold in
        every one, but not more than positions are divided for."""
        levels.statements([positions.size for positions in self._columns.positions])
        code, columns = levels.routine.code, levels.own_extent(self._columns.lanes)
        least = self._lanes // 2 if self._masks else self._lanes
        enough = code.emit(f"icmp sge i64 {columns}, {least}")
        for positions in self._columns.positions:
            (visited,) = levels.streams.values(positions.size.outs)
            short = code.emit(f"icmp sle i64 {levels.writer.one(visited)}, {(1 << POSITION_BITS) - 1}")
            enough = code.emit(f"and i1 {enough}, {short}")
        for loop in (*self._columns.outer, *self._columns.folds):
            some = code.emit(f"icmp sgt i64 {levels.own_extent(loop)}, 0")
            enough = code.emit(f"and i1 {enough}, {some}")
        if not self._narrow:
            return enough
        few = code.emit(f"icmp slt i64 {columns}, {self._lanes}")
        long = code.emit(f"icmp sgt i64 {levels.own_extent(self._columns.folds[-1])}, {FEW_ROWS}")
        narrow = code.emit(f"icmp sle i64 {columns}, {self._vectors * self._lanes}")
        better = code.emit(f"or i1 {few}, {code.emit(f'and i1 {long}, {narrow}')}")
        return code.emit(f"and i1 {enough}, {better}")

    def run(self, levels: Levels) -> None:
        """Strips and parts of all columns as chunks; then the parts join."""
        routine, code = levels.routine, levels.routine.code
        self._text.routines += [self._chunk("", joins=False), self._chunk("_join", joins=True)]
        columns, outer = levels.own_extent(self._columns.lanes), "1"
        elements = code.emit(f"sitofp i64 {columns} to double")
        for loop in self._columns.outer:
            outer = code.emit(f"mul i64 {outer}, {levels.own_extent(loop)}")
        for loop in (*self._columns.outer, *self._columns.folds):
            extent = code.emit(f"sitofp i64 {levels.own_extent(loop)} to double")
            elements = code.emit(f"fmul double {elements}, {extent}")
        time = self._text.duration.of(code, elements)
        small = code.emit(f"fcmp olt double {time}, {ALONE:e}")
        if self._asks_ahead:
            read = [s.array.element.bytes for s in inside(self._columns.last.body) if isinstance(s, Read)]
            size = code.emit(f"fmul double {elements}, {float(max(read, default=0)):e}")
            far = code.emit(f"fcmp ogt double {size}, {NEAR_BYTES:e}")
            levels.view.keep(_FAR.name, I64, code.emit(f"zext i1 {far} to i64"))
        strips, parts = self._cut(levels, columns, outer, self._wanted(levels, elements, small))
        partials = routine.slot(f"[{PARTIAL_BYTES} x i8]", align=64)
        routine.store("ptr", partials, levels.view.address(PARTIALS))
        units = code.emit(f"mul i64 {strips}, {parts}")
        run_units(levels, f"@{self._name}", units, time)
        with routine.when(code.emit(f"icmp sgt i64 {parts}, 1")):
            code.line(f"call void @{self._name}_join(ptr %frame, i64 0, i64 {strips})")

    def _wanted(self, levels: Levels, elements: str, small: str) -> str:
        """How many strips and parts of strips are wanted: some for each thread, and none too long to be interrupted."""
        routine, code = levels.routine, levels.routine.code
        threads = routine.load("i64", levels.view.address(THREADS))
        unit = float(UNIT_STEPS * iterations(self._text.duration))
        alone = code.emit(f"or i1 {small}, {code.emit(f'icmp eq i64 {threads}, 1')}")
        several = code.emit(f"select i1 {alone}, i64 1, i64 {code.emit(f'mul i64 {threads}, {UNITS_OF_THREAD}')}")
        long = code.emit(f"fptosi double {code.emit(f'fdiv double {elements}, {unit:e}')} to i64")
        return code.emit(f"select i1 {code.emit(f'icmp sgt i64 {long}, {several}')}, i64 {long}, i64 {several}")

    def _cut(self, levels: Levels, columns: str, outer: str, wanted: str) -> tuple[str, str]:
        """How many strips all columns are, and how many parts each of them; puts their sizes into the frame.

        Strips are made narrower, down to a limit, if their parts alone are too few; a part is a power of two of blocks.
        """
        routine, code = levels.routine, levels.routine.code
        blocks = code.parts(levels.own_extent(self._columns.folds[0]), str(BLOCK))
        whole = code.parts(columns, str(self._lanes))

        def strips(vectors: str) -> str:
            return code.emit(f"mul i64 {outer}, {code.parts(whole, vectors)}")

        def room(vectors: str) -> str:
            """For how many parts of all strips, each of so many vectors, there is."""
            held = code.emit(f"mul i64 {strips(vectors)}, {routine.least(whole, vectors)}")
            parts = code.emit(f"sdiv i64 {PARTIAL_BYTES // self._partial_bytes}, {held}")
            return code.emit(f"select i1 {code.emit(f'icmp sgt i64 {parts}, 1')}, i64 {parts}, i64 1")

        pieces, size = self._pieces_of_block(levels, blocks, room, strips, wanted), routine.slot("i64")
        self._narrow_strips(routine, size, blocks, pieces, room, strips, wanted)
        vectors = routine.least(whole, routine.load("i64", size))
        every, most = strips(vectors), routine.least(blocks, room(vectors))
        self._lengthen_parts(routine, size, blocks, every, most, wanted)
        part = routine.load("i64", size)
        # There is one block where there are several pieces.
        parts = code.emit(f"mul i64 {code.parts(blocks, part)}, {pieces}")
        of_a_row, length = code.parts(whole, vectors), code.emit(f"mul i64 {part}, {BLOCK}")
        words = ((_STRIPS, of_a_row), (_VECTORS, vectors), (_PARTS, parts), (_PIECES, pieces), (_ROWS, length))
        for stream, text in words:
            levels.view.keep(stream.name, I64, text)
        return every, parts

    def _narrow_strips(
        self,
        routine: Routine,
        size: str,
        blocks: str,
        pieces: str,
        room: Callable[[str], str],
        strips: Callable[[str], str],
        wanted: str,
    ) -> None:
        """Leaves at `size` how many vectors a strip has: fewer while there are too few parts of strips, and room for more."""
        code = routine.code

        def few(vectors: str) -> str:
            parts = code.emit(f"mul i64 {routine.least(blocks, room(vectors))}, {pieces}")
            fewer = code.emit(f"icmp slt i64 {code.emit(f'mul i64 {strips(vectors)}, {parts}')}, {wanted}")
            wide = code.emit(f"icmp sgt i64 {vectors}, {LEAST_VECTORS}")
            fits = code.emit(f"icmp sle i64 {pieces}, {room(code.emit(f'lshr i64 {vectors}, 1'))}")
            return code.emit(f"and i1 {fewer}, {code.emit(f'and i1 {wide}, {fits}')}")

        routine.store("i64", str(self._vectors), size)
        routine.shift_while(size, "lshr", few)

    def _lengthen_parts(self, routine: Routine, size: str, blocks: str, strips: str, most: str, wanted: str) -> None:
        """Leaves at `size` how many blocks a part has: more while parts are more than wanted, or than there is room for."""
        code = routine.code

        def many(part: str) -> str:
            count = code.parts(blocks, part)
            half = code.emit(f"mul i64 {strips}, {code.parts(count, '2')}")
            enough = "false" if self._blocks is not None else code.emit(f"icmp sge i64 {half}, {wanted}")
            over = code.emit(f"icmp sgt i64 {count}, {most}")
            more = code.emit(f"icmp sgt i64 {count}, 1")
            return code.emit(f"and i1 {more}, {code.emit(f'or i1 {over}, {enough}')}")

        routine.store("i64", str(self._blocks or 1), size)
        routine.shift_while(size, "shl", many)

    def _pieces_of_block(
        self, levels: Levels, blocks: str, room: Callable[[str], str], strips: Callable[[str], str], wanted: str
    ) -> str:
        """In how many pieces the only block falls, if there are fewer strips than wanted: rows that are read in parts come more
        slowly than whole ones."""
        if not self._pieces or any(map(in_order, self._states)):
            return "1"
        routine, code, widest = levels.routine, levels.routine.code, str(self._vectors)
        rows = levels.own_extent(self._columns.folds[0])
        most = routine.least(room(widest), code.emit(f"sdiv i64 {rows}, {ROWS_OF_PIECE}"))
        most = routine.least(most, str(MOST_PIECES))
        alone, few_strips = code.emit(f"icmp eq i64 {blocks}, 1"), strips(widest)

        def more(pieces: str) -> str:
            few = code.emit(f"icmp slt i64 {code.emit(f'mul i64 {few_strips}, {pieces}')}, {wanted}")
            fits = code.emit(f"icmp sle i64 {code.emit(f'shl i64 {pieces}, 1')}, {most}")
            return code.emit(f"and i1 {alone}, {code.emit(f'and i1 {few}, {fits}')}")

        size = routine.slot("i64")
        routine.store("i64", "1", size)
        routine.shift_while(size, "shl", more)
        return routine.load("i64", size)

    # Strips.

    def _chunk(self, suffix: str, *, joins: bool) -> Routine:
        """Some strips: of each the rows of one part; or, if it `joins`, the results of all its parts."""
        routine = Routine(f"void @{self._name}{suffix}(ptr %frame, i64 %low, i64 %high)", hot=not joins)
        view, writer = FrameView(routine, self._text.frame), Writer(routine.code, self._lanes, bends=True)
        memory = Memory(view, writer, "ret void", None)
        code = routine.code
        leave_if_failed(view)
        with routine.count("%low", "%high") as unit:
            self._unit(Functions(writer, memory), memory, writer, unit, joins)
        code.line("ret void")
        memory.close()
        return routine

    def _unit(self, functions: Functions, memory: Memory, writer: Writer, unit: str, joins: bool) -> None:
        routine, code, view = memory.routine, memory.routine.code, memory.view
        parts, strips = view.stream(_PARTS), view.stream(_STRIPS)
        number = unit if joins else code.emit(f"udiv i64 {unit}, {parts}")
        streams = Streams(memory, {})
        columns = writer.one(streams.value(self._columns.lanes.extent))
        width = code.emit(f"mul i64 {view.stream(_VECTORS)}, {self._lanes}")
        first = code.emit(f"mul i64 {code.emit(f'urem i64 {number}, {strips}')}, {width}")
        rest = code.emit(f"sub i64 {columns}, {first}")
        count = routine.least(code.parts(rest, str(self._lanes)), view.stream(_VECTORS))
        last = code.emit(f"sub i64 {columns}, {routine.least(columns, str(self._lanes))}")
        strip = Strip(routine, writer, memory, functions, self._vectors, count)
        mask = writer.first_lanes(columns) if self._masks else None
        far = code.emit(f"icmp ne i64 {view.stream(_FAR)}, 0") if self._asks_ahead else None
        text = StripText(self._columns, strip, first, last, self._together, mask, far=far, streams=self._narrow)
        scope = text.around(self._columns.outer, self._columns.last, streams, code.emit(f"udiv i64 {number}, {strips}"))
        level, loop = self._columns.last.body, self._columns.folds[0]
        scope = text.before(level, text.with_reciprocals(scope))
        if joins:
            self._join(text, strip, number, parts)
            text.after(level, scope, {})
            return
        rows = text.count(loop, scope)
        part = code.emit(f"urem i64 {unit}, {parts}")
        (low, high), piece = self._rows_of(memory, part, rows)
        text.fold(loop, scope, low, high, piece)
        whole, cut, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"icmp eq i64 {parts}, 1"), whole, cut)
        routine.place(whole)
        text.after(level, scope, {})
        routine.jump(after)
        routine.place(cut)
        for state, partials in zip(self._states, self._partials(routine, view), strict=True):
            text.folds[state.name].leave(partials, code.emit(f"mul i64 {unit}, {view.stream(_VECTORS)}"))
        routine.jump(after)
        routine.place(after)

    def _rows_of(self, memory: Memory, part: str, rows: str) -> tuple[tuple[str, str], Piece | None]:
        """The rows of a part, of so many, and of which lanes they are."""
        routine, code, view = memory.routine, memory.routine.code, memory.view
        length = view.stream(_ROWS)
        if not self._pieces:
            low = code.emit(f"mul i64 {part}, {length}")
            return (low, routine.least(code.emit(f"add i64 {low}, {length}"), rows)), None
        pieces = view.stream(_PIECES)
        if all(order_width(state) == 1 for state in self._states):
            # Pieces of what is folded in any order are rows.
            less = code.parts(rows, pieces)
            several = code.emit(f"icmp sgt i64 {pieces}, 1")
            length = code.emit(f"select i1 {several}, i64 {less}, i64 {length}")
            low = code.emit(f"mul i64 {part}, {length}")
            return (low, routine.least(code.emit(f"add i64 {low}, {length}"), rows)), None
        low = code.emit(f"mul i64 {code.emit(f'udiv i64 {part}, {pieces}')}, {length}")
        high = routine.least(code.emit(f"add i64 {low}, {length}"), rows)
        return (low, high), Piece(code.emit(f"urem i64 {part}, {pieces}"), pieces)

    def _join(self, text: StripText, strip: Strip, number: str, parts: str) -> None:
        routine, code = strip.routine, strip.routine.code
        for state, partials in zip(self._states, self._partials(routine, strip.memory.view), strict=True):
            fold = text.folds[state.name]
            fold.begin()
            with routine.count("0", parts) as part:
                unit = code.emit(f"add i64 {code.emit(f'mul i64 {number}, {parts}')}, {part}")
                fold.absorb(partials, code.emit(f"mul i64 {unit}, {strip.memory.view.stream(_VECTORS)}"))
            fold.collapse()

    def _partials(self, routine: Routine, view: FrameView) -> Iterator[str]:
        """Where partial results of each state begin."""
        pointer = view.word(PARTIALS, "ptr")
        for state in self._states:
            yield pointer
            size = PARTIAL_BYTES // self._partial_bytes * partial_bytes(state, self._lanes)
            pointer = routine.code.emit(f"getelementptr i8, ptr {pointer}, i64 {size}")


def _vectors(columns: Columns, lanes: int, row_bytes: int) -> int:
    """Vectors of a strip: as many as a row of all folds has room for."""
    leaves = sum(final.type.bytes for loop in columns.folds for state in loop.states for final in state.finals)
    return max(MIN_VECTORS, 1 << (row_bytes // (lanes * leaves)).bit_length() - 1)
