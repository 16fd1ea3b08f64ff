"""Batches of small nests without packs: of a fold of few elements a tile reads both sides where they lie.

A fold that has at most one element for each lane of docs/order.md is a tree of all its elements. Its tile takes them in the
order of the lanes' reversed bits, so that they join as they come. To pack matrices of 4 x 4 took ten times as long as to
multiply them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Step, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value, Writer
from accel.backends.llvm.templates.tile.batch import put_batch
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Strip, Word
from accel.backends.llvm.templates.tile.packs import no_step
from accel.backends.llvm.templates.tile.strips import Accumulators
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import LoopBody, ManyToOne, OneToOne, Read
from accel.labelled.meaning.products import steps as element_steps
from accel.schedule.templates.tile import Side, Tile

COUNTS = (4, 8, 16)
"""How many elements a fold may have. There is code for each."""

ROWS = 4
"""Rows of a tile, which read a vector of columns together."""

Leaves: TypeAlias = Mapping[str, Sequence[Value]]
"""A vector of each leaf of each state, by name."""


def can_be_direct(tile: Tile) -> bool:
    """Whether the nest is a batch whose columns lie in lanes, and both sides only read arrays and compute."""
    sides = (*tile.rows.statements, *tile.columns.statements)
    plain = all(isinstance(statement, Read | OneToOne) for statement in sides)
    return bool(tile.batch) and plain and tile.order_lanes > 1 and not tile.columns.along_fold


def is_direct(code: Code, count: str) -> str:
    """Whether there is code for folds of so many elements."""
    known = "false"
    for each in COUNTS:
        known = code.emit(f"or i1 {known}, {code.emit(f'icmp eq i64 {count}, {each}')}")
    return known


class Direct:
    """`@<name>(frame, parameters, out, row, height, column, width)`: a tile from this row and column on.

    height and width: how many rows and columns of it there are. What stands beyond them in `out` is anything.
    """

    def __init__(self, name: str, layout: Layout, frame: Frame) -> None:
        where = "i64 %row, i64 %height, i64 %column, i64 %width"
        self.routine = Routine(f"void @{name}(ptr %frame, ptr %parameters, ptr noalias %out, {where})")
        self._layout = layout
        self._writer = Writer(self.routine.code, layout.lanes)
        self._memory = Memory(FrameView(self.routine, frame), self._writer, "ret void", None)
        self._functions = Functions(self._writer, self._memory)
        self._states = {state.name: state for state in layout.states}
        self._firsts = {
            state.name: element_steps(state.merge, state.monoid, state.types, state.products).first
            for state in layout.states
        }
        words = Parameters(self.routine, "%parameters")
        self._count = words.get(Word.COUNT)
        self._batch = words.batch(layout.tile)

    def write(self) -> Routine:
        """The whole function."""
        routine, code = self.routine, self.routine.code
        for count in COUNTS:
            with routine.when(code.emit(f"icmp eq i64 {self._count}, {count}")):
                self._tile(count)
        code.line("ret void")
        self._memory.close()
        return routine

    def _tile(self, count: int) -> None:
        """The tile, of which each element folds `count` elements: vector after vector."""
        routine, code, layout = self.routine, self.routine.code, self._layout
        strip = Strip(min(ROWS, layout.rows), 1, 1)
        accumulators = Accumulators(routine, self._writer, self._functions, layout, strip)
        last = code.emit("sub i64 %height, 1")
        # A row that is not there is the last one once more.
        there = [routine.least(str(number), last) for number in range(strip.rows)]
        rows = [Uniform(code.emit(f"add i64 %row, {number}"), I64) for number in there]
        with routine.count("0", code.parts("%width", str(layout.lanes))) as vector:
            first = code.emit(f"mul i64 {vector}, {layout.lanes}")
            columns = Progression(code.emit(f"add i64 %column, {first}"), 1)
            mask = self._writer.first_lanes(code.emit(f"sub i64 %width, {first}"))
            for number, folded in enumerate(self._folded(count, rows, columns, mask)):
                for state in layout.states:
                    accumulators.put(state, 0, number, 0, folded[state.name])
            accumulators.save("%out", "0", vector)

    def _folded(self, count: int, rows: Sequence[Uniform], columns: Progression, mask: str) -> list[Leaves]:
        """What the fold comes to for each row: elements join as they come."""
        waiting: list[list[Leaves]] = [[] for _ in rows]
        bits = count.bit_length() - 1
        for place in range(count):
            fold = Uniform(str(int(f"{place:0{bits}b}"[::-1], 2)), I64)
            of_columns = self._computed(self._layout.tile.columns, columns, fold, mask)
            for row, held in zip(rows, waiting, strict=True):
                of_row = self._computed(self._layout.tile.rows, row, fold, None)
                held.append(self._first({**of_row, **of_columns}))
                left = place
                while left % 2:
                    later, earlier, left = held.pop(), held.pop(), left // 2
                    held.append({name: self._merged(name, earlier, later) for name in later})
        return [held[0] for held in waiting]

    def _merged(self, name: str, left: Leaves, right: Leaves) -> Sequence[Value]:
        return self._functions.apply(self._states[name].merge, [*left[name], *right[name]], None)

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
        found = dict[str, list[Value]]()

        def step(
            statement: ManyToOne, values: Sequence[Value], mask: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            found[statement.state] = self._functions.apply(self._firsts[statement.state], values, None)
            return (), ()

        taken: Step = step
        statements = Statements(self._writer, self._memory, Streams(self._memory, made), taken)
        every: list[LoopBody] = [*self._layout.tile.inside, *self._layout.tile.steps]
        for statement in every:
            statements.masked(statement, None)
        return found


def some_directly(name: str, layout: Layout, size: int, frame: Frame) -> Routine:
    """`@<name>_directly(frame, parameters, low, high)`: some of a batch, tile by tile.

    size: the words of the parameters.
    """
    routine = Routine(f"void @{name}_directly(ptr %frame, ptr %parameters, i64 %low, i64 %high)", hot=False)
    code, given = routine.code, Parameters(routine, "%parameters")
    words = Parameters(routine, routine.slot("i64", size))
    for word in range(int(Word.BATCH)):
        words.put(word, given.get(word))
    streams = Streams(Memory(FrameView(routine, frame), Writer(code, 1), "ret void", None), {})
    extents = [Writer(code, 1).one(streams.value(loop.extent)) for loop in layout.tile.batch]
    out = routine.slot(f"[{layout.bytes} x i8]", align=64)
    rows, columns = given.get(Word.ROWS), given.get(Word.COLUMNS)
    with routine.count("%low", "%high") as number:
        put_batch(words, number, extents)
        high = min(ROWS, layout.rows)
        with routine.count("0", columns, layout.columns) as column, routine.count("0", rows, high) as row:
            height, width = (
                routine.least(code.emit(f"sub i64 {extent}, {begin}"), str(most))
                for extent, begin, most in ((rows, row, high), (columns, column, layout.columns))
            )
            where = f"ptr {out}, i64 {row}, i64 {height}, i64 {column}, i64 {width}"
            for function in ("direct", "finish"):
                code.line(f"call void @{name}_{function}(ptr %frame, ptr {words.pointer}, {where})")
    code.line("ret void")
    return routine
