"""A nest in tiles, which are compiled when sizes first ask for them: packed, or small ones where they lie.

Products that are small run by rows; so a program that has no others compiles no tile.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tile.launch import PARAMETERS, extents, steps
from accel.backends.llvm.templates.tile.layout import layout
from accel.backends.llvm.templates.tile.packed_nests.packed import NO_MEMORY, Packed
from accel.backends.llvm.templates.tile.small.direct import (
    can_be_direct,
    direct_code,
    functions,
    is_direct,
    number_of,
    serves_few,
)
from accel.backends.llvm.text.late import NOT_HERE, RAISED, Late
from accel.backends.llvm.text.routine import Routine
from accel.schedule.templates.tile import Tile

LEAST = 4096.0
"""Steps below which rows serve as well."""

LEAST_DIRECT = (1, 4)
"""Rows and columns below which they do where nothing is packed."""

LEAST_OF_BATCH = (2, 4)
"""The same where one of a batch is packed."""

PACKED = 0
"""The number of the function that packs; those that need not do so have others."""


class Tiles:
    """One nest in tiles; `least`: how many steps are worth it; 1 is any nest, of any shape. `direct`: whether small ones are
    read where they lie, if they can be."""

    def __init__(self, text: NestText, tile: Tile, least: float = LEAST, *, direct: bool = True) -> None:
        self._text = text
        self._tile = tile
        self._least = least
        self._direct = direct and can_be_direct(tile)
        self._layout = layout(tile, host().registers, half_units=host().processor.half_units)
        text.frame.stream(PARAMETERS.name)
        self._late = Late(f"{text.name}_tile", functions(self._layout), self._functions)

    def applies(self, levels: Levels) -> str:
        """There is enough to do, in every direction."""
        code = levels.routine.code
        rows, columns, count = extents(levels, self._tile)
        enough = code.emit(f"icmp sge i64 {count}, 1")
        least = [str(extent) for extent in self._least_shape()]
        if self._direct and self._least > 1:
            direct = is_direct(code, self._layout, columns, count)
            least = [
                code.emit(f"select i1 {direct}, i64 {few}, i64 {many}")
                for few, many in zip(LEAST_DIRECT, least, strict=True)
            ]
        for extent, needed in zip((rows, columns), least, strict=True):
            enough = code.emit(f"and i1 {enough}, {code.emit(f'icmp sge i64 {extent}, {needed}')}")
        work = steps(levels, self._tile)
        enough = code.emit(f"and i1 {enough}, {code.emit(f'fcmp oge double {work}, {self._least:e}')}")
        for loop in self._tile.batch:
            some = code.emit(f"icmp sgt i64 {levels.own_extent(loop)}, 0")
            enough = code.emit(f"and i1 {enough}, {some}")
        return enough

    def _least_shape(self) -> tuple[int, int]:
        """Rows and columns below which code by rows serves as well: a tile, if that reads memory along the fold; else half."""
        if self._least <= 1:
            return 1, 1
        if self._tile.rows.along_fold and self._tile.columns.along_fold:
            return self._layout.rows, self._layout.columns
        if self._tile.batch and self._direct:
            return LEAST_OF_BATCH
        return self._layout.rows // 2, self._layout.lanes // 2

    def run(self, levels: Levels) -> str:
        """Finds the function for these sizes, and calls it. If there is no memory for its packs, rows run."""
        self._text.routines.append(self._late.found())
        self._text.late.append(self._late)
        routine, code = levels.routine, levels.routine.code
        _, columns, count = extents(levels, self._tile)
        number = str(PACKED)
        if self._direct:
            direct = is_direct(code, self._layout, columns, count)
            number = code.emit(f"select i1 {direct}, i64 {number_of(code, self._layout, count, columns)}, i64 {number}")
        found = code.emit(f"call i64 @{self._late.name}_found(i64 {number})")
        routine.leave(code.emit(f"icmp eq i64 {found}, {RAISED}"), "i64 2")
        # Whoever called begins again, with a program that has it.
        routine.leave(code.emit(f"icmp eq i64 {found}, {NOT_HERE}"), "i64 1")
        ended = code.emit(f"call i64 {code.emit(f'inttoptr i64 {found} to ptr')}(ptr %frame)")
        routine.leave(code.emit(f"icmp eq i64 {ended}, 2"), "i64 2")
        return code.emit(f"icmp ne i64 {ended}, {NO_MEMORY}")

    def _functions(self, number: int) -> Sequence[Routine]:
        """What is compiled when the function of this number is first needed."""
        words = self._text.frame.words
        if number == PACKED:
            found = Packed(
                self._late.name, self._text, self._layout, few=not (self._direct and serves_few(self._layout))
            ).routines()
        else:
            found = direct_code(self._late.name, self._text, self._layout, number)
        assert self._text.frame.words == words, "a launch has room for no more"
        return found
