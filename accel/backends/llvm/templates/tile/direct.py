"""Batches of small nests without packs: of a fold of few elements a tile reads both sides where they lie.

A fold that has at most one element for each lane of docs/order.md is a tree of all its elements. Its tile, some rows times one
vector of columns, takes them in the order of the lanes' reversed bits, so that they join as they come, and all that waits stays
in registers. To pack matrices of 4 x 4 took ten times as long as to multiply them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value, Writer
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.ahead import matrices
from accel.backends.llvm.templates.tile.batch import put_batch
from accel.backends.llvm.templates.tile.element import brought
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Strip, Word
from accel.backends.llvm.templates.tile.packs import no_step
from accel.backends.llvm.templates.tile.results import finish
from accel.backends.llvm.templates.tile.strips import Accumulators, load, saved
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import OneToOne, Read, Write
from accel.labelled.meaning.products import steps as element_steps
from accel.schedule.templates.tile import Side, Tile

COUNTS = (4, 8, 16)
"""How many elements a fold may have. There is code for each."""

MORE_COUNTS = (32, 64)
"""How many more it may have where both sides are matrices as they lie in memory, and there is a whole vector of columns. What
else a side does is done once for each row, or column, where it is packed, and here for each tile."""

MOST_WRITTEN = 64
"""Elements of all rows of a tile that are written out; of more there is a loop of subtrees. Without it a third of the time that
batches take to compile was for these alone."""

ROWS = 4
"""Rows of a tile, which read a vector of columns together; fewer where there are few registers."""

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

Sides: TypeAlias = tuple[Sequence[Elements], Elements]
"""Each row of a tile, and its columns."""


def can_be_direct(tile: Tile) -> bool:
    """Whether the nest is a batch whose columns lie in lanes, and both sides only read arrays and compute."""
    sides = (*tile.rows.statements, *tile.columns.statements)
    plain = all(isinstance(statement, Read | OneToOne) for statement in sides)
    return bool(tile.batch) and plain and tile.order_lanes > 1 and not tile.columns.along_fold


def is_direct(code: Code, layout: Layout, count: str, columns: str) -> str:
    """Whether there is code for folds of so many elements, with so many columns."""
    known, wide = "false", code.emit(f"icmp sge i64 {columns}, {layout.lanes}")
    for each in _counts(layout.tile):
        here = code.emit(f"icmp eq i64 {count}, {each}")
        known = code.emit(f"or i1 {known}, {here if each in COUNTS else code.emit(f'and i1 {here}, {wide}')}")
    return known


def is_mostly_direct(tile: Tile) -> bool:
    """Whether there is code for folds of any power of two of elements that fits the lanes, from `COUNTS` on."""
    return can_be_direct(tile) and _counts(tile)[-1] == tile.order_lanes


def _counts(tile: Tile) -> Sequence[int]:
    """Those of a whole vector of columns."""
    are_matrices = all(_matrix(tile, side) is not None for side in (tile.rows, tile.columns))
    counts = (*COUNTS, *MORE_COUNTS) if are_matrices else COUNTS
    return [count for count in counts if count <= tile.order_lanes]


def _matrix(tile: Tile, side: Side) -> Read | None:
    """All that the side does, if that is to read a matrix."""
    found = matrices(tile, side)
    return found[0] if len(side.statements) == len(side.streams) == len(found) == 1 else None


class Direct:
    """`@<name>_directly(frame, parameters, low, high)`: some of a batch, tile by tile.

    size: the words of the parameters.
    """

    def __init__(self, name: str, layout: Layout, size: int, frame: Frame) -> None:
        self.routine = Routine(f"void @{name}_directly(ptr %frame, ptr %parameters, i64 %low, i64 %high)")
        self._layout = layout
        self._size = size
        self._writer = Writer(self.routine.code, layout.lanes)
        self._memory = Memory(FrameView(self.routine, frame), self._writer, "ret void", None)
        self._scalars = self._memory.with_writer(Writer(self.routine.code, 1))
        self._functions = Functions(self._writer, self._memory)
        self._firsts = {
            state.name: element_steps(state.merge, state.monoid, state.types, state.products).first
            for state in layout.states
        }
        self._rows = _rows(layout)
        self._subtree = max(COUNTS[-1], MOST_WRITTEN // self._rows)
        strip = Strip(self._rows, 1, 2)
        self._accumulators = Accumulators(self.routine, self._writer, self._functions, layout, strip)
        self._batch: dict[str, Value] = {}

    def write(self) -> Routine:
        """The whole function."""
        routine, code, tile = self.routine, self.routine.code, self._layout.tile
        given, words = Parameters(routine, "%parameters"), Parameters(routine, routine.slot("i64", self._size))
        count, rows, columns = (given.get(word) for word in (Word.COUNT, Word.ROWS, Word.COLUMNS))
        streams = Streams(self._scalars, {})
        extents = [self._writer.one(streams.value(loop.extent)) for loop in tile.batch]
        with routine.count("%low", "%high") as number:
            put_batch(words, number, extents)
            self._batch = words.batch(tile)
            with (
                routine.count("0", rows, self._rows) as row,
                routine.count("0", columns, self._layout.lanes) as column,
            ):
                self._tile(count, (row, rows), (column, columns))
        code.line("ret void")
        self._memory.close()
        return routine

    def _tile(self, count: str, row: tuple[str, str], column: tuple[str, str]) -> None:
        """The tile from a row and a column on, of so many each."""
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        first, last = row[0], code.emit(f"sub i64 {row[1]}, 1")
        # A row that is not there is the last one once more, and the last vector of columns ends with the last column: what is
        # there twice is written twice.
        numbers = [code.emit(f"add i64 {first}, {number}") for number in range(self._rows)]
        rows = [Uniform(routine.least(number, last), I64) for number in numbers]
        wide = code.emit(f"icmp sge i64 {column[1]}, {lanes}")
        latest = routine.least(column[0], code.emit(f"sub i64 {column[1]}, {lanes}"))
        begin = code.emit(f"select i1 {wide}, i64 {latest}, i64 {column[0]}")
        columns = Progression(begin, 1)
        mask = self._writer.first_lanes(code.emit(f"sub i64 {column[1]}, {begin}"))
        of_rows = [self._elements(self._layout.tile.rows, row) for row in rows]
        self._fold(count, (of_rows, self._elements(self._layout.tile.columns, columns)), wide, mask)
        for there in self._written(wide, mask):
            self._write(row, rows, columns, there)

    def _written(self, wide: str, mask: str | None) -> Iterator[str | None]:
        """Around what writes results: under the mask, but for a whole vector of columns where that takes longer."""
        if host().stores_under_masks:
            yield mask
            return
        routine = self.routine
        whole, part, after = routine.label(), routine.label(), routine.label()
        routine.branch(wide, whole, part)
        for label, there in ((whole, None), (part, mask)):
            routine.place(label)
            yield there
            routine.jump(after)
        routine.place(after)

    def _write(self, row: tuple[str, str], rows: Sequence[Uniform], columns: Progression, mask: str | None) -> None:
        """What follows of what all rows of the tile, from a row on, of so many, come to."""
        routine, code, first = self.routine, self.routine.code, row[0]
        if _only_writes(self._layout.tile):
            for number, index in enumerate(rows):
                self._results(self._held(0, number), index, columns, mask)
            return
        out = routine.slot(f"[{self._layout.bytes} x i8]", align=64)
        self._accumulators.save(out, "0", "0")
        high = routine.least(code.emit(f"sub i64 {row[1]}, {first}"), str(self._rows))
        with routine.count("0", high) as there:
            self._results(self._saved(out, there), Uniform(code.emit(f"add i64 {first}, {there}"), I64), columns, mask)

    def _fold(self, count: str, sides: Sides, wide: str, mask: str) -> None:
        """All elements, into the accumulators; without a mask where there is a whole vector of columns, and are as many
        elements: on Intel's processors a load under one takes the place of a sum. Small matrices have few of both."""
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        whole, part, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"and i1 {wide}, {code.emit(f'icmp sge i64 {count}, {lanes}')}"), whole, part)
        many = [each for each in _counts(self._layout.tile) if each >= lanes]
        for label, there in ((whole, None), (part, mask)):
            routine.place(label)
            for each in COUNTS if there else many:
                with routine.when(code.emit(f"icmp eq i64 {count}, {each}")):
                    if each <= self._subtree:
                        for row, leaves in enumerate(self._folded(each, sides, ALL, there)):
                            self._put(0, row, leaves)
                    else:
                        self._subtrees(each // self._subtree, sides)
            routine.jump(after)
        routine.place(after)

    def _subtrees(self, number: int, sides: Sides) -> None:
        """Two or four subtrees, of every second or fourth element, one after the other: what the last two came to is held, the
        third joins the first, the fourth the second, and then these join."""
        routine, code, rows = self.routine, self.routine.code, range(self._rows)
        with routine.count("0", str(number)) as turn:
            every = Every(code.hidden(turn, "i64"), number)
            folded, before = self._folded(self._subtree, sides, every, None), [self._held(0, row) for row in rows]
            for row in rows:
                self._put(0, row, self._held(1, row))
                self._put(1, row, folded[row])
            if number > 2:
                with routine.when(code.emit(f"icmp sge i64 {turn}, 2")):
                    for row in rows:
                        self._put(1, row, self._merged(before[row], folded[row]))
        for row in rows:
            self._put(0, row, self._merged(self._held(0, row), self._held(1, row)))

    def _held(self, lane: int, row: int) -> Leaves:
        return {state.name: self._accumulators.get(state, lane, row, 0) for state in self._layout.states}

    def _put(self, lane: int, row: int, leaves: Leaves) -> None:
        for state in self._layout.states:
            self._accumulators.put(state, lane, row, 0, leaves[state.name])

    def _folded(self, count: int, sides: Sides, every: Every, mask: str | None) -> list[Leaves]:
        """What so many elements come to for each row: they join as they come."""
        of_rows, of_columns = [elements(every) for elements in sides[0]], sides[1](every)
        waiting: list[list[Leaves]] = [[] for _ in of_rows]
        bits = count.bit_length() - 1
        for place in range(count):
            number = int(f"{place:0{bits}b}"[::-1], 2)
            columns = of_columns(number, mask)
            for row, held in zip(of_rows, waiting, strict=True):
                held.append(self._first({**row(number, None), **columns}))
                left = place
                while left % 2:
                    later, earlier, left = held.pop(), held.pop(), left // 2
                    held.append(self._merged(earlier, later))
        return [held[0] for held in waiting]

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

    def _first(self, made: dict[str, Value]) -> Leaves:
        """What a lane comes to whose only element this is, for each state."""
        tile = self._layout.tile
        every = brought(tile, tile.inside, self._functions, self._memory, made)
        return {name: self._functions.apply(self._firsts[name], values, None) for name, values in every}

    def _saved(self, out: str, row: str) -> Leaves:
        """What a row has come to, from memory."""
        code, layout = self.routine.code, self._layout
        found = dict[str, Sequence[Value]]()
        for state, first, vector, offsets in saved(layout, layout.whole):
            if first == vector == 0:
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


def _rows(layout: Layout) -> int:
    """Rows of a tile: as many, a power of two, as have all that waits in registers, with a vector of columns and a product."""
    leaves = sum(len(state.finals) for state in layout.states)
    waiting = _counts(layout.tile)[-1].bit_length() - 1
    rows = min(ROWS, layout.rows)
    while rows > 1 and rows * waiting * leaves + 2 > host().registers.count:
        rows //= 2
    return rows
