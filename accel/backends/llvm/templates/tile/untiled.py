"""Tiled nests of so few rows, or of a single column, that a tile would waste most of what it computes.

They run by the templates for other nests: a matrix times few vectors by columns; without the loop of a single column, as a
matrix times a vector. That code is compiled when it is first needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from accel.backends.llvm.loops import schedule
from accel.backends.llvm.loops.alternatives import Alternatives
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.states.analysis import plan
from accel.backends.llvm.templates.tile.launch import extents, steps
from accel.backends.llvm.templates.tile.layout import host_layout
from accel.backends.llvm.templates.tile.small.direct import MOST, serves_few
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import FAILED
from accel.ir.nodes import Nest
from accel.ir.single import single
from accel.labelled.array import Array
from accel.schedule.nodes import Template
from accel.schedule.templates.choose import without_tiles
from accel.schedule.templates.tile import Tile

ONLY = "0"
"""The number of the only function."""

MOST_ROWS = 3
"""Rows up to which columns are read once for each, rather than packed."""


class Untiled:
    """One nest of few rows, whose columns are adjacent in memory, by other templates. `least`: how many steps are worth it."""

    def __init__(self, text: NestText, tile: Tile, alternatives: Alternatives, least: float) -> None:
        """`alternatives`: what is written for what templates find in the nest."""
        self._tile = tile
        self._least = least
        self._late = untiled(f"{text.name}_rows", text, text.nest, MappingProxyType({}), alternatives)
        self._text = text

    def applies(self, levels: Levels) -> str:
        """There are few rows."""
        code = levels.routine.code
        rows, columns, _ = extents(levels, self._tile)
        few = code.emit(f"icmp sle i64 {rows}, {MOST_ROWS}")
        wide = code.emit(f"icmp sge i64 {columns}, {host_layout(self._tile).lanes}")
        return code.emit(f"and i1 {_enough(levels, self._tile, self._least)}, {code.emit(f'and i1 {few}, {wide}')}")

    def run(self, levels: Levels) -> None:
        """Calls the function, and notes if a check failed."""
        _run(self._text, self._late, levels)


class SingleColumn:
    """One nest of a single column, without its loop. `turned`: the tile with columns as rows."""

    def __init__(self, text: NestText, turned: Tile, alternatives: Alternatives, least: float) -> None:
        """`alternatives`: what is written for what templates find in the nest without the loop."""
        self._text = text
        self._turned = turned
        self._least = least
        found = single(text.nest, turned.rows.loop)
        self._arrays = list(found.layouts)
        others = {array: layout.array for array, layout in found.layouts.items()}
        self._late = untiled(f"{text.name}_column", text, found.nest, others, alternatives)

    def applies(self, levels: Levels) -> str:
        """There is one column; arrays that have one element in each row have these side by side."""
        code = levels.routine.code
        once = code.emit(f"icmp eq i64 {levels.own_extent(self._turned.rows.loop)}, 1")
        enough = code.emit(f"and i1 {_enough(levels, self._turned, self._least)}, {once}")
        for array in self._arrays:
            stride = levels.view.stride(array, len(array.shape) - 2)
            adjacent = code.emit(f"icmp eq i64 {stride}, {array.element.bytes}")
            enough = code.emit(f"and i1 {enough}, {adjacent}")
        return enough

    def run(self, levels: Levels) -> None:
        """Calls the function, and notes if a check failed."""
        _run(self._text, self._late, levels)


def _enough(levels: Levels, tile: Tile, least: float) -> str:
    """There is enough to do, for which there is no tile that packs nothing."""
    code = levels.routine.code
    enough = code.emit(f"fcmp oge double {steps(levels, tile)}, {least:e}")
    if least > 1 and serves_few(host_layout(tile)):
        many = code.emit(f"icmp sgt i64 {levels.own_extent(tile.fold)}, {MOST}")
        enough = code.emit(f"and i1 {enough}, {many}")
    return enough


def _run(text: NestText, late: Late, levels: Levels) -> None:
    text.routines.append(late.found())
    text.late.append(late)
    routine, code = levels.routine, levels.routine.code
    ended = late.call(routine, ONLY)
    routine.leave(code.emit(f"icmp eq i64 {ended}, 2"), "i64 2")
    failed = routine.load("i64", levels.view.address(FAILED))
    routine.store("i64", code.emit(f"or i64 {failed}, {ended}"), levels.view.address(FAILED))


def untiled(name: str, text: NestText, nest: Nest, others: Mapping[Array, Array], alternatives: Alternatives) -> Late:
    """`@<name>(frame)`, which runs a nest with a frame of its own. others: the arrays that stand for some of `text`'s."""

    def functions(number: int) -> Sequence[Routine]:
        made, frame = without_tiles(nest), text.frame.standing_for(others)
        own = NestText(f"{name}_nest", nest, plan(made.last, made.by(Template.MERGED)), None, frame, text.read)
        ways = [way.finding for way in made.ways if way.finding is not None]
        schedule.write_run(own, [other for finding in ways for other in alternatives(own, finding)])
        assert not own.late, "what is compiled late has all that it needs"
        routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
        code, block = routine.code, routine.slot("i64", frame.words)
        for word in range(text.frame.words):
            routine.store("i64", routine.load("i64", routine.offset("%frame", word)), routine.offset(block, word))
        code.line(f"ret i64 {code.emit(f'call i64 @{own.name}_run(ptr {block})')}")
        return [routine, *own.routines]

    return Late(name, 1, functions)
