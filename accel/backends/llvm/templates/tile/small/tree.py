"""Folds of few elements as trees in registers: each lane of the order has one of them or a few, and joins others as it comes.

In: what rows and columns give for each element. Out: what a tile comes to, in its accumulators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.ahead import matrices
from accel.backends.llvm.templates.tile.element import brought
from accel.backends.llvm.templates.tile.layout import Layout, Strip
from accel.backends.llvm.templates.tile.packs import no_step
from accel.backends.llvm.templates.tile.strips import Accumulators
from accel.ir.nodes import Read
from accel.labelled.meaning.products import steps as element_steps
from accel.schedule.templates.tile import Side, Tile
from accel.support.dataclass import dataclass

MOST_WRITTEN = 64
"""Elements of all rows and vectors of a tile that are written out; of more there may be a loop of two or four subtrees."""

PARTS = 4
"""The most subtrees."""

ROWS = 4
"""Rows of a tile, which read a vector of columns together; fewer where there are few registers."""

Place: TypeAlias = tuple[str, str]
"""Where the first of a column's elements stands, and the bytes to the next."""

Leaves: TypeAlias = Mapping[str, Sequence[Value]]
"""A vector of each leaf of each state, by name."""

Element: TypeAlias = Callable[[int, "str | None"], dict[str, Value]]
"""What a side gives for the element of this number, where the mask is set."""


@dataclass(frozen=True, slots=True)
class Every:
    """Elements `first`, `first + step`, … of a fold, so many: a subtree takes every so many of them."""

    first: str
    step: int
    count: int


Elements: TypeAlias = Callable[[Every], Element]
"""What a side gives for some of the elements; for all of them, if it is no matrix."""

Sides: TypeAlias = tuple[Sequence[Elements], Sequence[Elements]]
"""Each row of a tile, and each vector of its columns."""

Cell: TypeAlias = tuple[int, int]
"""A row of a tile and a vector."""


def matrix_of(tile: Tile, side: Side) -> Read | None:
    """All that the side does, if that is to read a matrix, whose columns lie side by side if they are the tile's."""
    if side is tile.columns and side.along_fold:
        return None
    found = matrices(tile, side)
    return found[0] if len(side.statements) == len(side.streams) == len(found) == 1 else None


class Tree:
    """Writes folds of `count` elements into a function, whose writers in vectors and on scalars are the memories'."""

    def __init__(self, memory: Memory, writer: Writer, layout: Layout, count: int) -> None:
        self._routine = memory.routine
        self._writer = writer
        self._memory = memory
        self._scalars = memory.with_writer(Writer(memory.routine.code, 1))
        self._functions = Functions(writer, memory)
        self._layout = layout
        self._count = count
        elements = {
            state.name: element_steps(state.merge, state.monoid, state.types, state.products) for state in layout.states
        }
        self._firsts = {name: steps.first for name, steps in elements.items()}
        self._following = {name: steps.following for name, steps in elements.items()}
        self.batch: dict[str, Value] = {}
        """The indices of the loops around."""

    def accumulators(self, vectors: int, most: int = ROWS) -> Accumulators:
        """Of a tile of so many vectors, with two places for what it comes to: of as many rows, a power of two, as have all that
        waits in registers, with a vector of columns and a product, and no more than `most`."""
        layout = self._layout
        leaves = vectors * sum(len(state.finals) for state in layout.states)
        waiting = (min(self._count, layout.tile.order_lanes) - 1).bit_length()
        rows = min(most, layout.rows)
        while rows > 1 and rows * waiting * leaves + 2 > host().processor.registers.count:
            rows //= 2
        return Accumulators(self._routine, self._writer, self._functions, layout, Strip(rows, vectors, 2))

    def fold(self, accumulators: Accumulators, sides: Sides, mask: str | None) -> None:
        """All elements, into the accumulators."""
        strip, parts = accumulators.strip, 1
        written = strip.rows * strip.vectors * self._count
        while written > parts * MOST_WRITTEN and self._count % (2 * parts) == 0 and parts < PARTS:
            parts *= 2
        if parts > 1:
            self._subtrees(accumulators, parts, sides, mask)
            return
        self.subtree(accumulators, sides, Every("0", 1, self._count), mask)

    def subtree(self, accumulators: Accumulators, sides: Sides, every: Every, mask: str | None) -> None:
        """Some elements, or all, one after the other in the text."""
        for cell, leaves in self._folded(sides, every, mask).items():
            put(accumulators, 0, cell, leaves)

    def _subtrees(self, accumulators: Accumulators, parts: int, sides: Sides, mask: str | None) -> None:
        """Two or four subtrees, of every second or fourth element, one after the other: what the last two came to is held, the
        third joins the first, the fourth the second, and then these join."""
        routine, code = self._routine, self._routine.code
        with routine.count("0", str(parts)) as turn:
            folded = self._folded(sides, Every(code.hidden(turn, "i64"), parts, self._count // parts), mask)
            before = {cell: held(accumulators, 0, cell) for cell in folded}
            for cell, leaves in folded.items():
                put(accumulators, 0, cell, held(accumulators, 1, cell))
                put(accumulators, 1, cell, leaves)
            if parts > 2:
                with routine.when(code.emit(f"icmp sge i64 {turn}, 2")):
                    for cell, leaves in folded.items():
                        put(accumulators, 1, cell, self._merged(before[cell], leaves))
        for cell in folded:
            put(accumulators, 0, cell, self._merged(*(held(accumulators, part, cell) for part in (0, 1))))

    def _folded(self, sides: Sides, every: Every, mask: str | None) -> dict[Cell, Leaves]:
        """What some elements, or all, come to: they join as they come, in lanes with reversed bits."""
        of_rows, of_columns = ([elements(every) for elements in side] for side in sides)
        count, most = every.count, self._layout.tile.order_lanes // every.step
        bits = (min(count, most) - 1).bit_length()
        waiting: dict[Cell, list[Leaves | None]] = {
            (row, vector): [] for row in range(len(of_rows)) for vector in range(len(of_columns))
        }
        for place in range(1 << bits):
            lane = int(f"{place:0{bits}b}"[::-1], 2)
            for waits in waiting.values():
                waits.append(None)
            for number in range(lane, count, most):
                columns = [column(number, mask) for column in of_columns]
                rows = [row(number, None) for row in of_rows]
                for (row, vector), waits in waiting.items():
                    waits.append(self._with(waits.pop(), {**rows[row], **columns[vector]}))
            for waits in waiting.values():
                left = place
                while left % 2:
                    later, earlier, left = waits.pop(), waits.pop(), left // 2
                    waits.append(earlier if later is None or earlier is None else self._merged(earlier, later))
        return {cell: leaves for cell, (leaves,) in waiting.items() if leaves is not None}

    def _merged(self, left: Leaves, right: Leaves) -> Leaves:
        return {
            state.name: self._functions.apply(state.merge, [*left[state.name], *right[state.name]], None)
            for state in self._layout.states
        }

    def elements(self, side: Side, index: Uniform | Progression, at: Place | None) -> Elements:
        """What the side gives where its loop's index is `index`; `at`: where that stands, if not in its array."""
        read = matrix_of(self._layout.tile, side)
        if read is None:
            return lambda every: lambda number, mask: self._computed(side, index, self._number(every, number), mask)
        code, memory = self._routine.code, self._memory if isinstance(index, Progression) else self._scalars
        matrix, fold = read, self._layout.tile.fold.index
        made = {**self.batch, side.loop.index.name: index, fold.name: Uniform("0", I64)}
        if at is None:
            start = self._memory.address(matrix.array, Streams(self._memory, made).values(matrix.index))
            at = start, self._memory.view.stride(matrix.array, matrix.index.index(fold))
        start, stride = at

        def beyond(pointer: str, steps: str) -> str:
            known = stride.isdecimal() and steps.isdecimal()
            offset = str(int(stride) * int(steps)) if known else code.emit(f"mul i64 {stride}, {steps}")
            return code.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}")

        def elements(every: Every) -> Element:
            begin = start if every.step == 1 else beyond(start, every.first)

            def element(number: int, mask: str | None) -> dict[str, Value]:
                address = beyond(begin, str(every.step * number))
                return {matrix.out.name: memory.load_vector(matrix.array.element, address, mask)}

            return element

        return elements

    def _number(self, every: Every, number: int) -> Uniform:
        """Which element of the fold this one of a subtree is."""
        at = str(every.step * number)
        return Uniform(at if every.step == 1 else self._routine.code.emit(f"add i64 {every.first}, {at}"), I64)

    def _computed(self, side: Side, index: Value, fold: Value, mask: str | None) -> dict[str, Value]:
        """The side's streams where its loop's index is `index` and the fold's is `fold`."""
        made = {**self.batch, side.loop.index.name: index, self._layout.tile.fold.index.name: fold}
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


def held(accumulators: Accumulators, lane: int, cell: Cell) -> Leaves:
    """What one of a cell's places holds."""
    return {state.name: accumulators.get(state, lane, *cell) for state in accumulators.layout.states}


def put(accumulators: Accumulators, lane: int, cell: Cell, leaves: Leaves) -> None:
    """Changes it."""
    for state in accumulators.layout.states:
        accumulators.put(state, lane, *cell, leaves[state.name])
