"""Maps in blocks: tiles of the arrays that run across are filled, then rows of the block are computed in vectors.

A block is some cache lines of each such array, and some of what is written: memory is slow where every line is another
row's. Blocks follow each other along the arrays' own axis, and what the next one reads is asked for while rows are computed.

With registers of less than 64 bytes blocks are longer. Where what is written goes past the caches they end, in each row, with
a line, so that every line is stored once: a part of one is read from memory first. With registers of 64 bytes blocks of which
arrays run along one axis are in bands (`bands/loops.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.lanes.transpose import rows_at_once
from accel.backends.llvm.emit.stores import is_large
from accel.backends.llvm.emit.values import Uniform
from accel.backends.llvm.loops.chunks import leave_if_failed
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.schedule import note_streaming
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.block_rows import Rows
from accel.backends.llvm.templates.launch import launch
from accel.backends.llvm.templates.tiles import Piece, Tile, room
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import For
from accel.schedule.templates.blocks import Across, Blocks

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

    together = 1
    """Blocks that a chunk may have."""

    def __init__(self, text: NestText, blocks: Blocks, lanes: int) -> None:
        """`lanes` of the vectors in which the nest's statements are computed."""
        self._text = text
        self._blocks = blocks
        self._lanes = lanes
        self._long = host().processor.registers.bytes < REGISTER_BYTES
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
        sizes = self._sizes(note_streaming(self._text, levels, elements, 1), levels)
        for loop, extent in extents:
            total = code.emit(f"mul i64 {total}, {self._count(levels, sizes, loop, extent)}")
        self._text.routines.append(self._routine())
        size = prod(self._most.values())
        launch(self._text, levels, f"@{self._text.name}_blocks", total, elements, size, self.together)

    def _sizes(self, large: str, levels: Levels) -> dict[str, str]:
        """How many iterations of each loop a block has, by the name of its index, if the result is `large`, an i1, or is not;
        of all others it has 1."""
        code, lanes = levels.routine.code, self._blocks.lanes.index.name
        few = max(1, self._most[lanes] // LONGER)
        sizes = {name: str(most) for name, most in self._most.items()}
        return {**sizes, lanes: code.emit(f"select i1 {large}, i64 {self._most[lanes]}, i64 {few}")}

    def _count(self, levels: Levels, sizes: Mapping[str, str], loop: For, extent: str) -> str:
        """How many pieces a loop has."""
        size = sizes.get(loop.index.name)
        return extent if size is None else self._parts(levels, loop, size)

    def _parts(self, levels: Levels, loop: For, size: str) -> str:
        """How many pieces of some size a loop has."""
        return levels.routine.code.parts(levels.extent(loop), size)

    def _piece(self, levels: Levels, loop: For, size: str, number: str, count: str) -> Piece:
        """The piece of that number, of so many."""
        code = levels.routine.code
        low = code.emit(f"mul i64 {number}, {size}")
        return Piece(low, levels.routine.least(code.emit(f"add i64 {low}, {size}"), levels.extent(loop)))

    def _routine(self) -> Routine:
        """`@<name>_blocks(frame, low, high)`: some of the blocks."""
        routine = Routine(f"void @{self._text.name}_blocks(ptr %frame, i64 %low, i64 %high)")
        levels = Levels(self._text, routine, "ret void")
        leave_if_failed(levels.view)
        write = self._block(levels)
        extents = [(loop, levels.extent(loop)) for loop in self._in_order()]
        sizes = self._sizes(is_large(levels.view), levels)
        counts = [(loop, self._count(levels, sizes, loop, extent)) for loop, extent in extents]
        with routine.count("%low", "%high") as number:
            write(self._pieces(levels, number, counts, sizes))
        routine.code.line("ret void")
        levels.memory.close()
        return routine

    def _block(self, levels: Levels) -> Callable[[Mapping[str, Piece]], None]:
        """What writes a block: all its tiles, then its rows."""
        blocks, routine = self._blocks, levels.routine
        tiles = [
            Tile(levels, each, blocks.lanes, blocks.axes, self._room(each), long=self._long) for each in blocks.across
        ]
        rows = Rows(levels, blocks, tiles, self._lanes, whole_lines=self._long)
        beyond = rows.beyond() if self._long else "0"

        def write(pieces: Mapping[str, Piece]) -> None:
            high = None
            if self._long:
                most = routine.code.emit(f"add i64 {pieces[blocks.lanes.index.name].high}, {beyond}")
                high = routine.least(most, levels.extent(blocks.lanes))
            for tile in tiles:
                tile.fill(pieces, high)
            rows.write(pieces)

        return write

    def _room(self, across: Across) -> dict[str, int]:
        """The sizes of a tile. Where lines end blocks its rows are up to a vector longer."""
        if not self._long:
            return self._most
        lanes = self._blocks.lanes.index.name
        return {**self._most, lanes: room(across.read.array.element, self._most[lanes] + self._lanes)}

    def _in_order(self) -> list[For]:
        """The loops as blocks follow each other, the slowest first."""
        inner = (self._blocks.lanes, *self._blocks.axes)
        return [*(loop for loop in self._blocks.loops if loop not in inner), *inner]

    def _pieces(
        self, levels: Levels, number: str, counts: Sequence[tuple[For, str]], sizes: Mapping[str, str]
    ) -> dict[str, Piece]:
        """The block of that number; puts the indices of the loops that are not cut into scope."""
        pieces, places = dict[str, Piece](), levels.routine.code.indices(number, [count for _, count in counts])
        for (loop, count), place in zip(counts, places, strict=True):
            name, size = loop.index.name, sizes.get(loop.index.name)
            if size is None:
                levels.streams.made[name] = Uniform(place, I64)
            else:
                pieces[name] = self._piece(levels, loop, size, place, count)
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
