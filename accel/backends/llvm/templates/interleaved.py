"""Rows of a few elements, in lanes over the rows: what columns come to is interleaved, and stored in vectors.

The code is compiled for each number of columns, and of elements that these fold, when a call first has such rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.stores import Stores
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.chunks import leave_if_failed
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.schedule import note_streaming
from accel.backends.llvm.templates.launch import launch, product_of_extents
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.errors import AccelInternalError
from accel.ir.nodes import Write
from accel.schedule.templates.cpu.interleaved import Interleaved
from accel.schedule.templates.cpu.positions import extents
from accel.schedule.templates.cpu.side_by_side import side_by_side

FEWEST = 512
"""Elements below which rows take no more than some microseconds longer, so that it is not worth to compile more code."""


class InterleavedLoops:
    """One nest in lanes over rows: an `Alternative` to its rows."""

    def __init__(self, text: NestText, found: Interleaved, lanes: int) -> None:
        """`lanes` of the vectors in which the nest's statements are computed."""
        self._text, self._found, self._lanes = text, found, lanes
        self._late = Late(f"{text.name}_interleaved_{len(found.columns)}", prod(map(len, found.counts)), self._routines)

    def applies(self, levels: Levels) -> str:
        """Whether rows are as short, there are enough side by side, and they lie one behind the other: an i1."""
        code, found = levels.routine.code, self._found
        result = code.emit(f"icmp sge i64 {self._count(levels)}, {self._lanes}")
        result = code.emit(f"and i1 {result}, {code.emit(f'icmp sge i64 {self._total(levels)}, {FEWEST}')}")
        for loop, counts in zip(found.columns, found.counts, strict=True):
            over = code.emit(f"sub i64 {levels.extent(loop)}, {counts[0]}")
            result = code.emit(f"and i1 {result}, {code.emit(f'icmp ule i64 {over}, {len(counts) - 1}')}")
        if found.divided:
            rest = code.emit(f"urem i64 {levels.extent(found.lanes)}, {self._columns(levels)}")
            result = code.emit(f"and i1 {result}, {code.emit(f'icmp eq i64 {rest}, 0')}")
        for array, dimensions in found.rows:
            whole, last = str(array.element.bytes), len(array.shape) - 1
            for dimension in reversed(range(last - dimensions, last)):
                whole = code.emit(f"mul i64 {whole}, {levels.view.extent(array.shape[dimension + 1])}")
                lies = code.emit(f"icmp eq i64 {levels.view.stride(array, dimension)}, {whole}")
                result = code.emit(f"and i1 {result}, {lies}")
        return result

    def run(self, levels: Levels) -> None:
        """All rows."""
        self._text.routines.append(self._late.found())
        self._text.late.append(self._late)
        code, found = levels.routine.code, self._found
        number = "0"
        for loop, counts in zip(found.columns, found.counts, strict=True):
            over = code.emit(f"sub i64 {levels.extent(loop)}, {counts[0]}")
            number = code.emit(f"add i64 {code.emit(f'mul i64 {number}, {len(counts)}')}, {over}")
        function = self._late.address(levels.routine, number)
        parts = code.parts(self._count(levels), str(self._lanes))
        note_streaming(self._text, levels, self._total(levels), 1)
        for loop in found.outer:
            parts = code.emit(f"mul i64 {parts}, {levels.extent(loop)}")
        most = prod(counts[-1] for counts in found.counts)
        launch(self._text, levels, function, parts, self._total(levels), self._lanes * most)

    def _columns(self, levels: Levels) -> str:
        """How many columns there are."""
        return product_of_extents(levels, self._found.columns)

    def _count(self, levels: Levels) -> str:
        """How many rows stand side by side."""
        count = levels.extent(self._found.lanes)
        columns = self._columns(levels)
        return levels.routine.code.emit(f"udiv i64 {count}, {columns}") if self._found.divided else count

    def _total(self, levels: Levels) -> str:
        """How many elements there are."""
        return product_of_extents(levels, self._found.loops[:-1] if self._found.divided else self._found.loops)

    def _routines(self, number: int) -> Sequence[Routine]:
        """`@<name>(frame, low, high)`: some vectors of rows, of columns whose counts have this number."""
        routine = Routine(f"void @{self._late.name}(ptr %frame, i64 %low, i64 %high)")
        levels, code = Levels(self._text, routine, "ret void"), routine.code
        leave_if_failed(levels.view)
        rows = _Rows(levels, self._found, self._lanes, _of_number(self._found.counts, number))
        count = self._count(levels)
        vectors = code.parts(count, str(self._lanes))
        first, position = routine.slot("i64"), routine.slot("i64")
        number_of_first = code.emit(f"udiv i64 %low, {vectors}")
        routine.store("i64", code.emit(f"urem i64 %low, {vectors}"), first)
        routine.store("i64", number_of_first, position)
        with routine.count("%low", "%high"):
            vector, around = routine.load("i64", first), routine.load("i64", position)
            start = code.emit(f"mul i64 {vector}, {self._lanes}")
            rows.enter(around)
            rest = code.emit(f"sub i64 {count}, {start}")
            whole, part, after = routine.label(), routine.label(), routine.label()
            routine.branch(code.emit(f"icmp sge i64 {rest}, {self._lanes}"), whole, part)
            routine.place(whole)
            rows.vector(start, None)
            routine.jump(after)
            routine.place(part)
            rows.vector(start, rest)
            routine.jump(after)
            routine.place(after)
            following = code.emit(f"add i64 {vector}, 1")
            ends = code.emit(f"icmp eq i64 {following}, {vectors}")
            routine.store("i64", code.emit(f"select i1 {ends}, i64 0, i64 {following}"), first)
            routine.store("i64", code.emit(f"add i64 {around}, {code.emit(f'zext i1 {ends} to i64')}"), position)
        code.line("ret void")
        levels.memory.close()
        return [routine]


def _of_number(counts: Sequence[range], number: int) -> list[int]:
    """The number of iterations of each loop, of the combination with this number."""
    found: list[int] = []
    for each in reversed(counts):
        number, place = divmod(number, len(each))
        found.append(each[place])
    return found[::-1]


class _Rows:
    """Writes vectors of rows, whose loops of columns have so many iterations."""

    def __init__(self, levels: Levels, found: Interleaved, lanes: int, counts: Sequence[int]) -> None:
        self._levels, self._found = levels, found
        self._writer = Writer(levels.routine.code, lanes)
        self._memory: Memory = levels.memory.with_writer(self._writer)
        sizes = dict(zip(extents(found.columns), counts, strict=True))
        self._memory.rows_of = {
            array: [sizes.get(extent, extent.offset) for extent in array.shape[len(array.shape) - dimensions :]]
            for array, dimensions in found.rows
        }
        self._stores = Stores(self._memory, self._writer)
        self._statements = side_by_side(found, counts)
        self._outer: dict[str, Value] = {}

    def enter(self, number: str) -> None:
        """The loops around the lanes, in an iteration of them all."""
        levels, loops = self._levels, self._found.outer
        self._outer = dict(levels.streams.made)
        indices = levels.routine.code.indices(number, [levels.extent(loop) for loop in loops])
        self._outer.update((loop.index.name, Uniform(index, I64)) for loop, index in zip(loops, indices, strict=True))

    def vector(self, start: str, rest: str | None) -> None:
        """The rows from `start` on: a vector of them, or the last ones, so many."""
        writer, lanes = self._writer, self._found.lanes
        streams = Streams(self._memory, self._outer | {lanes.index.name: Progression(start, 1)})
        statements = Statements(writer, self._memory, streams, _no_step)
        mask = None if rest is None else writer.first_lanes(rest)
        for array, some in groupby(self._statements, lambda s: s.array if isinstance(s, Write) else None):
            if array is None:
                for statement in some:
                    statements.masked(statement, mask)
                continue
            writes = [statement for statement in some if isinstance(statement, Write)]
            values = [streams.value(write.value) for write in writes]
            index = streams.values(writes[0].index)
            self._memory.write_rows(array, index, values, rest, self._stores.row(array, index))


def _no_step(*_: object) -> tuple[Sequence[Value], Sequence[Value]]:
    raise AccelInternalError("the loops have no states")
