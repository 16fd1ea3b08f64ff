"""The ways of a tiled nest as an alternative to its rows: a launch takes the first that suits its sizes (`choice.py`).

What a way runs is compiled when sizes first ask for it: so a program whose products are small compiles no tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import assert_never

from accel.backends.llvm.loops.alternatives import Alternatives
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.launch import PARAMETERS, extents, folds, steps
from accel.backends.llvm.templates.tile.layout import Layout, host_layout
from accel.backends.llvm.templates.tile.packed_nests.memory import NO_MEMORY
from accel.backends.llvm.templates.tile.packed_nests.packed import Packed
from accel.backends.llvm.templates.tile.small.blocks import Columns
from accel.backends.llvm.templates.tile.small.direct import direct_code
from accel.backends.llvm.templates.tile.small.tree import matrix_of
from accel.backends.llvm.templates.tile.ways.along import along
from accel.backends.llvm.templates.tile.ways.choice import (
    FIRST,
    LEAST,
    OF_FOLD,
    Code,
    TiledNest,
    Way,
    most_elements,
    serves_few,
    ways,
)
from accel.backends.llvm.templates.tile.ways.conditions import Asked, Extent
from accel.backends.llvm.templates.tile.ways.rows import RowsInTiles
from accel.backends.llvm.templates.tile.ways.single import single
from accel.backends.llvm.templates.tile.ways.untiled import untiled
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import FAILED
from accel.schedule.templates.tile import Tile


class Tiles:
    """The ways of one nest."""

    def __init__(
        self,
        text: NestText,
        tile: Tile,
        others: Alternatives,
        chosen: Callable[[TiledNest], Sequence[Way]] = ways,
        least: float = LEAST,
    ) -> None:
        """`others`: what is written for what templates find in the nest without tiles. `chosen`: the ways; `least`: the steps
        that are worth one of them."""
        self._text = text
        self._tile = tile
        self._others = others
        self._least = least
        self._nest = TiledNest(host_layout(tile), host_layout(tile.turned()), single(text.nest, tile.columns.loop))
        self._ways = chosen(self._nest)
        text.frame.stream(PARAMETERS.name)

    def applies(self, levels: Levels) -> str:
        """There is enough to do, and folds are not empty: tiles begin with a first element."""
        code, own = levels.routine.code, steps(levels, self._tile)
        besides = code.emit(f"fmul double {folds(levels, self._tile)}, {OF_FOLD:e}")
        much = code.emit(f"fcmp oge double {code.emit(f'fadd double {own}, {besides}')}, {self._least:e}")
        return code.emit(f"and i1 {much}, {code.emit(f'fcmp ogt double {own}, 0.0')}")

    def run(self, levels: Levels) -> str:
        """Finds the way, and calls its function. If there is none, or no memory for what it packs, rows run."""
        routine, code, codes = levels.routine, levels.routine.code, [*Code]
        code_number, function = self.found(levels)
        ran = routine.slot("i1")
        routine.store("i1", "false", ran)
        for each in dict.fromkeys(way.code for way in self._ways):
            with routine.when(code.emit(f"icmp eq i64 {code_number}, {codes.index(each)}")):
                routine.store("i1", self._call(levels, self._late(each), function), ran)
        return routine.load("i1", ran)

    def found(self, levels: Levels) -> tuple[str, str]:
        """The number of a way's code among all, -1 if no way suits the sizes, and that of its function."""
        code = levels.routine.code
        of_nest = extents(levels, self._tile)
        asked = Asked(levels, dict(zip(Extent, of_nest, strict=True)))
        for way in self._ways:
            code.line(f"; {way}")
        suits = [asked.holds(way.condition) for way in self._ways]
        code_number, function = "-1", str(FIRST)
        for way, holds in reversed([*zip(self._ways, suits, strict=True)]):
            own = str(FIRST)
            if way.columns is not None:
                own = code.emit(f"add i64 {code.emit(f'mul i64 {of_nest[2]}, {len(Columns)}')}, {way.columns.value}")
            code_number = code.emit(f"select i1 {holds}, i64 {[*Code].index(way.code)}, i64 {code_number}")
            function = code.emit(f"select i1 {holds}, i64 {own}, i64 {function}")
        return code_number, function

    def rows(self) -> RowsInTiles | None:
        """What runs some rows of the nest, for which it takes words of the frame; None if all ways pack or copy."""
        if self._tile.batch or not any(_is_in_place(way) for way in self._ways):
            return None
        return RowsInTiles(self._text, self._nest.upright, self.applies, self.found)

    def _call(self, levels: Levels, late: Late, number: str) -> str:
        """Calls a function, and notes if a check failed: an i1, whether there was memory for what it needs."""
        self._text.routines.append(late.found())
        self._text.late.append(late)
        routine, code = levels.routine, levels.routine.code
        ended = late.call(routine, number)
        routine.leave(code.emit(f"icmp eq i64 {ended}, 2"), "i64 2")
        failed = code.emit(
            f"or i64 {routine.load('i64', levels.view.address(FAILED))}, {code.emit(f'and i64 {ended}, 1')}"
        )
        routine.store("i64", failed, levels.view.address(FAILED))
        return code.emit(f"icmp ne i64 {ended}, {NO_MEMORY}")

    def _late(self, code: Code) -> Late:
        """The functions that are compiled for such ways."""
        name, text, nest = f"{self._text.name}_{code.name.lower()}", self._text, self._nest
        match code:
            case Code.COLUMN:
                arrays = {array: layout.array for array, layout in nest.single.layouts.items()}
                return untiled(name, text, nest.single.nest, arrays, self._others)
            case Code.OTHERS:
                return untiled(name, text, text.nest, MappingProxyType({}), self._others)
            case Code.ALONG:
                columns = matrix_of(self._tile, self._tile.columns)
                assert columns is not None, "they are copied"
                return along(name, text, self._tile, columns, self._others)
            case Code.TURNED:
                return self._in_tiles(name, code, nest.turned)
            case Code.TILE:
                return self._in_tiles(name, code, nest.upright)
            case _:
                assert_never(code)

    def _in_tiles(self, name: str, code: Code, layout: Layout) -> Late:
        """What packs; or reads where it lies, for which there is a function for each number of elements."""
        most, in_place = most_elements(layout), any(way.code is code and way.columns is not None for way in self._ways)

        def functions(number: int) -> Sequence[Routine]:
            words = self._text.frame.words
            if number == FIRST:
                found = Packed(name, self._text, layout, few=not (in_place and serves_few(layout))).routines()
            else:
                count, columns = divmod(number, len(Columns))
                found = direct_code(name, self._text, layout, count, Columns(columns))
            assert self._text.frame.words == words, "a launch has room for no more"
            return found

        return Late(name, len(Columns) * (most + 1) if most else 1, functions)


def _is_in_place(way: Way) -> bool:
    return way.code is Code.TILE and way.columns in (Columns.NARROW, Columns.WIDE)
