"""What the functions of a tiled nest agree on: how large a tile is, where streams stand in packs, which word says what.

A panel is as many rows, or columns, as a tile has, with all that the tile needs of them: position after position, in the order
in which the fold visits them. A tile's partial results stand leaf by leaf, row by row, vector by vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import IntEnum, auto

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.machine.processor import Processor, Registers
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.plain import Plain, plain
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import State, Stream
from accel.schedule.templates.tile import Side, Tile
from accel.support.dataclass import dataclass

HIGHEST = 8
"""The most rows of a tile."""


class Word(IntEnum):
    """Words of a block of parameters; the indices of the loops around follow."""

    ROW_PACK = 0
    COLUMN_PACK = auto()
    PLACES = auto()
    LEVELS = auto()
    ROW = auto()
    """The first row of the part at hand."""
    ROWS = auto()
    COLUMN = auto()
    COLUMNS = auto()
    FIRST = auto()
    """The first of the elements that are folded."""
    COUNT = auto()
    LOG = auto()
    """Of the number of lanes."""
    STEPS = auto()
    """Of the longest lane."""
    LONGER = auto()
    """A bit for each lane that has a step which others lack, in the order in which lanes are visited."""
    BLOCK = auto()
    """The number of the block of 4096 elements."""
    LAST = auto()
    """Whether it is the last one."""
    CHUNK_ROWS = auto()
    """Panels of rows in a chunk."""
    CHUNK_COLUMNS = auto()
    ODD = auto()
    """Whether something was packed that is not plain (`odd.py`)."""
    BATCH = auto()


class Parameters:
    """A block of words, of which some function has the address."""

    def __init__(self, routine: Routine, pointer: str) -> None:
        self.routine = routine
        self.pointer = pointer

    def get(self, word: int) -> str:
        """The word."""
        return self.routine.load("i64", self.routine.offset(self.pointer, int(word)))

    def pack(self, word: Word) -> str:
        """The address in the word."""
        return self.routine.load("ptr", self.routine.offset(self.pointer, int(word)))

    def put(self, word: int, value: str, type_: str = "i64") -> None:
        """Changes the word."""
        self.routine.store(type_, value, self.routine.offset(self.pointer, int(word)))

    def batch(self, tile: Tile) -> dict[str, Value]:
        """The indices of the loops around."""
        words = {loop.index.name: self.get(Word.BATCH + depth) for depth, loop in enumerate(tile.batch)}
        return {name: Uniform(word, I64) for name, word in words.items()}


@dataclass(frozen=True, slots=True)
class Panel:
    """One side's panels: `width` rows or columns, and room for `room`; of each position the streams stand at `offsets`,
    together `bytes`."""

    side: Side
    width: int
    room: int
    offsets: tuple[int, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Strip:
    """A part of a tile, of so many rows and vectors, for which `lanes` lanes of the order are computed at once.

    Their partial results join in registers: only what they come to goes to memory.
    """

    rows: int
    vectors: int
    lanes: int


@dataclass(frozen=True, slots=True)
class Layout:
    """How a nest is tiled on this machine: `lanes` columns to a vector, `vectors` of them and `rows` to a tile.

    plain: how folds join where packs are plain, if that is faster.
    short: the strips of a tile whose lanes have at most `few` elements. single: those of one whose lanes have one element each.
    uneven: those of one of whose lanes some have none, with the most lanes first.
    """

    tile: Tile
    lanes: int
    vectors: int
    row_panel: Panel
    column_panel: Panel
    short: Strip
    single: Strip
    uneven: tuple[Strip, ...]
    few: int
    plain: Plain | None

    @property
    def rows(self) -> int:
        """Rows of a tile."""
        return self.row_panel.width

    @property
    def columns(self) -> int:
        """Columns of a tile."""
        return self.column_panel.width

    @property
    def whole(self) -> Strip:
        """The tile as one strip, a lane at a time."""
        return Strip(self.rows, self.vectors, 1)

    @property
    def states(self) -> Sequence[State]:
        """What the tile folds."""
        return self.tile.fold.states

    @property
    def bytes(self) -> int:
        """Of a tile's partial results."""
        return self.strip_bytes(self.whole)

    def strip_bytes(self, strip: Strip) -> int:
        """Of a strip's partial results, of one lane."""
        elements = strip.rows * strip.vectors * self.lanes
        return elements * sum(final.type.bytes for state in self.states for final in state.finals)


def host_layout(tile: Tile) -> Layout:
    """The layout for this machine."""
    return _layout(tile, host().processor)


def _layout(tile: Tile, processor: Processor) -> Layout:
    """The tile with the fewest loads for each step whose accumulators leave registers for what they take in.

    After Low et al., Analytical Modeling Is Enough for High-Performance BLIS, ACM TOMS 43 (2016), section 4.1.
    """
    registers = processor.registers
    leaves = [final.type.bytes for state in tile.fold.states for final in state.finals]
    lanes = registers.bytes // max([*leaves, *(stream.type.bytes for stream in tile.columns.streams)])
    rows, vectors = min(_shapes(tile, registers, len(leaves)), key=lambda shape: sum(shape) / (shape[0] * shape[1]))
    panels = _panel(tile.rows, rows), _panel(tile.columns, lanes * vectors)
    short = _short(rows, vectors, registers)
    single, uneven = _single(tile, rows, vectors, registers, len(leaves))
    few = processor.few_steps(products=not tile.inside)
    return Layout(tile, lanes, vectors, *panels, short, single, uneven, few, plain(tile))


def _short(rows: int, vectors: int, registers: Registers) -> Strip:
    """The tile cut in halves, two or four times as many lanes for each part: as many accumulators as the tile has."""
    lanes, most = 1, 4 if registers.many else 2
    while lanes < most and (rows, vectors) != (1, 1):
        if vectors > 1 and (rows == 1 or registers.many):
            vectors //= 2
        else:
            rows = (rows + 1) // 2
        lanes *= 2
    return Strip(rows, vectors, lanes)


def _single(tile: Tile, rows: int, vectors: int, registers: Registers, leaves: int) -> tuple[Strip, tuple[Strip, ...]]:
    """With many registers one vector of all rows: results, columns of each lane, and what waits in the tree of lanes stay in
    registers. With few of them all vectors of a row or two: what a row gives is brought into all lanes once for these, and
    columns are read by the instructions that take them. Uneven lanes have branches, so one row of 8 lanes is enough for them;
    folds of 3 or 4 elements have strips of their own."""
    lanes = 8
    if not registers.many:
        strip = Strip(min(rows, 2), vectors, lanes)
        return strip, (replace(strip, rows=1), replace(strip, lanes=4))
    while (
        lanes > 2 and rows * leaves + lanes * len(tile.columns.streams) + lanes.bit_length() * leaves > registers.count
    ):
        lanes //= 2
    strip = Strip(rows, 1, lanes)
    return strip, (strip,)


def _shapes(tile: Tile, registers: Registers, leaves: int) -> Iterator[tuple[int, int]]:
    """Rows and vectors that fit: accumulators, vectors of columns, a row in all lanes, and what a step makes in between."""
    for vectors in (4, 2, 1):
        taken = vectors * len(tile.columns.streams) + len(tile.rows.streams) + leaves
        yield min(HIGHEST, max(1, (registers.count - taken) // (vectors * leaves))), vectors


def _panel(side: Side, width: int) -> Panel:
    room = 1 << (width - 1).bit_length()
    offsets, size = [], 0
    for stream in sorted(side.streams, key=_bytes, reverse=True):
        offsets.append((stream, size))
        size += room * stream.type.bytes
    places = dict(offsets)
    return Panel(side, width, room, tuple(places[stream] for stream in side.streams), size)


def _bytes(stream: Stream) -> int:
    return stream.type.bytes
