"""Maps in blocks: tiles of the arrays that run across are filled, then rows of the block are computed in vectors.

A block is some cache lines of each such array, and some of what is written: memory is slow where every line is another
row's. Blocks follow each other along the arrays' own axis, and what the next one reads is asked for while rows are computed.

With registers of less than 64 bytes blocks are longer. Where what is written goes past the caches they end, in each row, with
a line, so that every line is stored once: a part of one is read from memory first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NoReturn

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.transpose import rows_at_once
from accel.backends.llvm.emit.values import Progression, Uniform, Value, Writer
from accel.backends.llvm.loops.chunks import leave_if_failed
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.schedule import note_streaming
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.launch import launch
from accel.backends.llvm.templates.tiles import LINE, SLACK, Piece, Tile, iterations
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import STREAMING
from accel.ir.nodes import For, Write
from accel.labelled.array import Array
from accel.schedule.templates.blocks import Across, Blocks

REGISTER_BYTES = 64

SEQUENCE = 256
"""Bytes that are read, or written, one after the other before another row's turn comes: about as many as it takes until
memory is as fast as it is for long rows. A tile of so many each way is a small part of the first cache."""

LONGER = 2
"""How many times as long what is written is where it goes past the caches: memory takes longer pieces faster, and what of a
tile does not fit into the first cache any more comes from the second in less time."""

MOST = 128
"""The most elements of a block along an axis; of what is written `LONGER` times as many."""

SEVERAL = 16
"""The same where arrays run along two other axes."""

FURTHER = 4
"""How many times as long what is read is with registers of less than 64 bytes."""

TILE_BYTES = 1 << 17
"""Of all tiles together then, or less is read, down to `SEQUENCE`: a quarter of a second cache, and no burden of a stack."""


class BlockLoops:
    """One nest in blocks: an `Alternative` to its rows."""

    def __init__(self, text: NestText, blocks: Blocks, lanes: int) -> None:
        """`lanes` of the vectors in which the nest's statements are computed."""
        self._text = text
        self._blocks = blocks
        self._lanes = lanes
        self._long = host().registers.bytes < REGISTER_BYTES
        self._most = _sizes(blocks)
        if self._long and len(blocks.axes) == 1:
            self._most[blocks.axes[0].index.name] = _further(blocks, self._most[blocks.lanes.index.name])

    def applies(self, levels: Levels) -> str:
        """Whether there are as many lanes as rows are transposed at once: an i1."""
        least = max(rows_at_once(each.read.array.element) for each in self._blocks.across)
        return levels.routine.code.emit(f"icmp sge i64 {levels.extent(self._blocks.lanes)}, {least}")

    def run(self, levels: Levels) -> None:
        """All blocks."""
        code, total, elements = levels.routine.code, "1", "1"
        extents = [(loop, levels.extent(loop)) for loop in self._blocks.loops]
        for _, extent in extents:
            elements = code.emit(f"mul i64 {elements}, {extent}")
        note_streaming(self._text, levels, elements, 1)
        sizes = self._sizes(levels)
        for loop, extent in extents:
            total = code.emit(f"mul i64 {total}, {self._count(levels, sizes, loop, extent)}")
        self._text.routines.append(self._routine())
        launch(self._text, levels, f"{self._text.name}_blocks", total, elements, prod(self._most.values()))

    def _sizes(self, levels: Levels) -> dict[str, str]:
        """How many iterations of each loop a block has, by the name of its index; of all others it has 1."""
        code, lanes = levels.routine.code, self._blocks.lanes.index.name
        # The launch says it after its entry block, where words are loaded.
        large = code.emit(f"icmp ne i64 {levels.routine.load('i64', levels.view.address(STREAMING))}, 0")
        few = max(1, self._most[lanes] // LONGER)
        sizes = {name: str(most) for name, most in self._most.items()}
        return {**sizes, lanes: code.emit(f"select i1 {large}, i64 {self._most[lanes]}, i64 {few}")}

    def _count(self, levels: Levels, sizes: Mapping[str, str], loop: For, extent: str) -> str:
        """How many pieces a loop has."""
        size = sizes.get(loop.index.name)
        return extent if size is None else levels.routine.code.parts(extent, size)

    def _routine(self) -> Routine:
        """`@<name>_blocks(frame, low, high)`: some of the blocks."""
        routine = Routine(f"void @{self._text.name}_blocks(ptr %frame, i64 %low, i64 %high)")
        levels, blocks = Levels(self._text, routine, "ret void"), self._blocks
        leave_if_failed(levels)
        tiles = [
            Tile(levels, each, blocks.lanes, blocks.axes, self._room(each), long=self._long) for each in blocks.across
        ]
        extents = [(loop, levels.extent(loop)) for loop in self._in_order()]
        sizes = self._sizes(levels)
        counts = [self._count(levels, sizes, loop, extent) for loop, extent in extents]
        rows = Rows(levels, blocks, tiles, self._lanes, whole_lines=self._long)
        beyond = rows.beyond() if self._long else "0"
        with routine.count("%low", "%high") as number:
            pieces = self._pieces(levels, number, extents, counts, sizes)
            high = None
            if self._long:
                most = routine.code.emit(f"add i64 {pieces[blocks.lanes.index.name].high}, {beyond}")
                high = routine.least(most, levels.extent(blocks.lanes))
            for tile in tiles:
                tile.fill(pieces, high)
            rows.write(pieces)
        with routine.when(routine.code.emit(f"icmp ne i64 {levels.view.word(STREAMING)}, 0")):
            levels.memory.finish_past_caches()
        routine.code.line("ret void")
        levels.memory.close()
        return routine

    def _room(self, across: Across) -> dict[str, int]:
        """The sizes of a tile. Where lines end blocks its rows are up to a vector longer, and an odd number of lines apart, so
        that they lie in all sets of a cache."""
        lanes, size = self._blocks.lanes.index.name, across.read.array.element.bytes
        if not self._long:
            return self._most
        lines = -(-(self._most[lanes] + self._lanes + 2 * SLACK) * size // LINE) | 1
        return {**self._most, lanes: lines * LINE // size - 2 * SLACK}

    def _in_order(self) -> list[For]:
        """The loops as blocks follow each other, the slowest first."""
        inner = (self._blocks.lanes, *self._blocks.axes)
        return [*(loop for loop in self._blocks.loops if loop not in inner), *inner]

    def _pieces(
        self,
        levels: Levels,
        number: str,
        extents: Sequence[tuple[For, str]],
        counts: Sequence[str],
        sizes: Mapping[str, str],
    ) -> dict[str, Piece]:
        """The block of that number; puts the indices of the loops that are not cut into scope."""
        code, pieces = levels.routine.code, {}
        for (loop, extent), count in reversed([*zip(extents, counts, strict=True)]):
            name, size = loop.index.name, sizes.get(loop.index.name)
            place = code.emit(f"urem i64 {number}, {count}")
            number = code.emit(f"udiv i64 {number}, {count}")
            if size is None:
                levels.streams.made[name] = Uniform(place, I64)
                continue
            low = code.emit(f"mul i64 {place}, {size}")
            pieces[name] = Piece(low, levels.routine.least(code.emit(f"add i64 {low}, {size}"), extent))
        return pieces


def _sizes(blocks: Blocks) -> dict[str, int]:
    """How many iterations of each loop a block has, by the name of its index: 1 of all others."""
    widest = max(each.read.array.element.bytes for each in blocks.across)
    along = min(MOST, SEQUENCE // widest) if len(blocks.axes) == 1 else SEVERAL
    lanes = {blocks.lanes.index.name: LONGER * min(MOST, SEQUENCE // widest)}
    return lanes | {each.index.name: along for each in blocks.axes}


def _further(blocks: Blocks, lanes: int) -> int:
    """How many iterations of its one axis a block has where registers have less than 64 bytes, a power of two."""
    widths = [each.read.array.element.bytes for each in blocks.across]
    least = min(MOST, SEQUENCE // max(widths))
    most = min(FURTHER * least, TILE_BYTES // (lanes * sum(widths)))
    return max(least, 1 << (most.bit_length() - 1))


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
        self._whole_lines = whole_lines

    def beyond(self) -> str:
        """How many lanes more than a block has its rows may need, to end with lines: 0 if all rows begin with one."""
        code, view, writes = self._levels.routine.code, self._levels.view, self._writes()
        if not writes:
            return "0"
        array = writes[0].array
        size = array.element.bytes * self._writer.lanes
        odd = code.emit(f"ptrtoint ptr {view.data(array)} to i64")
        for dimension in range(len(array.shape) - 1):
            odd = code.emit(f"or i64 {odd}, {view.stride(array, dimension)}")
        some = code.emit(f"icmp ne i64 {code.emit(f'and i64 {odd}, {size - 1}')}, 0")
        large = code.emit(f"icmp ne i64 {view.word(STREAMING)}, 0")
        return code.emit(f"select i1 {code.emit(f'and i1 {some}, {large}')}, i64 {self._writer.lanes - 1}, i64 0")

    def write(self, pieces: Mapping[str, Piece]) -> None:
        """All rows of a block whose tiles are full."""
        made = self._levels.streams.made
        outside = dict(made)
        with iterations(self._levels, self._blocks.axes, pieces) as at:
            for tile, across in zip(self._tiles, self._blocks.across, strict=True):
                tile.ask_ahead(at[across.axis.index.name])
            self._row(pieces[self._blocks.lanes.index.name], [tile.row(at) for tile in self._tiles])
        made.clear()
        made.update(outside)

    def _row(self, piece: Piece, tiles: Sequence[str]) -> None:
        """A head up to where stores past the caches may begin, if there are any; vectors; what is left, under a mask."""
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
        past = {write.array: self._goes_past_caches(write, start) for write in self._writes()}
        last = code.emit(f"sub i64 {high}, {lanes - 1}")
        with routine.advance(position, last, lanes) as at:
            self._vector(piece, at, tiles, None, past)
        rest = routine.load("i64", position)
        with routine.when(code.emit(f"icmp slt i64 {rest}, {high}")):
            mask = self._writer.first_lanes(code.emit(f"sub i64 {high}, {rest}"))
            self._vector(piece, rest, tiles, mask, {})

    def _writes(self) -> list[Write]:
        return [s for s in self._blocks.statements if isinstance(s, Write) and s.when is None]

    def _head(self, low: str, high: str) -> str:
        """How many elements of a row, from `low` to before `high`, stand before a vector's boundary in what is written first;
        0 if all fits into caches."""
        code, writes = self._levels.routine.code, self._writes()
        if not writes:
            return "0"
        array = writes[0].array
        code_address = self._memory.address(array, self._index(writes[0], low))
        address = code.emit(f"ptrtoint ptr {code_address} to i64")
        over = code.emit(
            f"and i64 {code.emit(f'sub i64 0, {address}')}, {array.element.bytes * self._writer.lanes - 1}"
        )
        large = code.emit(f"icmp ne i64 {self._levels.view.word(STREAMING)}, 0")
        elements = code.emit(f"sdiv i64 {over}, {array.element.bytes}")
        some = self._levels.routine.least(elements, code.emit(f"sub i64 {high}, {low}"))
        return code.emit(f"select i1 {large}, i64 {some}, i64 0")

    def _goes_past_caches(self, write: Write, position: str) -> str:
        return self._memory.goes_past_caches(write.array, self._index(write, position))

    def _index(self, write: Write, position: str) -> list[Value]:
        outer = self._levels.streams.values(write.index[:-1])
        return [*outer, Uniform(position, I64)]

    def _vector(self, piece: Piece, at: str, tiles: Sequence[str], mask: str | None, past: Mapping[Array, str]) -> None:
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
        statements = Statements(self._writer, self._memory, streams, _no_step, dict(past))
        for statement in self._blocks.statements:
            statements.masked(statement, mask)


def _no_step(*_: object) -> NoReturn:
    raise AssertionError("maps have no states")
