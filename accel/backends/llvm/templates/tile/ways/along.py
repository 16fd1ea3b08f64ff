"""A tiled nest of few columns, which are copied so that folds read them along memory: then by the templates for other nests.

Few columns of long folds lie row by row in short pieces, from which each fold would gather, or for which tiles would pack all
rows. In: a nest whose columns are a matrix. Out: a function that is compiled when it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.backends.llvm.loops import schedule
from accel.backends.llvm.loops.alternatives import Alternative, Alternatives, written
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.launch import extents
from accel.backends.llvm.templates.tile.packed_nests.memory import NO_MEMORY, done, taken
from accel.backends.llvm.templates.tile.ways.untiled import own_frame
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.ir.layouts import Layout, in_layouts, layout
from accel.ir.nodes import For, Level, LoopDirection, Nest, Output, Read, Stream, Write
from accel.labelled.array import Array
from accel.schedule.templates.choose import without_tiles
from accel.schedule.templates.short_rows import ShortRows
from accel.schedule.templates.tile import Tile
from accel.schedule.templates.ways import Finding

ALIGNED = 64
"""Bytes of a register: a copy begins with one."""

_LEAF = 1 << 21
"""From here on leaves are copies of arrays: none of these has so many."""


def along(name: str, text: NestText, tile: Tile, columns: Read, alternatives: Alternatives) -> Late:
    """`@<name>(frame)`, which copies the columns, and runs the nest by the copy. Gives 0, 1 if a check failed, 2 if the user
    interrupted, or `NO_MEMORY`."""
    matrix = columns.array
    order = (1, 0)
    copied = replace(layout(matrix, order).array, leaf=_LEAF + matrix.leaf)

    def of_long_rows(text: NestText, finding: Finding) -> Sequence[Alternative]:
        return () if isinstance(finding, ShortRows) else alternatives(text, finding)

    def by_rows(text: NestText, finding: Finding) -> Sequence[Alternative]:
        return ()  # what else there is takes longer to compile, and gains little

    def functions(number: int) -> Sequence[Routine]:
        frame = text.frame.with_room_for(copied)
        nest = in_layouts(text.nest, {matrix: Layout(copied, order)})
        own, found = written(f"{name}_nest", without_tiles(nest), frame, text.read, of_long_rows)
        copy, ways = written(f"{name}_copy", without_tiles(_copying(matrix, copied)), frame, frozenset(), by_rows)
        schedule.write_run(copy, ways)
        schedule.write_run(own, found)
        assert not [*own.late, *copy.late], "what is compiled late has all that it needs"
        routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
        code, levels = routine.code, Levels(text, routine, "ret i64 1")
        _, count, elements = extents(levels, tile)
        row = code.emit(f"mul i64 {elements}, {matrix.element.bytes}")
        size = code.emit(f"add i64 {code.emit(f'mul i64 {count}, {row}')}, {ALIGNED}")
        memory = taken(routine, size)
        routine.leave(code.emit(f"icmp eq ptr {memory}, null"), f"i64 {NO_MEMORY}")
        code.declare("ptr", "llvm.ptrmask.p0.i64", "ptr, i64")
        behind = code.emit(f"getelementptr i8, ptr {memory}, i64 {ALIGNED - 1}")
        block = own_frame(routine, text.frame, frame)
        start = code.emit(f"call ptr @llvm.ptrmask.p0.i64(ptr {behind}, i64 {-ALIGNED})")
        routine.store("ptr", start, routine.offset(block, frame.data(copied)))
        routine.store("i64", row, routine.offset(block, frame.stride(copied, 0)))
        ended = code.emit(f"call i64 @{copy.name}_run(ptr {block})")
        with routine.leaving(code.emit(f"icmp eq i64 {ended}, 2"), "i64 2"):
            done(routine, memory)
        ended = code.emit(f"call i64 @{own.name}_run(ptr {block})")
        done(routine, memory)
        code.line(f"ret i64 {ended}")
        levels.memory.close()
        return [routine, *copy.routines, *own.routines]

    return Late(name, 1, functions)


def _copying(matrix: Array, copied: Array) -> Nest:
    """The nest that makes the copy, whose rows are the matrix's columns."""
    rows, columns = (Stream(f"copied {number}", I64) for number in range(2))
    value = Stream("copied", matrix.element)
    body = Level((Read(value, matrix, (columns, rows)), Write(copied, (rows, columns), value)), None, ())
    for index, extent in zip((columns, rows), reversed(copied.shape), strict=True):
        body = Level((), For(index, extent, LoopDirection.UP, (), body), ())
    return Nest(matrix.label, body, (Output(copied, tuple((extent,) for extent in copied.shape)),), (), ())
