"""What launches of a tiled nest have in common: its extents, its parameters, and what the pool calls."""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.loops.chunks import leave_if_failed
from accel.backends.llvm.loops.durations import ALONE, CHUNK_TIME
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Word
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import THREADS
from accel.ir.nodes import Stream
from accel.schedule.templates.tile import Tile

PARAMETERS = Stream("tile: parameters", I64)
"""A word of the frame: the address of the parameters. No stream of a nest has a space."""


class Launch:
    """The beginning of a function that runs a whole nest; of little work one thread does all.

    extents: rows, columns and elements. total: of the loops around, as one. words: the parameters, `size` of them. time: about
    the nanoseconds that all takes, a double.
    """

    def __init__(self, levels: Levels, text: NestText, layout: Layout) -> None:
        self._levels, self._text, self._tile = levels, text, layout.tile
        routine = levels.routine
        self.extents = extents(levels, layout.tile)
        self.total = "1"
        for loop in layout.tile.batch:
            self.total = routine.code.emit(f"mul i64 {self.total}, {levels.own_extent(loop)}")
        self.size = parameters(layout.tile)
        self.words = Parameters(routine, routine.slot("i64", self.size))
        self.time = self._time_of(steps(levels, layout.tile))
        with routine.when(routine.code.emit(f"fcmp olt double {self.time}, {ALONE:e}")):
            routine.store("i64", "1", levels.view.address(THREADS))
        levels.view.keep(PARAMETERS.name, I64, routine.code.emit(f"ptrtoint ptr {self.words.pointer} to i64"))

    def at_once(self, extents: Sequence[str]) -> str:
        """How many units of work of these extents make a chunk: at least as much as is worth handing out."""
        code = self._levels.routine.code
        more = code.emit(f"fdiv double {CHUNK_TIME:e}, {self._time_of(product(code, extents))}")
        return code.emit(f"add i64 {code.emit(f'fptosi double {more} to i64')}, 1")

    def run(self, function: str, count: str, chunk: int | str) -> str:
        """Runs a function on all threads: an i1, whether the user interrupted."""
        routine = self._levels.routine
        threads = routine.load("i64", self._levels.view.address(THREADS))
        stopped = routine.run_chunks(function, "%frame", count, chunk, threads, self.time)
        return routine.code.emit(f"icmp ne i64 {stopped}, 0")

    def _time_of(self, steps: str) -> str:
        return time_of(self._levels, self._text, steps)


def time_of(levels: Levels, text: NestText, steps: str) -> str:
    """About the nanoseconds of so many steps, doubles: without bytes, and without half of the instructions, since what is read
    for one row or column is there for others."""
    return levels.routine.code.emit(f"fmul double {steps}, {text.duration.instructions / 2:e}")


def extents(levels: Levels, tile: Tile) -> tuple[str, str, str]:
    """Rows, columns, and elements of a fold."""
    rows, columns, count = (levels.own_extent(loop) for loop in (tile.rows.loop, tile.columns.loop, tile.fold))
    return rows, columns, count


def folds(levels: Levels, tile: Tile) -> str:
    """How many there are: a double."""
    loops = (*tile.batch, tile.rows.loop, tile.columns.loop)
    return product(levels.routine.code, [levels.own_extent(loop) for loop in loops])


def steps(levels: Levels, tile: Tile) -> str:
    """Of all folds: a double."""
    around = [levels.own_extent(loop) for loop in tile.batch]
    return product(levels.routine.code, (*extents(levels, tile), *around))


def product(code: Code, extents: Sequence[str]) -> str:
    """Of extents, as a double."""
    found = "1.0"
    for extent in extents:
        found = code.emit(f"fmul double {found}, {code.emit(f'sitofp i64 {extent} to double')}")
    return found


def parameters(tile: Tile) -> int:
    """How many words of parameters there are."""
    return int(Word.BATCH) + len(tile.batch)


def put_batch(words: Parameters, number: str, extents: Sequence[str]) -> None:
    """Says which of the batch is computed: the indices of the loops around."""
    for depth, index in enumerate(words.routine.code.indices(number, extents)):
        words.put(Word.BATCH + depth, index)


def shared(name: str, function: str, frame: Frame) -> Routine:
    """`@<name>(frame, low, high)`, as the pool calls it: the function with the parameters, unless something failed."""
    routine = Routine(f"void @{name}(ptr %frame, i64 %low, i64 %high)", hot=False)
    code, view = routine.code, FrameView(routine, frame)
    leave_if_failed(view)
    words = code.emit(f"inttoptr i64 {view.stream(PARAMETERS)} to ptr")
    code.line(f"call void @{function}(ptr %frame, ptr {words}, i64 %low, i64 %high)")
    code.line("ret void")
    return routine
