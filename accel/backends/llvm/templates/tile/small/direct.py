"""Small nests without packs: of a fold of few elements a tile reads both sides where they lie.

A fold that has one element, or some, for each lane of docs/order.md is a tree of them. Its tile, some rows times one vector of
columns or two, takes them in the order of the lanes' reversed bits, so that they join as they come, and all that waits stays
in registers. To pack matrices of 4 x 4 took ten times as long as to multiply them. In: a tile. Out: the code for a number of
elements; `ways/choice.py` says for which sizes there is any.
"""

from __future__ import annotations

from accel.ast.tree.types import I64
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.launch import Launch, extents, parameters, shared
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Word
from accel.backends.llvm.templates.tile.small.blocks import (
    Blocks,
    Columns,
    copied_columns,
    copied_for,
    held_subtrees,
    rows_of_unit,
)
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import Stream

FIRST_ROW, END_ROW = Stream("tile: first row", I64), Stream("tile: end of rows", I64)
"""Words of the frame of a nest of which some rows are computed. No stream of a nest has a space."""

FEW_GROUPS, COLUMNS_OF_UNIT = 16, 1 << 10
"""Of fewer groups of rows than these a thread takes some columns at a time, at least so many."""


def direct_code(name: str, text: NestText, layout: Layout, count: int, kind: Columns) -> list[Routine]:
    """`@<name>(frame)`: all of a nest of so many elements, and of these columns. Gives 0, or 2 if the user interrupted."""
    routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
    code, levels = routine.code, Levels(text, routine, "ret i64 1")
    launch = Launch(levels, text, layout)
    rows, columns, _ = launch.extents
    launch.words.put(Word.ROW, "0")
    launch.words.put(Word.ROWS, rows)
    launch.words.put(Word.COLUMNS, columns)
    if layout.tile.batch:
        units, each = launch.total, launch.extents
    elif kind is Columns.COPIED:
        width = str(copied_columns(layout, count))
        units = code.emit(f"mul i64 {code.parts(rows, str(copied_for()))}, {code.parts(columns, width)}")
        each = routine.least(rows, str(copied_for())), width, str(count)
    else:
        unit = str(rows_of_unit(held_subtrees(layout, count, kind), count))
        groups = code.parts(rows, unit)
        few = code.emit(f"icmp slt i64 {groups}, {FEW_GROUPS}")
        wide = routine.least(columns, code.emit(f"select i1 {few}, i64 {COLUMNS_OF_UNIT}, i64 {columns}"))
        launch.words.put(Word.CHUNK_COLUMNS, wide)
        units = code.emit(f"mul i64 {groups}, {code.parts(columns, wide)}")
        each = unit, wide, str(count)
    routine.leave(launch.run(f"@{name}_shared", units, launch.at_once(each)), "i64 2")
    code.line("ret i64 0")
    levels.memory.close()
    blocks = Blocks(f"{name}_directly", layout, launch.size, text.frame, count, kind)
    return [routine, shared(f"{name}_shared", f"{name}_directly", text.frame), blocks.write()]


def some_rows(name: str, text: NestText, layout: Layout, count: int, kind: Columns) -> list[Routine]:
    """`@<name>(frame)`: the rows from `FIRST_ROW` to before `END_ROW` of a nest with no loops around, of which no columns are
    copied, on the calling thread. Gives 0."""
    routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
    code, levels = routine.code, Levels(text, routine, "ret i64 1")
    _, columns, _ = extents(levels, layout.tile)
    size = parameters(layout.tile)
    words = Parameters(routine, routine.slot("i64", size))
    first, end = levels.view.stream(FIRST_ROW), levels.view.stream(END_ROW)
    for word, value in (
        (Word.ROW, first),
        (Word.ROWS, end),
        (Word.COLUMNS, columns),
        (Word.CHUNK_COLUMNS, columns),
    ):
        words.put(word, value)
    unit = str(rows_of_unit(held_subtrees(layout, count, kind), count))
    groups = code.parts(code.emit(f"sub i64 {end}, {first}"), unit)
    code.line(f"call void @{name}_directly(ptr %frame, ptr {words.pointer}, i64 0, i64 {groups})")
    code.line("ret i64 0")
    levels.memory.close()
    return [routine, Blocks(f"{name}_directly", layout, size, text.frame, count, kind).write()]
