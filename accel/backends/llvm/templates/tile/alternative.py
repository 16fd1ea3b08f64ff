"""A nest in tiles, which are compiled when sizes first ask for them: packed, or small ones where they lie.

Products that are small run by rows; so a program that has no others compiles no tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.launch import PARAMETERS, extents, steps
from accel.backends.llvm.templates.tile.layout import host_layout
from accel.backends.llvm.templates.tile.packed_nests.packed import NO_MEMORY, Packed
from accel.backends.llvm.templates.tile.small.direct import (
    MOST,
    can_be_direct,
    direct_code,
    functions,
    is_direct,
    number_of,
    serves_few,
)
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.schedule.templates.tile import Tile

LEAST = 4096.0
"""Steps below which rows serve as well."""

LEAST_DIRECT = 4
"""Columns below which they do where nothing is packed, or one of a batch is."""

ALONG_FOLD, PACKS = 160, 6
"""What a fold by rows takes whose memory is read along it, and what it takes to pack 4 bytes, in the time in which such a fold
takes in as much, a sixteenth of a nanosecond. (Zen 4.)"""

PACKED = 0
"""The number of the function that packs; those that need not do so have others."""


class Tiles:
    """One nest in tiles; `least`: how many steps are worth it; 1 is any nest, of any shape. `direct`: whether small ones are
    read where they lie, if they can be. `turned`: whether the tile's rows are the nest's columns, for nests of few of them."""

    def __init__(
        self, text: NestText, tile: Tile, least: float = LEAST, *, direct: bool = True, turned: bool = False
    ) -> None:
        self._text = text
        self._tile = tile
        self._least = least
        self._turned = turned
        self._direct = direct and can_be_direct(tile)
        self._layout = host_layout(tile)
        text.frame.stream(PARAMETERS.name)
        self._late = Late(f"{text.name}_{'turned' if turned else 'tile'}", functions(self._layout), self._functions)

    def applies(self, levels: Levels) -> str:
        """There is enough to do, in every direction."""
        code = levels.routine.code
        rows, columns, count = extents(levels, self._tile)
        enough = code.emit(f"icmp sge i64 {count}, 1")
        for fits in self._shape_fits(levels, rows, columns, count):
            enough = code.emit(f"and i1 {enough}, {fits}")
        work = steps(levels, self._tile)
        enough = code.emit(f"and i1 {enough}, {code.emit(f'fcmp oge double {work}, {self._least:e}')}")
        for loop in self._tile.batch:
            some = code.emit(f"icmp sgt i64 {levels.own_extent(loop)}, 0")
            enough = code.emit(f"and i1 {enough}, {some}")
        return enough

    def _shape_fits(self, levels: Levels, rows: str, columns: str, count: str) -> Iterator[str]:
        """Whether so many rows and columns, of folds of so many elements, run faster so than by rows, or with the other loop in
        vectors: all of these i1 must hold."""
        if self._least <= 1:
            return
        code, lanes = levels.routine.code, self._layout.lanes
        if self._turned:
            most = str(lanes)
            if serves_few(host_layout(self._tile.turned())):
                few = code.emit(f"icmp sle i64 {count}, {MOST}")
                most = code.emit(f"select i1 {few}, i64 {LEAST_DIRECT - 1}, i64 {lanes}")
            yield code.emit(f"icmp sle i64 {rows}, {most}")
            yield code.emit(f"icmp sge i64 {columns}, {lanes}")
            yield code.emit(f"icmp sge i64 {columns}, {code.emit(f'shl i64 {rows}, 1')}")
        else:
            least = str(LEAST_DIRECT if self._tile.batch and self._direct else lanes // 2)
            if self._direct:
                direct = is_direct(code, self._layout, columns, count)
                least = code.emit(f"select i1 {direct}, i64 {LEAST_DIRECT}, i64 {least}")
            yield code.emit(f"icmp sge i64 {columns}, {least}")
        if self._tile.rows.along_fold and self._tile.columns.along_fold:
            each = code.emit(f"mul i64 {count}, {_words(self._tile)}")
            folds = code.emit(f"mul i64 {rows}, {columns}")
            fold = code.emit(f"add i64 {each}, {ALONG_FOLD}")
            panels = code.emit(f"mul i64 {code.parts(columns, str(self._layout.columns))}, {self._layout.columns}")
            packs = code.emit(f"mul i64 {panels}, {code.emit(f'mul i64 {each}, {PACKS}')}")
            yield code.emit(f"icmp slt i64 {packs}, {code.emit(f'mul i64 {folds}, {fold}')}")

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
        ended = self._late.call(routine, number)
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


def _words(tile: Tile) -> int:
    """4 bytes each, of what steps need of an element of a column."""
    return max(1, sum(stream.type.bytes for stream in tile.columns.streams) // 4)
