"""The rows of a block, computed in vectors from tiles in the place of arrays (`blocks.py`, `bands/block.py`).

Where blocks end with lines, a row begins behind the lines that the block before it has stored, and ends with a line that the
next one begins in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.past_caches import RowStores
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.stores import Stores, is_large
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.nest import Levels
from accel.backends.llvm.templates.tiles import Piece, Tile, iterations
from accel.errors import AccelInternalError
from accel.ir.nodes import Write
from accel.labelled.array import Array
from accel.schedule.templates.blocks import Blocks


class Rows:
    """The rows of a block, computed in vectors: what the nest's statements do with tiles in the place of arrays.

    whole_lines: whether blocks end with lines where what is written first goes past the caches.
    """

    def __init__(self, levels: Levels, blocks: Blocks, tiles: Sequence[Tile], lanes: int, *, whole_lines: bool) -> None:
        self._levels = levels
        self._blocks = blocks
        self._tiles = tiles
        self._writer = Writer(levels.routine.code, lanes)
        self._memory = levels.memory.with_writer(self._writer)
        self._choice = Stores(self._memory, self._writer)
        self._whole_lines = whole_lines

    def beyond(self) -> str:
        """How many lanes more than a block has its rows may need, to end with lines: 0 if all rows begin with one."""
        code, view, writes = self._levels.routine.code, self._levels.view, self._writes()
        if not writes:
            return "0"
        array = writes[0].array
        aligned = self._choice.all_aligned(array, code.emit(f"ptrtoint ptr {view.data(array)} to i64"))
        more = code.emit(f"select i1 {is_large(view)}, i64 {self._writer.lanes - 1}, i64 0")
        return code.emit(f"select i1 {aligned}, i64 0, i64 {more}")

    def write(self, pieces: Mapping[str, Piece]) -> None:
        """All rows of a block whose tiles are full."""
        made = self._levels.streams.made
        outside = dict(made)
        with iterations(self._levels, self._blocks.axes, pieces) as at:
            for tile, across in zip(self._tiles, self._blocks.across, strict=True):
                tile.ask_ahead(at[across.axis.index.name])
            self.row(pieces[self._blocks.lanes.index.name], [tile.row(at) for tile in self._tiles])
        made.clear()
        made.update(outside)

    def row(self, piece: Piece, tiles: Sequence[str]) -> None:
        """One row, from where tiles have it: a head up to where stores past the caches may begin, if there are any; vectors;
        what is left, under a mask."""
        routine, code, lanes = self._levels.routine, self._levels.routine.code, self._writer.lanes
        position = routine.slot("i64")
        routine.store("i64", piece.low, position)
        head, high = self._head(piece.low, piece.high), piece.high
        has_head = code.emit(f"icmp sgt i64 {head}, 0")
        if self._whole_lines:
            # The block before has computed them, but for the first.
            routine.store("i64", code.emit(f"add i64 {piece.low}, {head}"), position)
            has_head = code.emit(f"and i1 {has_head}, {code.emit(f'icmp eq i64 {piece.low}, 0')}")
            extent = self._levels.extent(self._blocks.lanes)
            high = code.emit(f"add i64 {high}, {self._head(high, extent)}")
        with routine.when(has_head):
            self._vector(piece, piece.low, tiles, self._writer.first_lanes(head), {})
            routine.store("i64", code.emit(f"add i64 {piece.low}, {head}"), position)
        start = routine.load("i64", position)
        stores = self._stores(start)
        last = code.emit(f"sub i64 {high}, {lanes - 1}")
        with routine.advance(position, last, lanes) as at:
            self._vector(piece, at, tiles, None, stores)
        rest = routine.load("i64", position)
        with routine.when(code.emit(f"icmp slt i64 {rest}, {high}")):
            mask = self._writer.first_lanes(code.emit(f"sub i64 {high}, {rest}"))
            self._vector(piece, rest, tiles, mask, {})

    def whole_row(self, piece: Piece, lanes: int, tiles: Sequence[str]) -> None:
        """One row of `lanes`, all of whose vectors begin where they may be stored past the caches."""
        code = self._levels.routine.code
        stores = self._stores(piece.low)
        for lane in range(0, lanes, self._writer.lanes):
            self._vector(piece, code.emit(f"add i64 {piece.low}, {lane}"), tiles, None, stores)

    def _writes(self) -> list[Write]:
        return [s for s in self._blocks.statements if isinstance(s, Write) and s.when is None]

    def _head(self, low: str, high: str) -> str:
        """How many elements of a row, from `low` to before `high`, stand before a vector's boundary in what is written first;
        0 if all fits into caches."""
        routine, writes = self._levels.routine, self._writes()
        if not writes:
            return "0"
        before = self._choice.before_vectors(writes[0].array, self._index(writes[0], low))
        return routine.least(before, routine.code.emit(f"sub i64 {high}, {low}"))

    def _stores(self, position: str) -> dict[Array, RowStores]:
        """Those of a row from a position on."""
        return {write.array: self._choice.row(write.array, self._index(write, position)) for write in self._writes()}

    def _index(self, write: Write, position: str) -> list[Value]:
        outer = self._levels.streams.values(write.index[:-1])
        return [*outer, Uniform(position, I64)]

    def _vector(
        self, piece: Piece, at: str, tiles: Sequence[str], mask: str | None, stores: Mapping[Array, RowStores]
    ) -> None:
        """The statements from iteration `at` on."""
        code = self._levels.routine.code
        made = dict(self._levels.streams.made)
        made[self._blocks.lanes.index.name] = Progression(at, 1)
        place = code.emit(f"sub i64 {at}, {piece.low}")
        for across, tile in zip(self._blocks.across, tiles, strict=True):
            kind = across.read.array.element
            address = code.emit(f"getelementptr i8, ptr {tile}, i64 {code.emit(f'mul i64 {place}, {kind.bytes}')}")
            made[across.read.out.name] = self._memory.load_vector(kind, address, None)
        streams = Streams(self._memory, made)
        statements = Statements(self._writer, self._memory, streams, _no_step, stores)
        for statement in self._blocks.statements:
            statements.masked(statement, mask)


def _no_step(*_: object) -> NoReturn:
    raise AccelInternalError("maps have no states")
