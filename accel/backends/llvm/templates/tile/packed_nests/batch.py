"""A batch of small nests: each is packed and computed by one thread, in memory of its own."""

from __future__ import annotations

from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.templates.tile.launch import put_batch
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Word
from accel.backends.llvm.templates.tile.packed_nests.sizes import Sizes
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.labelled.meaning.order import BLOCK

SMALL_BYTES = 1 << 17
"""Bytes of the packs of a small nest of a batch."""


def is_small(code: Code, sizes: Sizes, rows: str, columns: str, count: str) -> str:
    """Whether the packs of one of the batch fit into a thread's own memory."""
    size = code.emit(f"add i64 {sizes.row_bytes(code, rows, count)}, {sizes.column_bytes(code, columns, count)}")
    fits = code.emit(f"icmp sle i64 {size}, {SMALL_BYTES}")
    return code.emit(f"and i1 {fits}, {code.emit(f'icmp sle i64 {count}, {BLOCK}')}")


def some_of_batch(name: str, layout: Layout, size: int, frame: Frame) -> Routine:
    """`@<name>_batch(frame, parameters, low, high)`: some of a batch, each packed and computed by this thread alone.

    size: the words of the parameters.
    """
    routine = Routine(f"void @{name}_batch(ptr %frame, ptr %parameters, i64 %low, i64 %high)", hot=False)
    code, given = routine.code, Parameters(routine, "%parameters")
    view = FrameView(routine, frame)
    streams = Streams(Memory(view, Writer(code, 1), "ret void", None), {})
    words, following = (Parameters(routine, routine.slot("i64", size)) for _ in range(2))
    for word in range(int(Word.BATCH)):
        for block in (words, following):
            block.put(word, given.get(word))
    memory = routine.slot(f"[{SMALL_BYTES} x i8]", align=64)
    rows, columns = given.get(Word.ROWS), given.get(Word.COLUMNS)
    words.put(Word.ROW_PACK, memory, "ptr")
    offset = Sizes(layout).row_bytes(code, rows, given.get(Word.COUNT))
    words.put(Word.COLUMN_PACK, code.emit(f"getelementptr i8, ptr {memory}, i64 {offset}"), "ptr")
    row_panels = code.parts(rows, str(layout.rows))
    column_panels = code.parts(columns, str(layout.columns))
    words.put(Word.CHUNK_ROWS, row_panels)
    words.put(Word.CHUNK_COLUMNS, column_panels)
    extents = [Writer(code, 1).one(streams.value(loop.extent)) for loop in layout.tile.batch]
    put_batch(following, "%low", extents)
    with routine.count("%low", "%high") as number:
        for depth in range(len(extents)):
            words.put(Word.BATCH + depth, following.get(Word.BATCH + depth))
        words.put(Word.ODD, "0")
        for function, count in (("pack_columns", column_panels), ("pack_rows", row_panels)):
            code.line(f"call void @{name}_{function}(ptr %frame, ptr {words.pointer}, i64 0, i64 {count})")
        # What the packs of the next one read comes while this one is computed.
        put_batch(following, code.emit(f"add i64 {number}, 1"), extents)
        code.line(f"call void @{name}_ask(ptr %frame, ptr {following.pointer})")
        code.line(f"call void @{name}_chunks(ptr %frame, ptr {words.pointer}, i64 0, i64 1)")
    code.line("ret void")
    return routine
