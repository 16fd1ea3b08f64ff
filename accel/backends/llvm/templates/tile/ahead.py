"""Asks for what one side of a tiled nest reads, ahead of its pack: packs read faster than memory gives.

Of a small nest of a batch the next one's is asked for before a tile is computed, which hardly reads memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.asked import ask_to_write
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Word
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import Read, Stream, Write
from accel.schedule.templates.tile import Side, Tile

ROWS_AHEAD, LINES_AHEAD = 16, 4
"""How far packs ask ahead: across rows, and along them."""


def asking(name: str, layout: Layout, frame: Frame) -> Routine:
    """`@<name>(frame, parameters)`: asks for all that both sides read as they lie in memory."""
    routine = Routine(f"void @{name}(ptr %frame, ptr %parameters)")
    code, words = routine.code, Parameters(routine, "%parameters")
    memory = Memory(FrameView(routine, frame), Writer(code, 1), "ret void", None)
    batch, fold = words.batch(layout.tile), layout.tile.fold.index.name
    for side, extent in ((layout.tile.columns, Word.COLUMNS), (layout.tile.rows, Word.ROWS)):
        own = side.loop.index.name
        across, along = (own, fold) if side.along_fold else (fold, own)
        extents = {own: words.get(extent), fold: words.get(Word.COUNT)}
        size = max((read.array.element.bytes for read in matrices(layout.tile, side)), default=LINE)
        with routine.count("0", extents[across]) as row, routine.count("0", extents[along], LINE // size) as element:
            ask(memory, layout.tile, side, {**batch, across: Uniform(row, I64), along: Uniform(element, I64)})
    code.line("ret void")
    memory.close()
    return routine


def ask_for_results(memory: Memory, layout: Layout, row: str, rows: str, column: str) -> None:
    """Asks for where the results of a tile of so many rows go, so that it comes while the tile is computed."""
    routine, tile = memory.routine, layout.tile
    batch = Parameters(routine, "%parameters").batch(tile)
    row_index, column_index = tile.rows.loop.index, tile.columns.loop.index
    names = {*batch, row_index.name, column_index.name}
    code = routine.code
    with routine.count("0", rows) as number:
        here = Uniform(code.emit(f"add i64 {row}, {number}"), I64)
        made: dict[str, Value] = {**batch, row_index.name: here, column_index.name: Uniform(column, I64)}
        for write in tile.results:
            if not isinstance(write, Write) or write.index[-1:] != (column_index,):
                continue
            if not all(isinstance(operand, Stream) and operand.name in names for operand in write.index):
                continue
            address = memory.address(write.array, Streams(memory, dict(made)).values(write.index))
            ask_to_write(code, address, layout.columns * write.array.element.bytes)


def ask(memory: Memory, tile: Tile, side: Side, indices: Mapping[str, Value]) -> None:
    """Asks for the line of each matrix that the side reads at these indices, which need not be in bounds."""
    code = memory.routine.code
    code.declare("void", "llvm.prefetch.p0", "ptr, i32, i32, i32")
    for read in matrices(tile, side):
        address = memory.address(read.array, Streams(memory, dict(indices)).values(read.index))
        code.line(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 2, i32 1)")


def matrices(tile: Tile, side: Side) -> list[Read]:
    """What the side reads by the indices of loops alone, one of its own innermost."""
    own = {side.loop.index.name, tile.fold.index.name}
    batch = {loop.index.name for loop in tile.batch}
    return [read for read in side.statements if isinstance(read, Read) and _is_matrix(read, own, batch)]


def _is_matrix(read: Read, own: Collection[str], batch: Collection[str]) -> bool:
    """Whether the indices are loops', of which each of the side's own is there once, one of them innermost."""
    names = [operand.name if isinstance(operand, Stream) else "" for operand in read.index]
    return (
        sorted(name for name in names if name in own) == sorted(own)
        and names[-1] in own
        and all(name in own or name in batch for name in names)
    )
