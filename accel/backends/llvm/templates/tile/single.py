"""A tiled nest of one row, or of one column: without that loop, by the templates that suit it, compiled at first need."""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.loops import schedule
from accel.backends.llvm.loops.alternatives import Alternatives
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.states.analysis import plan
from accel.backends.llvm.templates.tile.launch import product
from accel.backends.llvm.templates.tile.layout import host_layout
from accel.backends.llvm.templates.tile.small.direct import MOST, serves_few
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import FAILED
from accel.ir.single import single
from accel.schedule.machine import PROCESSOR
from accel.schedule.nodes import Template
from accel.schedule.templates.choose import schedules
from accel.schedule.templates.tile import Tile

ONLY = "0"
"""The number of the only function."""


class SingleLoop:
    """One nest of which the tile's rows are a single one, or, if the tile is turned, the columns. `least`: how many steps are
    worth it."""

    def __init__(self, text: NestText, tile: Tile, alternatives: Alternatives, least: float, *, turned: bool) -> None:
        """`alternatives`: what is written for what templates find in the nest without the loop."""
        self._text = text
        self._tile = tile
        self._least = least
        self._alternatives = alternatives
        self._found = single(text.nest, tile.rows.loop)
        self._late = Late(f"{text.name}_{'column' if turned else 'row'}", 1, self._functions)

    def applies(self, levels: Levels) -> str:
        """There is one iteration, and enough to do, for which there is no tile that packs nothing; arrays that have one element
        in each row have these side by side."""
        code = levels.routine.code
        loops = [self._tile.rows.loop, self._tile.columns.loop, self._tile.fold, *self._tile.batch]
        work = product(code, [levels.own_extent(loop) for loop in loops])
        enough = code.emit(f"fcmp oge double {work}, {self._least:e}")
        if self._least > 1 and serves_few(host_layout(self._tile)):
            many = code.emit(f"icmp sgt i64 {levels.own_extent(self._tile.fold)}, {MOST}")
            enough = code.emit(f"and i1 {enough}, {many}")
        once = code.emit(f"icmp eq i64 {levels.own_extent(self._found.loop)}, 1")
        enough = code.emit(f"and i1 {enough}, {once}")
        for array in self._found.layouts:
            stride = levels.view.stride(array, len(array.shape) - 2)
            adjacent = code.emit(f"icmp eq i64 {stride}, {array.element.bytes}")
            enough = code.emit(f"and i1 {enough}, {adjacent}")
        return enough

    def run(self, levels: Levels) -> None:
        """Calls the function, and notes if a check failed."""
        self._text.routines.append(self._late.found())
        self._text.late.append(self._late)
        routine, code = levels.routine, levels.routine.code
        ended = self._late.call(routine, ONLY)
        routine.leave(code.emit(f"icmp eq i64 {ended}, 2"), "i64 2")
        failed = routine.load("i64", levels.view.address(FAILED))
        routine.store("i64", code.emit(f"or i64 {failed}, {ended}"), levels.view.address(FAILED))

    def _functions(self, number: int) -> Sequence[Routine]:
        """`@<name>(frame)`, which runs the nest without the loop with a frame of its own, and all that it calls."""
        name, outer = self._late.name, self._text.frame
        frame = outer.standing_for({array: found.array for array, found in self._found.layouts.items()})
        made = schedules(self._found.nest, PROCESSOR)
        text = NestText(
            f"{name}_nest", made.nest, plan(made.last, made.by(Template.MERGED)), None, frame, self._text.read
        )
        ways = [way.finding for way in made.ways if way.finding is not None and not isinstance(way.finding, Tile)]
        schedule.write_run(text, [other for finding in ways for other in self._alternatives(text, finding)])
        assert not text.late, "what is compiled late has all that it needs"
        routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
        code, block = routine.code, routine.slot("i64", frame.words)
        for word in range(outer.words):
            routine.store("i64", routine.load("i64", routine.offset("%frame", word)), routine.offset(block, word))
        code.line(f"ret i64 {code.emit(f'call i64 @{text.name}_run(ptr {block})')}")
        return [routine, *text.routines]
