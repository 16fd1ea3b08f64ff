"""One block in bands: while rows of one band are computed, the tiles of the next one are filled.

The rows are computed in turn with the groups of lanes that fill tiles. Stores past the caches wait for memory one after the
other, and what stands closely behind them runs meanwhile: filled first and written then, blocks take 1.2 times as long.
"""

from __future__ import annotations

from collections.abc import Mapping

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.values import Uniform
from accel.backends.llvm.loops.nest import Levels
from accel.backends.llvm.templates.bands.tile import BandTile, Shape
from accel.backends.llvm.templates.block_rows import Rows
from accel.backends.llvm.templates.tiles import Piece
from accel.schedule.templates.blocks import Blocks


class Bands:
    """The blocks of one function."""

    def __init__(
        self, levels: Levels, blocks: Blocks, shape: Shape, vector: int, before: str, *, written_out: bool
    ) -> None:
        """`vector`: the lanes of the vectors in which rows are computed. `before`: how many rows before the first block bands
        begin. written_out: whether the vectors of whole rows are."""
        self._levels = levels
        self._lanes, (self._axis,) = blocks.lanes, blocks.axes
        self._shape = shape
        self._before = before
        self._written_out = written_out
        self._tiles = [BandTile(levels, each, self._lanes, self._axis, shape, vector) for each in blocks.across]
        self._rows = Rows(levels, blocks, self._tiles, vector, whole_lines=True)
        self._beyond = self._rows.beyond()

    def write(self, pieces: Mapping[str, Piece]) -> None:
        """A block."""
        routine, code, shape = self._levels.routine, self._levels.routine.code, self._shape
        lanes, along = pieces[self._lanes.index.name], pieces[self._axis.index.name]
        end = routine.least(code.emit(f"add i64 {lanes.high}, {self._beyond}"), self._levels.extent(self._lanes))
        is_first = code.emit(f"icmp eq i64 {along.low}, 0")
        before = code.emit(f"select i1 {is_first}, i64 {self._before}, i64 0")
        for tile in self._tiles:
            tile.begin(Piece(lanes.low, end), along, lanes.high, before)
        extent = code.emit(f"sub i64 {along.high}, {along.low}")
        width = code.emit(f"sub i64 {end}, {lanes.low}")
        groups = code.parts(width, str(shape.group))
        # Rows of other blocks may begin anywhere in a line.
        whole = code.emit(f"icmp eq i64 {width}, {shape.lanes}")
        whole = code.emit(f"and i1 {whole}, {code.emit(f'icmp eq i64 {self._beyond}, 0')}")
        done = routine.slot("i64")
        routine.store("i64", "0", done)
        # A turn more than there are bands: it only writes.
        turns = code.emit(f"add i64 {code.emit(f'add i64 {extent}, {before}')}, {shape.height}")
        with routine.count("0", turns, shape.height) as place:
            start = code.emit(f"sub i64 {place}, {before}")
            first = code.call("llvm.smax.i64", "i64", ["i64", "i64"], [f"i64 {start}", "i64 0"])
            filled = routine.least(first, extent)
            stop = routine.least(code.emit(f"add i64 {start}, {shape.height}"), extent)
            band = code.emit(f"sub i64 {stop}, {first}")
            share = code.parts(code.emit(f"sub i64 {filled}, {routine.load('i64', done)}"), groups)
            with routine.count("0", groups) as group:
                with routine.when(code.emit(f"icmp sgt i64 {band}, 0")):
                    for tile in self._tiles:
                        tile.fill_group(place, first, band, group)
                some = code.emit(f"add i64 {routine.load('i64', done)}, {share}")
                self._write_rows(lanes, along, done, routine.least(some, filled), whole)

    def _write_rows(self, lanes: Piece, along: Piece, done: str, stop: str, whole: str) -> None:
        """Rows from the one on whose number is in the slot `done`, up to before `stop`."""
        routine = self._levels.routine
        if self._written_out:
            with (
                routine.when(whole),
                routine.advance(done, stop, 1) as row,
            ):
                self._row(lanes, along, row, written_out=True)
        # None are left of those that are whole.
        with routine.advance(done, stop, 1) as row:
            self._row(lanes, along, row, written_out=False)

    def _row(self, lanes: Piece, along: Piece, row: str, *, written_out: bool) -> None:
        """One row of a block, by its number."""
        made = self._levels.streams.made
        outside = dict(made)
        made[self._axis.index.name] = Uniform(self._levels.routine.code.emit(f"add i64 {along.low}, {row}"), I64)
        tiles = [tile.row({self._axis.index.name: row}) for tile in self._tiles]
        if written_out:
            self._rows.whole_row(lanes, self._shape.lanes, tiles)
        else:
            self._rows.row(lanes, tiles)
        made.clear()
        made.update(outside)
