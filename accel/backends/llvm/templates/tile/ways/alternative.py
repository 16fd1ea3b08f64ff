"""The ways of a tiled nest as alternatives to its rows: a launch takes the first whose conditions hold (`choice.py`).

What a way runs is compiled when sizes first ask for it: so a program whose products are small compiles no tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import assert_never

from accel.backends.llvm.loops.alternatives import Alternative, Alternatives
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.launch import PARAMETERS, extents, steps
from accel.backends.llvm.templates.tile.layout import Layout, host_layout
from accel.backends.llvm.templates.tile.packed_nests.packed import NO_MEMORY, Packed
from accel.backends.llvm.templates.tile.small.blocks import Columns
from accel.backends.llvm.templates.tile.small.direct import direct_code
from accel.backends.llvm.templates.tile.ways.choice import LEAST, Code, TiledNest, Way, most_elements, serves_few, ways
from accel.backends.llvm.templates.tile.ways.conditions import Asked, Extent
from accel.backends.llvm.templates.tile.ways.untiled import untiled
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import FAILED
from accel.ir.single import single
from accel.schedule.templates.tile import Tile

FIRST = 0
"""The number of the function that packs, or of the only one; those that read in place have others."""


def tiles(
    text: NestText,
    tile: Tile,
    others: Alternatives,
    chosen: Callable[[TiledNest], Sequence[Way]] = ways,
    least: float = LEAST,
) -> Sequence[Alternative]:
    """The ways of a nest, those of the same code together.

    `others`: what is written for what templates find in it without tiles. `chosen`: the ways; `least`: the steps that are worth
    one of them.
    """
    nest = TiledNest(host_layout(tile), host_layout(tile.turned()), single(text.nest, tile.columns.loop))
    text.frame.stream(PARAMETERS.name)
    found: dict[Code, list[Way]] = {}
    for way in chosen(nest):
        found.setdefault(way.code, []).append(way)
    return [_alternative(text, nest, code, some, others, least) for code, some in found.items()]


def _alternative(
    text: NestText, nest: TiledNest, code: Code, some: Sequence[Way], others: Alternatives, least: float
) -> Alternative:
    name, tile = f"{text.name}_{code.name.lower()}", nest.upright.tile
    match code:
        case Code.COLUMN:
            arrays = {array: layout.array for array, layout in nest.single.layouts.items()}
            return ByOthers(text, tile, some, least, untiled(name, text, nest.single.nest, arrays, others))
        case Code.OTHERS:
            return ByOthers(text, tile, some, least, untiled(name, text, text.nest, MappingProxyType({}), others))
        case Code.TURNED:
            return InTiles(text, tile, some, least, nest.turned, name)
        case Code.TILE:
            return InTiles(text, tile, some, least, nest.upright, name)
        case _:
            assert_never(code)


class _Ways:
    """Ways that have their code in common, of which a launch takes the first that suits its sizes."""

    def __init__(self, text: NestText, tile: Tile, some: Sequence[Way], least: float) -> None:
        self._text = text
        self._tile = tile
        self._ways = some
        self._least = least

    def applies(self, levels: Levels) -> str:
        """There is enough to do for one of the ways."""
        code, asked, suits = levels.routine.code, self._asked(levels), "false"
        for way in self._ways:
            code.line(f"; {way}")
            suits = code.emit(f"or i1 {suits}, {asked.holds(way.condition)}")
        enough = code.emit(f"fcmp oge double {steps(levels, self._tile)}, {self._least:e}")
        return code.emit(f"and i1 {enough}, {suits}")

    def _asked(self, levels: Levels) -> Asked:
        return Asked(levels, dict(zip(Extent, extents(levels, self._tile), strict=True)))

    def _call(self, levels: Levels, late: Late, number: str) -> str:
        """Calls a function that is compiled late: what it gives."""
        self._text.routines.append(late.found())
        self._text.late.append(late)
        routine, code = levels.routine, levels.routine.code
        ended = late.call(routine, number)
        routine.leave(code.emit(f"icmp eq i64 {ended}, 2"), "i64 2")
        return ended


class ByOthers(_Ways):
    """By other templates, in a function of its own."""

    def __init__(self, text: NestText, tile: Tile, some: Sequence[Way], least: float, late: Late) -> None:
        super().__init__(text, tile, some, least)
        self._late = late

    def run(self, levels: Levels) -> None:
        """Calls the function, and notes if a check failed."""
        ended = self._call(levels, self._late, str(FIRST))
        routine, code = levels.routine, levels.routine.code
        failed = routine.load("i64", levels.view.address(FAILED))
        routine.store("i64", code.emit(f"or i64 {failed}, {ended}"), levels.view.address(FAILED))


class InTiles(_Ways):
    """In tiles: packed, or read where they lie, for which there is a function for each number of elements."""

    def __init__(
        self, text: NestText, tile: Tile, some: Sequence[Way], least: float, layout: Layout, name: str
    ) -> None:
        super().__init__(text, tile, some, least)
        self._layout = layout
        self._in_place = {way.columns: way for way in some if way.columns is not None}
        most = most_elements(layout)
        self._late = Late(name, len(Columns) * (most + 1) if most else 1, self._functions)

    def run(self, levels: Levels) -> str:
        """Finds the function for these sizes, and calls it. If there is no memory for its packs, rows run."""
        code, asked, number = levels.routine.code, self._asked(levels), str(FIRST)
        _, _, count = extents(levels, self._tile)
        for columns, way in reversed(self._in_place.items()):
            function = code.emit(f"add i64 {code.emit(f'mul i64 {count}, {len(Columns)}')}, {columns.value}")
            number = code.emit(f"select i1 {asked.holds(way.condition)}, i64 {function}, i64 {number}")
        ended = self._call(levels, self._late, number)
        return code.emit(f"icmp ne i64 {ended}, {NO_MEMORY}")

    def _functions(self, number: int) -> Sequence[Routine]:
        """What is compiled when the function of this number is first needed."""
        words, late = self._text.frame.words, self._late.name
        if number == FIRST:
            few = not (self._in_place and serves_few(self._layout))
            found = Packed(late, self._text, self._layout, few=few).routines()
        else:
            count, columns = divmod(number, len(Columns))
            found = direct_code(late, self._text, self._layout, count, Columns(columns))
        assert self._text.frame.words == words, "a launch has room for no more"
        return found
