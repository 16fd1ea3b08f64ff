"""Small nests without packs: of a fold of few elements a tile reads both sides where they lie.

A fold that has one element, or two, for each lane of docs/order.md is a tree of them. Its tile, some rows times one vector of
columns or two, takes them in the order of the lanes' reversed bits, so that they join as they come, and all that waits stays
in registers. To pack matrices of 4 x 4 took ten times as long as to multiply them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value, Writer
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.ahead import matrices
from accel.backends.llvm.templates.tile.element import brought
from accel.backends.llvm.templates.tile.launch import Launch, shared
from accel.backends.llvm.templates.tile.layout import MANY_REGISTERS, Layout, Parameters, Strip, Word
from accel.backends.llvm.templates.tile.packed_nests.batch import put_batch
from accel.backends.llvm.templates.tile.packs import no_step
from accel.backends.llvm.templates.tile.results import finish
from accel.backends.llvm.templates.tile.strips import Accumulators, load, saved
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import OneToOne, Read, Write
from accel.labelled.meaning.products import steps as element_steps
from accel.schedule.templates.tile import Side, Tile

MOST = 64
"""Elements of a fold, where both sides are matrices as they lie in memory."""

MOST_COMPUTED = 16
"""Elements where they are not: what else a side does is done once for each row, or column, where it is packed, and here for
each tile."""

MOST_WRITTEN = 64
"""Elements of all rows of a tile that are written out, where of more there may be a loop of subtrees: of even numbers."""

MOST_BYTES = 1 << 15
"""Bytes of what columns read for one of a batch, for which a first cache has room, whatever lies between rows: each tile reads
it anew."""

ROWS = 4
"""Rows of a tile, which read a vector of columns together; fewer where there are few registers."""

VECTORS = 2
"""Vectors of columns of a tile where there are few registers: what a row gives is brought into all lanes once for them, which
takes as long as a product."""

Leaves: TypeAlias = Mapping[str, Sequence[Value]]
"""A vector of each leaf of each state, by name."""

Element: TypeAlias = Callable[[int, "str | None"], dict[str, Value]]
"""What a side gives for the element of this number, where the mask is set."""


@dataclass(frozen=True, slots=True)
class Every:
    """Elements `first`, `first + step`, … of a fold: a subtree takes every so many of them."""

    first: str
    step: int


ALL = Every("0", 1)

Elements: TypeAlias = Callable[[Every], Element]
"""What a side gives for some of the elements; for all of them, if it is no matrix."""

Sides: TypeAlias = tuple[Sequence[Elements], Sequence[Elements]]
"""Each row of a tile, and each vector of its columns."""

Cell: TypeAlias = tuple[int, int]
"""A row of a tile and a vector."""


def can_be_direct(tile: Tile) -> bool:
    """Whether columns lie in lanes, and both sides only read arrays and compute."""
    sides = (*tile.rows.statements, *tile.columns.statements)
    plain = all(isinstance(statement, Read | OneToOne) for statement in sides)
    return plain and tile.order_lanes > 1 and not tile.columns.along_fold


def is_direct(code: Code, tile: Tile, columns: str, count: str) -> str:
    """Whether there is code for so many columns and elements, of which there is one at least."""
    few = code.emit(f"icmp sle i64 {count}, {_most(tile)}")
    size = max(stream.type.bytes for stream in tile.columns.streams)
    reads = code.emit(f"mul i64 {columns}, {code.emit(f'mul i64 {count}, {size}')}")
    return code.emit(f"and i1 {few}, {code.emit(f'icmp sle i64 {reads}, {MOST_BYTES}')}")


def number_of(code: Code, layout: Layout, count: str, columns: str) -> str:
    """The number of the function for folds of so many elements, from 2 on: there is one for less than a vector of columns, and
    one for more."""
    wide = code.emit(f"icmp sge i64 {columns}, {layout.lanes}")
    return code.emit(f"add i64 {code.emit(f'shl i64 {count}, 1')}, {code.emit(f'zext i1 {wide} to i64')}")


def functions(tile: Tile) -> int:
    """What the numbers of functions are less than."""
    return 2 * (_most(tile) + 1) if can_be_direct(tile) else 1


def direct_code(name: str, text: NestText, layout: Layout, number: int) -> list[Routine]:
    """`@<name>(frame)`: all of a nest of so many elements. Gives 0, or 2 if the user interrupted."""
    routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
    levels = Levels(text, routine, "ret i64 1")
    launch = Launch(levels, text, layout)
    rows, columns, _ = launch.extents
    launch.words.put(Word.ROWS, rows)
    launch.words.put(Word.COLUMNS, columns)
    if layout.tile.batch:
        units, at_once = launch.total, launch.at_once(launch.extents)
    else:
        units, at_once = routine.code.parts(rows, str(ROWS)), launch.at_once((str(ROWS), *launch.extents[1:]))
    routine.leave(launch.run(f"@{name}_shared", units, at_once), "i64 2")
    routine.code.line("ret i64 0")
    levels.memory.close()
    direct = Direct(f"{name}_directly", layout, launch.size, text.frame, number).write()
    return [routine, shared(f"{name}_shared", f"{name}_directly", text.frame), direct]


def _most(tile: Tile) -> int:
    are_matrices = all(_matrix(tile, side) is not None for side in (tile.rows, tile.columns))
    return MOST if are_matrices else MOST_COMPUTED


def _matrix(tile: Tile, side: Side) -> Read | None:
    """All that the side does, if that is to read a matrix."""
    found = matrices(tile, side)
    return found[0] if len(side.statements) == len(side.streams) == len(found) == 1 else None


class Direct:
    """`@<name>(frame, parameters, low, high)`: some of a batch, or of groups of rows, tile by tile, whose folds have so many
    elements.

    size: the words of the parameters. number: which function it is (`number_of`).
    """

    def __init__(self, name: str, layout: Layout, size: int, frame: Frame, number: int) -> None:
        self.routine = Routine(f"void @{name}(ptr %frame, ptr %parameters, i64 %low, i64 %high)")
        self._count, self._wide = number >> 1, bool(number & 1)
        self._layout = layout
        self._size = size
        self._writer = Writer(self.routine.code, layout.lanes)
        self._memory = Memory(FrameView(self.routine, frame), self._writer, "ret void", None)
        self._scalars = self._memory.with_writer(Writer(self.routine.code, 1))
        self._functions = Functions(self._writer, self._memory)
        elements = {
            state.name: element_steps(state.merge, state.monoid, state.types, state.products) for state in layout.states
        }
        self._firsts = {name: steps.first for name, steps in elements.items()}
        self._following = {name: steps.following for name, steps in elements.items()}
        self._batch: dict[str, Value] = {}

    def write(self) -> Routine:
        """The whole function."""
        routine, code, tile = self.routine, self.routine.code, self._layout.tile
        given, words = Parameters(routine, "%parameters"), Parameters(routine, routine.slot("i64", self._size))
        rows, columns = (given.get(word) for word in (Word.ROWS, Word.COLUMNS))
        streams = Streams(self._scalars, {})
        extents = [self._writer.one(streams.value(loop.extent)) for loop in tile.batch]
        if not tile.batch:
            low, high = (code.emit(f"mul i64 %{part}, {ROWS}") for part in ("low", "high"))
            self._tiles(low, routine.least(high, rows), columns)
        else:
            with routine.count("%low", "%high") as number:
                put_batch(words, number, extents)
                self._batch = words.batch(tile)
                self._tiles("0", rows, columns)
        code.line("ret void")
        self._memory.close()
        return routine

    def _tiles(self, first: str, rows: str, columns: str) -> None:
        """Those of rows from the first one up to `rows`: of as many vectors as they have, then of what is left."""
        routine, code = self.routine, self.routine.code
        begin = "0"
        for vectors in self._vectors():
            strip, wide = _strip(self._layout, self._count, vectors), vectors * self._layout.lanes
            end = columns if vectors == 1 else code.emit(f"and i64 {columns}, {-wide}")
            with routine.count(first, rows, strip.rows) as row, routine.count(begin, end, wide) as column:
                self._tile(strip, (row, rows), (column, columns))
            begin = end

    def _vectors(self) -> Sequence[int]:
        """How many vectors of columns tiles have, from the first column on."""
        several = self._wide and self._layout.vectors > 1 and host().registers.count < MANY_REGISTERS
        return (VECTORS, 1) if several else (1,)

    def _tile(self, strip: Strip, row: tuple[str, str], column: tuple[str, str]) -> None:
        """The tile from a row and a column on, of so many each."""
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        accumulators = Accumulators(routine, self._writer, self._functions, self._layout, strip)
        first, last = row[0], code.emit(f"sub i64 {row[1]}, 1")
        # A row that is not there is the last one once more, and the last vector of columns ends with the last column: what is
        # there twice is written twice.
        numbers = [code.emit(f"add i64 {first}, {number}") for number in range(strip.rows)]
        rows = [Uniform(routine.least(number, last), I64) for number in numbers]
        begin, mask = column[0], None
        if self._wide:
            begin = routine.least(begin, code.emit(f"sub i64 {column[1]}, {lanes * strip.vectors}"))
        else:
            mask = self._writer.first_lanes(column[1])
        columns = [
            Progression(code.emit(f"add i64 {begin}, {vector * lanes}") if vector else begin, 1)
            for vector in range(strip.vectors)
        ]
        of_rows = [self._elements(self._layout.tile.rows, row) for row in rows]
        of_columns = [self._elements(self._layout.tile.columns, vector) for vector in columns]
        self._fold(accumulators, (of_rows, of_columns), mask)
        self._write(accumulators, row, rows, columns, mask)

    def _write(
        self,
        accumulators: Accumulators,
        row: tuple[str, str],
        rows: Sequence[Uniform],
        columns: Sequence[Progression],
        mask: str | None,
    ) -> None:
        """What follows of what all rows of the tile, from a row on, of so many, come to."""
        routine, code, first = self.routine, self.routine.code, row[0]
        if _only_writes(self._layout.tile):
            for number, index in enumerate(rows):
                for vector, column in enumerate(columns):
                    self._results(_held(accumulators, 0, (number, vector)), index, column, mask)
            return
        out = routine.slot(f"[{self._layout.bytes} x i8]", align=64)
        accumulators.save(out, "0", "0")
        high = routine.least(code.emit(f"sub i64 {row[1]}, {first}"), str(accumulators.strip.rows))
        with routine.count("0", high) as there:
            index = Uniform(code.emit(f"add i64 {first}, {there}"), I64)
            for vector, column in enumerate(columns):
                self._results(self._saved(out, there, vector), index, column, mask)

    def _fold(self, accumulators: Accumulators, sides: Sides, mask: str | None) -> None:
        """All elements, into the accumulators."""
        strip, parts = accumulators.strip, 1
        written = strip.rows * strip.vectors * self._count
        while written > parts * MOST_WRITTEN and self._count % (2 * parts) == 0 and parts < 4:
            parts *= 2
        if parts > 1:
            self._subtrees(accumulators, parts, sides, mask)
            return
        for cell, leaves in self._folded(sides, ALL, mask).items():
            _put(accumulators, 0, cell, leaves)

    def _subtrees(self, accumulators: Accumulators, parts: int, sides: Sides, mask: str | None) -> None:
        """Two or four subtrees, of every second or fourth element, one after the other: what the last two came to is held, the
        third joins the first, the fourth the second, and then these join."""
        routine, code = self.routine, self.routine.code
        with routine.count("0", str(parts)) as turn:
            folded = self._folded(sides, Every(code.hidden(turn, "i64"), parts), mask)
            before = {cell: _held(accumulators, 0, cell) for cell in folded}
            for cell, leaves in folded.items():
                _put(accumulators, 0, cell, _held(accumulators, 1, cell))
                _put(accumulators, 1, cell, leaves)
            if parts > 2:
                with routine.when(code.emit(f"icmp sge i64 {turn}, 2")):
                    for cell, leaves in folded.items():
                        _put(accumulators, 1, cell, self._merged(before[cell], leaves))
        for cell in folded:
            _put(accumulators, 0, cell, self._merged(*(_held(accumulators, part, cell) for part in (0, 1))))

    def _folded(self, sides: Sides, every: Every, mask: str | None) -> dict[Cell, Leaves]:
        """What some elements, or all, come to: they join as they come, in lanes with reversed bits."""
        of_rows, of_columns = ([elements(every) for elements in side] for side in sides)
        count, most = self._count // every.step, self._layout.tile.order_lanes // every.step
        bits = (min(count, most) - 1).bit_length()
        waiting: dict[Cell, list[Leaves | None]] = {
            (row, vector): [] for row in range(len(of_rows)) for vector in range(len(of_columns))
        }
        for place in range(1 << bits):
            lane = int(f"{place:0{bits}b}"[::-1], 2)
            for held in waiting.values():
                held.append(None)
            for number in range(lane, count, most):
                columns = [column(number, mask) for column in of_columns]
                rows = [row(number, None) for row in of_rows]
                for (row, vector), held in waiting.items():
                    held.append(self._with(held.pop(), {**rows[row], **columns[vector]}))
            for held in waiting.values():
                left = place
                while left % 2:
                    later, earlier, left = held.pop(), held.pop(), left // 2
                    held.append(earlier if later is None or earlier is None else self._merged(earlier, later))
        return {cell: leaves for cell, (leaves,) in waiting.items() if leaves is not None}

    def _merged(self, left: Leaves, right: Leaves) -> Leaves:
        return {
            state.name: self._functions.apply(state.merge, [*left[state.name], *right[state.name]], None)
            for state in self._layout.states
        }

    def _elements(self, side: Side, index: Uniform | Progression) -> Elements:
        """What the side gives where its loop's index is `index`."""
        read = _matrix(self._layout.tile, side)
        if read is None:
            return lambda every: lambda number, mask: self._computed(side, index, Uniform(str(number), I64), mask)
        code, memory = self.routine.code, self._memory if isinstance(index, Progression) else self._scalars
        matrix, fold = read, self._layout.tile.fold.index
        made = {**self._batch, side.loop.index.name: index, fold.name: Uniform("0", I64)}
        start = self._memory.address(matrix.array, Streams(self._memory, made).values(matrix.index))
        stride = self._memory.view.stride(matrix.array, matrix.index.index(fold))

        def beyond(pointer: str, steps: str) -> str:
            known = stride.isdecimal() and steps.isdecimal()
            offset = str(int(stride) * int(steps)) if known else code.emit(f"mul i64 {stride}, {steps}")
            return code.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}")

        def elements(every: Every) -> Element:
            begin = start if every is ALL else beyond(start, every.first)

            def element(number: int, mask: str | None) -> dict[str, Value]:
                address = beyond(begin, str(every.step * number))
                return {matrix.out.name: memory.load_vector(matrix.array.element, address, mask)}

            return element

        return elements

    def _computed(self, side: Side, index: Value, fold: Value, mask: str | None) -> dict[str, Value]:
        """The side's streams where its loop's index is `index` and the fold's is `fold`."""
        made = {**self._batch, side.loop.index.name: index, self._layout.tile.fold.index.name: fold}
        streams = Streams(self._memory, made)
        statements = Statements(self._writer, self._memory, streams, no_step)
        for statement in side.statements:
            statements.masked(statement, mask)
        return {stream.name: value for stream, value in zip(side.streams, streams.values(side.streams), strict=True)}

    def _with(self, held: Leaves | None, made: dict[str, Value]) -> Leaves:
        """What a lane comes to with one element more, for each state; None: it is the first one."""
        tile = self._layout.tile
        every = brought(tile, tile.inside, self._functions, self._memory, made)
        if held is None:
            return {name: self._functions.apply(self._firsts[name], values, None) for name, values in every}
        return {
            name: self._functions.apply(self._following[name], [*held[name], *values], None) for name, values in every
        }

    def _saved(self, out: str, row: str, vector: int) -> Leaves:
        """What a vector of a row has come to, from memory."""
        code, layout = self.routine.code, self._layout
        found = dict[str, Sequence[Value]]()
        for state, first, number, offsets in saved(layout, layout.whole):
            if (first, number) == (0, vector):
                addresses = []
                for final, offset in zip(state.finals, offsets, strict=True):
                    begin = code.emit(f"mul i64 {row}, {layout.columns * final.type.bytes}")
                    place = code.emit(f"add i64 {begin}, {offset}")
                    addresses.append(code.emit(f"getelementptr i8, ptr {out}, i64 {place}"))
                found[state.name] = load(self._writer, state, addresses, self.routine)
        return found

    def _results(self, folded: Leaves, index: Uniform, columns: Progression, mask: str | None) -> None:
        """What follows of what a row of the tile comes to."""
        tile = self._layout.tile
        made: dict[str, Value] = {**self._batch, tile.rows.loop.index.name: index}
        made[tile.columns.loop.index.name] = columns
        finish(self._memory, self._writer, tile, made, folded, mask)


def _only_writes(tile: Tile) -> bool:
    """Whether results do nothing but write what is folded, so that they may be written out for each row."""
    return not tile.around and all(isinstance(statement, Write) for statement in tile.results)


def _held(accumulators: Accumulators, lane: int, cell: Cell) -> Leaves:
    return {state.name: accumulators.get(state, lane, *cell) for state in accumulators.layout.states}


def _put(accumulators: Accumulators, lane: int, cell: Cell, leaves: Leaves) -> None:
    for state in accumulators.layout.states:
        accumulators.put(state, lane, *cell, leaves[state.name])


def _strip(layout: Layout, count: int, vectors: int) -> Strip:
    """A tile of so many vectors, with two places for what it comes to: of as many rows, a power of two, as have all that waits
    in registers, with a vector of columns and a product."""
    leaves = vectors * sum(len(state.finals) for state in layout.states)
    waiting = (min(count, layout.tile.order_lanes) - 1).bit_length()
    rows = min(ROWS, layout.rows)
    while rows > 1 and rows * waiting * leaves + 2 > host().registers.count:
        rows //= 2
    return Strip(rows, vectors, 2)
