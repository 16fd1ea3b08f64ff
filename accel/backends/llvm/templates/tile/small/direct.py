"""Small nests without packs: of a fold of few elements a tile reads both sides where they lie.

A fold that has one element, or some, for each lane of docs/order.md is a tree of them. Its tile, some rows times one vector of
columns or two, takes them in the order of the lanes' reversed bits, so that they join as they come, and all that waits stays
in registers. To pack matrices of 4 x 4 took ten times as long as to multiply them. In: a tile. Out: for which sizes there is
such code, and the code for a number of elements.
"""

from __future__ import annotations

from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.launch import Launch, shared
from accel.backends.llvm.templates.tile.layout import MANY_REGISTERS, Layout, Word
from accel.backends.llvm.templates.tile.small.blocks import (
    Blocks,
    Columns,
    copied_columns,
    copied_for,
    held_subtrees,
    is_copied,
    rows_of_unit,
)
from accel.backends.llvm.templates.tile.small.held import FEW, holds_many, subtrees
from accel.backends.llvm.templates.tile.small.tree import PARTS, matrix_of
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import OneToOne, Read
from accel.schedule.templates.tile import Tile

MOST = 64
"""Elements of a fold, where both sides are matrices as they lie in memory."""

MOST_OF_LANE = 4
"""Elements of a lane, of folds of more elements than that, in a loop of subtrees with few registers, or where columns are held:
of more packed tiles are as fast."""

FEW_GROUPS, COLUMNS_OF_UNIT = 16, 1 << 10
"""Of fewer groups of rows than these a thread takes some columns at a time, at least so many."""

MOST_COMPUTED = 16
"""Elements where sides are no matrices: what else a side does is done once for each row, or column, where it is packed, and
here for each tile."""


def can_be_direct(tile: Tile) -> bool:
    """Whether both sides only read arrays and compute, and folds are in an order."""
    sides = (*tile.rows.statements, *tile.columns.statements)
    plain = all(isinstance(statement, Read | OneToOne) for statement in sides)
    return plain and tile.order_lanes > 1


def is_direct(code: Code, layout: Layout, columns: str, count: str) -> str:
    """Whether there is code for so many columns and elements, of which there is one at least."""
    tile = layout.tile
    most = MOST_COMPUTED if not _are_matrices(tile) else _most(layout) if holds_many() else MOST
    few = code.emit(f"icmp sle i64 {count}, {most}")
    if _most(layout) > MOST and not holds_many():
        even = code.emit(f"icmp eq i64 {code.emit(f'and i64 {count}, {PARTS - 1}')}, 0")
        more = code.emit(f"and i1 {even}, {code.emit(f'icmp sle i64 {count}, {_most(layout)}')}")
        few = code.emit(f"or i1 {few}, {more}")
    if serves_few(layout):
        return few
    if layout.tile.columns.along_fold:
        return few  # packs read as many lines
    near = code.emit(f"xor i1 {is_copied(code, layout, columns, count)}, true")
    return code.emit(f"and i1 {few}, {near}")


def serves_few(layout: Layout) -> bool:
    """Whether there is code for up to `MOST` elements, whatever rows and columns there are."""
    near = copied_columns(layout, MOST) > 0 or len(subtrees(layout, MOST)) > 0
    return can_be_direct(layout.tile) and _are_matrices(layout.tile) and near


def number_of(code: Code, layout: Layout, count: str, columns: str) -> str:
    """The number of the function for folds of so many elements: there is one for each kind of columns."""
    wide = code.emit(f"icmp sge i64 {columns}, {layout.lanes}")
    kind = str(Columns.WIDE.value)
    if _are_matrices(layout.tile) and copied_columns(layout, _most(layout)) > 0:
        copied = is_copied(code, layout, columns, count)
        if holds_many():
            copied = code.emit(f"and i1 {copied}, {code.emit(f'icmp sgt i64 {count}, {FEW}')}")
        kind = code.emit(f"select i1 {copied}, i64 {Columns.COPIED.value}, i64 {kind}")
    kind = code.emit(f"select i1 {wide}, i64 {kind}, i64 {Columns.NARROW.value}")
    return code.emit(f"add i64 {code.emit(f'mul i64 {count}, {len(Columns)}')}, {kind}")


def functions(layout: Layout) -> int:
    """What the numbers of functions are less than."""
    return len(Columns) * (_most(layout) + 1) if can_be_direct(layout.tile) else 1


def direct_code(name: str, text: NestText, layout: Layout, number: int) -> list[Routine]:
    """`@<name>(frame)`: all of a nest of so many elements. Gives 0, or 2 if the user interrupted."""
    routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
    code, levels = routine.code, Levels(text, routine, "ret i64 1")
    count, kind = number // len(Columns), Columns(number % len(Columns))
    launch = Launch(levels, text, layout)
    rows, columns, _ = launch.extents
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


def _most(layout: Layout) -> int:
    """Elements of a fold, if there are as many as serve."""
    if not _are_matrices(layout.tile):
        return MOST_COMPUTED
    of_lanes = host().processor.registers.count < MANY_REGISTERS or (holds_many() and len(subtrees(layout, MOST)) > 0)
    return max(MOST, MOST_OF_LANE * layout.tile.order_lanes) if of_lanes else MOST


def _are_matrices(tile: Tile) -> bool:
    return all(matrix_of(tile, side) is not None for side in (tile.rows, tile.columns))
