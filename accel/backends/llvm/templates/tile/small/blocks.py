"""Some of a small nest: tiles of rows and columns, which read both sides where they lie, or a copy of some columns.

Each tile reads its columns anew, so they should lie in the first cache. Those of large matrices do not fit, or are too far from
each other, so a block of columns is copied side by side, for many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TypeAlias

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.launch import put_batch
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Word
from accel.backends.llvm.templates.tile.results import finish
from accel.backends.llvm.templates.tile.small.held import (
    FEW,
    MOST_HELD,
    Waiting,
    computed,
    held_for,
    rows_at_once,
    rows_held,
    subtrees,
)
from accel.backends.llvm.templates.tile.small.tree import ROWS, Elements, Every, Leaves, Place, Tree, held, matrix_of
from accel.backends.llvm.templates.tile.strips import Accumulators, load, saved
from accel.backends.llvm.text.code import memory_type
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import Write
from accel.schedule.templates.tile import Tile

VECTORS = 2
"""Vectors of columns of a tile where there are few registers: what a row gives is brought into all lanes once for them, which
takes as long as a product."""

COPIED_BYTES = (1 << 14, 1 << 15)
"""Bytes of a block that is copied, where tiles read it, and where its columns are held for some rows."""

COPIED_FOR = (128, 256)
"""Rows for which it is, if there are so many and other threads have others."""

OfColumns: TypeAlias = tuple[Sequence[Progression], Sequence[Elements], "str | None"]
"""The indices of some vectors of columns, what these give, and a mask of the columns that are there, if not all are."""


class Columns(Enum):
    """Less than a vector; more; more than the first cache has room for."""

    NARROW = 0
    WIDE = 1
    COPIED = 2


class Blocks:
    """`@<name>(frame, parameters, low, high)`: some of a batch, or of groups of rows, block by block. Where no columns are
    copied, groups begin with `Word.ROW`; rows end before `Word.ROWS`.

    size: the words of the parameters. count: elements of a fold. columns: what there are.
    """

    def __init__(self, name: str, layout: Layout, size: int, frame: Frame, count: int, columns: Columns) -> None:
        self._routine = Routine(f"void @{name}(ptr %frame, ptr %parameters, i64 %low, i64 %high)")
        self._count = count
        self._columns = columns
        self._layout = layout
        self._size = size
        self._writer = Writer(self._routine.code, layout.lanes)
        self._memory = Memory(FrameView(self._routine, frame), self._writer, "ret void", None)
        self._scalars = self._memory.with_writer(Writer(self._routine.code, 1))
        self._tree = Tree(self._memory, self._writer, layout, count)
        self._matrix = matrix_of(layout.tile, layout.tile.columns)
        self._width = copied_columns(layout, count)
        self._subtrees = held_subtrees(layout, count, columns)

    def write(self) -> Routine:
        """The whole function."""
        routine, code, tile = self._routine, self._routine.code, self._layout.tile
        given, words = Parameters(routine, "%parameters"), Parameters(routine, routine.slot("i64", self._size))
        row, rows, columns = (given.get(word) for word in (Word.ROW, Word.ROWS, Word.COLUMNS))
        streams = Streams(self._scalars, {})
        extents = [self._writer.one(streams.value(loop.extent)) for loop in tile.batch]
        if tile.batch:
            with routine.count("%low", "%high") as number:
                put_batch(words, number, extents)
                self._tree.batch = words.batch(tile)
                self._rows(("0", rows), columns)
        elif self._columns is Columns.COPIED:
            with routine.count("%low", "%high") as number:
                blocks = code.parts(columns, str(self._width))
                first = code.emit(f"mul i64 {code.emit(f'udiv i64 {number}, {blocks}')}, {copied_for()}")
                last = routine.least(code.emit(f"add i64 {first}, {copied_for()}"), rows)
                begin = code.emit(f"mul i64 {code.emit(f'urem i64 {number}, {blocks}')}, {self._width}")
                self._copied((first, last), begin, columns)
        else:
            unit, wide = rows_of_unit(self._subtrees, self._count), given.get(Word.CHUNK_COLUMNS)
            blocks = code.parts(columns, wide)
            whole = code.emit(f"icmp eq i64 {blocks}, 1")
            groups = code.emit(f"select i1 {whole}, i64 {code.emit('sub i64 %high, %low')}, i64 1")
            with routine.count("%low", "%high", groups) as number:
                group = code.emit(f"mul i64 {code.emit(f'udiv i64 {number}, {blocks}')}, {unit}")
                first = code.emit(f"add i64 {row}, {group}")
                end = code.emit(f"add i64 {first}, {code.emit(f'mul i64 {groups}, {unit}')}")
                begin = code.emit(f"mul i64 {code.emit(f'urem i64 {number}, {blocks}')}, {wide}")
                last = routine.least(code.emit(f"add i64 {begin}, {wide}"), columns)
                self._block((first, routine.least(end, rows)), "0", last, None, begin)
        code.line("ret void")
        self._memory.close()
        return routine

    def _rows(self, rows: tuple[str, str], columns: str) -> None:
        """From the first one to the last."""
        if self._columns is Columns.COPIED:
            with self._routine.count("0", columns, self._width) as begin:
                self._copied(rows, begin, columns)
        else:
            self._block(rows, "0", columns, None)

    def _copied(self, rows: tuple[str, str], begin: str, columns: str) -> None:
        """Some rows of the block that begins with this column, of so many; of the last one so that there is a tile at least:
        what is there twice is written twice."""
        assert self._matrix is not None
        routine, code, element = self._routine, self._routine.code, self._matrix.array.element
        room = routine.slot(f"[{self._width * self._count} x {memory_type(element)}]", align=64)
        first = routine.least(begin, code.emit(f"sub i64 {columns}, {_least_copied(self._layout)}"))
        there = routine.least(code.emit(f"sub i64 {columns}, {first}"), str(self._width))
        at = room, str(self._width * element.bytes)
        self._copy(self._place(first), at, there)
        self._block(rows, first, there, at)

    def _place(self, column: str) -> Place:
        """Where a column of the matrix stands."""
        tile, matrix = self._layout.tile, self._matrix
        assert matrix is not None
        indices = {tile.columns.loop.index.name: column, tile.fold.index.name: "0"}
        made: dict[str, Value] = {
            **self._tree.batch,
            **{name: Uniform(index, I64) for name, index in indices.items()},
        }
        start = self._scalars.address(matrix.array, Streams(self._scalars, made).values(matrix.index))
        return start, self._memory.view.stride(matrix.array, matrix.index.index(tile.fold.index))

    def _copy(self, source: Place, target: Place, columns: str) -> None:
        """All elements of so many columns, side by side."""
        assert self._matrix is not None
        routine, code, kind, lanes = self._routine, self._routine.code, self._matrix.array.element, self._layout.lanes
        latest = code.emit(f"sub i64 {columns}, {lanes}")
        with routine.count("0", str(self._count)) as element:
            rows = [
                code.emit(f"getelementptr i8, ptr {start}, i64 {code.emit(f'mul i64 {element}, {stride}')}")
                for start, stride in (source, target)
            ]
            with routine.count("0", columns, lanes) as column:
                offset = code.emit(f"mul i64 {routine.least(column, latest)}, {kind.bytes}")
                read, written = (code.emit(f"getelementptr i8, ptr {row}, i64 {offset}") for row in rows)
                self._memory.store_vector(kind, self._memory.load_vector(kind, read, None), written, None)

    def _block(self, rows: tuple[str, str], first: str, columns: str, at: Place | None, begin: str = "0") -> None:
        """Rows of so many columns from the first one on, which stands at this place, without those before `begin`: tiles of as
        many vectors as they have, then of what is left."""
        if self._subtrees:
            self._held(rows, first, (begin, columns), at)
            return
        routine, code = self._routine, self._routine.code
        for vectors in self._vectors():
            accumulators, wide = self._tree.accumulators(vectors), vectors * self._layout.lanes
            end = columns if vectors == 1 else code.emit(f"and i64 {columns}, {-wide}")
            with (
                routine.count(*rows, accumulators.strip.rows) as row,
                routine.count(begin, end, wide) as column,
            ):
                self._tile(accumulators, (row, rows[1]), self._columns_of((column, columns), vectors, first, at))
            begin = end

    def _held(self, rows: tuple[str, str], first: str, part: tuple[str, str], at: Place | None) -> None:
        """The same, where columns stay in registers for some rows."""
        routine, code, subtrees = self._routine, self._routine.code, self._subtrees
        accumulators = self._tree.accumulators(1, rows_at_once(self._count, ROWS))
        waiting = Waiting(routine, accumulators, len(subtrees), held_for(self._count))
        all_columns = Parameters(routine, "%parameters").get(Word.COLUMNS)
        group = rows_held(routine, self._count, code.emit(f"mul i64 {all_columns}, {column_bytes(self._layout)}"))
        with (
            routine.count(*rows, group) as begin,
            routine.count(*part, self._layout.lanes) as column,
        ):
            last = routine.least(code.emit(f"add i64 {begin}, {group}"), rows[1])
            indices, elements, mask = self._columns_of((column, part[1]), 1, first, at)
            for turn, every in enumerate(subtrees):
                held_elements = [computed(each, every, mask) for each in elements]
                with routine.count(begin, last, accumulators.strip.rows) as row:
                    numbers, of_rows = self._rows_of(accumulators, (row, last))
                    self._tree.subtree(accumulators, (of_rows, held_elements), every, mask)
                    place = code.emit(f"sub i64 {row}, {begin}")
                    waiting.join(turn, place)
                    if turn < len(subtrees) - 1:
                        waiting.keep(turn, place)
                    else:
                        self._write(accumulators, (row, last), numbers, indices, mask)

    def _vectors(self) -> Sequence[int]:
        """How many vectors of columns tiles have, from the first column on."""
        several = (
            self._columns is not Columns.NARROW and self._layout.vectors > 1 and not host().processor.registers.many
        )
        return (VECTORS, 1) if several else (1,)

    def _columns_of(self, column: tuple[str, str], vectors: int, first: str, at: Place | None) -> OfColumns:
        """So many vectors from a column of the block on, of so many: the last one ends with the last column; what is there
        twice is written twice."""
        code, tile, lanes = self._routine.code, self._layout.tile, self._layout.lanes
        begin, mask = column[0], None
        if self._columns is not Columns.NARROW:
            begin = self._routine.least(begin, code.emit(f"sub i64 {column[1]}, {lanes * vectors}"))
        else:
            mask = self._writer.first_lanes(column[1])
        places = [code.emit(f"add i64 {begin}, {number * lanes}") if number else begin for number in range(vectors)]
        indices = [Progression(place if at is None else code.emit(f"add i64 {first}, {place}"), 1) for place in places]
        elements = [
            self._tree.elements(tile.columns, index, self._moved(at, place))
            for index, place in zip(indices, places, strict=True)
        ]
        return indices, elements, mask

    def _rows_of(
        self, accumulators: Accumulators, row: tuple[str, str]
    ) -> tuple[Sequence[Uniform], Sequence[Elements]]:
        """The rows of a tile from this one on, of so many: their indices, and what they give. A row that is not there is the
        last one once more."""
        code = self._routine.code
        last = code.emit(f"sub i64 {row[1]}, 1")
        numbers = [code.emit(f"add i64 {row[0]}, {number}") for number in range(accumulators.strip.rows)]
        rows = [Uniform(self._routine.least(number, last), I64) for number in numbers]
        return rows, [self._tree.elements(self._layout.tile.rows, index, None) for index in rows]

    def _tile(self, accumulators: Accumulators, row: tuple[str, str], of_columns: OfColumns) -> None:
        """The tile of some columns from a row on, of so many."""
        columns, elements, mask = of_columns
        rows, of_rows = self._rows_of(accumulators, row)
        self._tree.fold(accumulators, (of_rows, elements), mask)
        self._write(accumulators, row, rows, columns, mask)

    def _moved(self, at: Place | None, column: str) -> Place | None:
        """The place so many columns on."""
        if at is None or self._matrix is None:
            return None
        code = self._routine.code
        offset = code.emit(f"mul i64 {column}, {self._matrix.array.element.bytes}")
        return code.emit(f"getelementptr i8, ptr {at[0]}, i64 {offset}"), at[1]

    def _write(
        self,
        accumulators: Accumulators,
        row: tuple[str, str],
        rows: Sequence[Uniform],
        columns: Sequence[Progression],
        mask: str | None,
    ) -> None:
        """What follows of what all rows of the tile, from a row on, of so many, come to."""
        routine, code, first = self._routine, self._routine.code, row[0]
        if _only_writes(self._layout.tile):
            for number, index in enumerate(rows):
                for vector, column in enumerate(columns):
                    self._results(held(accumulators, 0, (number, vector)), index, column, mask)
            return
        out = routine.slot(f"[{self._layout.bytes} x i8]", align=64)
        accumulators.save(out, "0", "0")
        high = routine.least(code.emit(f"sub i64 {row[1]}, {first}"), str(accumulators.strip.rows))
        with routine.count("0", high) as there:
            index = Uniform(code.emit(f"add i64 {first}, {there}"), I64)
            for vector, column in enumerate(columns):
                self._results(self._saved(out, there, vector), index, column, mask)

    def _saved(self, out: str, row: str, vector: int) -> Leaves:
        """What a vector of a row has come to, from memory."""
        code, layout = self._routine.code, self._layout
        found = dict[str, Sequence[Value]]()
        for state, first, number, offsets in saved(layout, layout.whole):
            if (first, number) == (0, vector):
                addresses = []
                for final, offset in zip(state.finals, offsets, strict=True):
                    begin = code.emit(f"mul i64 {row}, {layout.columns * final.type.bytes}")
                    place = code.emit(f"add i64 {begin}, {offset}")
                    addresses.append(code.emit(f"getelementptr i8, ptr {out}, i64 {place}"))
                found[state.name] = load(self._writer, state, addresses, self._routine)
        return found

    def _results(self, folded: Leaves, index: Uniform, columns: Progression, mask: str | None) -> None:
        """What follows of what a row of the tile comes to."""
        tile = self._layout.tile
        made: dict[str, Value] = {**self._tree.batch, tile.rows.loop.index.name: index}
        made[tile.columns.loop.index.name] = columns
        finish(self._memory, self._writer, tile, made, folded, mask)


def held_subtrees(layout: Layout, count: int, columns: Columns) -> Sequence[Every]:
    """Those of columns that are held in registers for some rows; none, if they are not: for few elements of few columns a tile
    of several rows is enough."""
    return () if columns is Columns.NARROW and ROWS * count <= MOST_HELD else subtrees(layout, count)


def rows_of_unit(subtrees: Sequence[Every], count: int) -> int:
    """Rows that a thread computes at least."""
    return held_for(count) if subtrees else ROWS


def _only_writes(tile: Tile) -> bool:
    """Whether results do nothing but write what is folded, so that they may be written out for each row."""
    return not tile.around and all(isinstance(statement, Write) for statement in tile.results)


def copied_columns(layout: Layout, count: int) -> int:
    """How many columns are copied at a time; 0 if none are. Where there are many registers, those of more than a few elements
    are, which are held only where loads keep up with products."""
    processor = host().processor
    if processor.registers.many and not (count > FEW and processor.loads_keep_up):
        return 0
    least = _least_copied(layout)
    return max(least, COPIED_BYTES[processor.loads_keep_up] // (column_bytes(layout) * count) // least * least)


def copied_for() -> int:
    """For how many rows they are."""
    return COPIED_FOR[host().processor.loads_keep_up]


def _least_copied(layout: Layout) -> int:
    """The fewest columns that are copied: those of a tile."""
    return layout.lanes if host().processor.loads_keep_up else layout.lanes * VECTORS


def column_bytes(layout: Layout) -> int:
    """Bytes of an element of a column."""
    return max(stream.type.bytes for stream in layout.tile.columns.streams)
