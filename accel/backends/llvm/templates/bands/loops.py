"""Maps in blocks of bands, where registers have 64 bytes and arrays run along one axis only: an `Alternative` to rows.

A band is as many rows as a cache line of what runs across has elements, so that each line is loaded once. Blocks follow each
other along what is written, or along what is read (`Processor.reads_on`). Where the first line of what runs across begins
before it, so do bands: then all but the first begin with lines, if rows lie whole lines apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from accel.backends.llvm.emit.lanes.transpose import rows_at_once
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.machine.processor import LINE, REGISTER_BYTES
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.bands.block import Bands
from accel.backends.llvm.templates.bands.tile import Shape
from accel.backends.llvm.templates.blocks import BlockLoops
from accel.backends.llvm.templates.tiles import Piece
from accel.ir.nodes import For
from accel.schedule.templates.blocks import Blocks

WRITTEN = 256
"""Bytes of a row that a block writes: a few lines, of so few rows that what is read of each is long."""

READ = 1 << 17
"""Bytes that a block reads. These and the next block's are a part of a second cache."""

HIGHEST = 32
"""The most rows of a band: the tiles of two are a part of a first cache."""

TOGETHER = 8
"""Blocks that a chunk may have: what one reads is asked for while the one before it is computed."""

CHEAP = 0.1
"""Nanoseconds of an iteration's instructions up to which the vectors of a row are written out."""


def runs_in_bands(blocks: Blocks) -> bool:
    """Whether the nest does, on this processor: where registers are shorter, longer blocks are faster (`blocks.py`)."""
    return host().processor.registers.bytes >= REGISTER_BYTES and len(blocks.axes) == 1


class BandLoops(BlockLoops):
    """One nest in bands."""

    together = TOGETHER

    def __init__(self, text: NestText, blocks: Blocks, lanes: int) -> None:
        super().__init__(text, blocks, lanes)
        (self._axis,) = blocks.axes
        self._shape = _shape(blocks)
        self._most = {blocks.lanes.index.name: self._shape.lanes, self._axis.index.name: self._shape.along}

    def _in_order(self) -> list[For]:
        """The loops as blocks follow each other, the slowest first."""
        inner = [self._axis, self._blocks.lanes]
        if host().processor.reads_on:
            inner.reverse()
        return [*(loop for loop in self._blocks.loops if loop not in inner), *inner]

    def _sizes(self, large: str, levels: Levels) -> dict[str, str]:
        return {name: str(most) for name, most in self._most.items()}

    def _parts(self, levels: Levels, loop: For, size: str) -> str:
        """How many pieces a loop has. The last one may be longer by what is too little for another: half of what a block writes
        of a row, a band of what it reads."""
        code, extent = levels.routine.code, levels.extent(loop)
        little = self._shape.lanes // 2 if loop == self._blocks.lanes else self._shape.height
        most = code.emit(f"sub i64 {code.emit(f'add i64 {extent}, {self._before(levels, loop)}')}, {little}")
        count = code.call("llvm.smax.i64", "i64", ["i64", "i64"], [f"i64 {code.parts(most, size)}", "i64 1"])
        return code.emit(f"select i1 {code.emit(f'icmp eq i64 {extent}, 0')}, i64 0, i64 {count}")

    def _piece(self, levels: Levels, loop: For, size: str, number: str, count: str) -> Piece:
        """The piece of that number, of so many."""
        code = levels.routine.code
        low = code.emit(f"sub i64 {code.emit(f'mul i64 {number}, {size}')}, {self._before(levels, loop)}")
        is_last = code.emit(f"icmp eq i64 {number}, {code.emit(f'sub i64 {count}, 1')}")
        high = code.emit(f"select i1 {is_last}, i64 {levels.extent(loop)}, i64 {code.emit(f'add i64 {low}, {size}')}")
        return Piece(code.call("llvm.smax.i64", "i64", ["i64", "i64"], [f"i64 {low}", "i64 0"]), high)

    def _before(self, levels: Levels, loop: For) -> str:
        """How many iterations the first piece has less than others: as many as elements stand before the array in its line."""
        code, across = levels.routine.code, self._blocks.across[0]
        if loop == self._blocks.lanes or across.back:
            return "0"
        address = code.emit(f"ptrtoint ptr {levels.view.data(across.read.array)} to i64")
        bytes_before = code.emit(f"and i64 {address}, {LINE - 1}")
        apart = max(1, levels.view.frame.step(across.read.array))
        elements = code.emit(f"udiv i64 {bytes_before}, {apart * across.read.array.element.bytes}")
        before = code.emit(f"and i64 {elements}, {self._shape.height - 1}")
        is_less = code.emit(f"icmp slt i64 {before}, {levels.extent(loop)}")
        return code.emit(f"select i1 {is_less}, i64 {before}, i64 0")

    def _block(self, levels: Levels) -> Callable[[Mapping[str, Piece]], None]:
        before = self._before(levels, self._axis)
        written_out = self._text.duration.instructions <= CHEAP
        return Bands(levels, self._blocks, self._shape, self._lanes, before, written_out=written_out).write


def _shape(blocks: Blocks) -> Shape:
    widths = [each.read.array.element.bytes for each in blocks.across]
    lanes, height = WRITTEN // max(widths), min(HIGHEST, LINE // max(widths))
    group = max(rows_at_once(each.read.array.element) for each in blocks.across)
    along = 1 << ((READ // (lanes * sum(widths))).bit_length() - 1)
    return Shape(lanes, max(along, group * height), height, group)
