"""Steps: how much of a loop runs before a nest looks whether the user has interrupted. What decides that stands here.

Chunks of an outermost loop take about as long as `STEP_TIME`, or are one iteration, or leave partial results, of which there
are not many. So loops inside run in steps as well, as chunks do that are longer, and what is repeated without knowing how long
it takes, such as rows of an extent that is data, is counted down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.loops.durations import FAR, Duration
from accel.ir.nodes import For, is_known
from accel.labelled.array import Extent
from accel.labelled.meaning.order import BLOCK

Part: TypeAlias = Callable[[str, str, str], None]
"""Writes iterations low .. high-1 of a loop of some extent, counted in the order in which it runs."""

STEP_TIME = 5e6
"""Nanoseconds of a step, as far as they are known: a look at the clock takes some thirty."""

MOST = 1 << 26
"""Iterations of a step, whatever they take."""

SURE = 1 << 17
"""Iterations of a step inside of a loop, or in order, at most: operators of folds and scans may take hundreds of nanoseconds,
which durations do not know, and a look for so many is nothing."""


def iterations(each: Duration) -> int:
    """Of an innermost loop in a step, with all bytes far away: a power of two of blocks, at least one."""
    longest, step = max(each.instructions, each.bytes / FAR), BLOCK
    while step < MOST and 2 * step * longest <= STEP_TIME:
        step *= 2
    return step


class Steps:
    """The steps of the loops in one function, each of at most `most` iterations of the innermost loop."""

    def __init__(self, memory: Memory, most: int) -> None:
        self._memory, self._most = memory, min(most, SURE)
        self._left: str | None = None
        self._around = 0
        """How many loops are being written by `run`."""

    def run(self, loop: For, extent: str, write: Part, *, looks: bool) -> None:
        """Writes all iterations of a loop that is inside of another. `looks`: whether what is written looks by itself."""
        innermost = loop.body.loop is None
        if innermost and not looks:
            with self.parts(loop, "0", extent) as (low, high):
                write(low, high, extent)
        else:
            self._around += 1
            write("0", extent, extent)
            self._around -= 1
        if innermost and (self._around or not is_known(loop.extent)):
            self.count(extent)

    @contextmanager
    def parts(self, loop: For, low: str, high: str) -> Iterator[tuple[str, str]]:
        """As `over`, in steps of an innermost loop; but a loop that has in no run of the program more iterations than a step is
        written as it is."""
        extent = loop.extent
        if isinstance(extent, Extent) and extent.variable is None and extent.offset <= self._most:
            yield low, high
            return
        with self.over(low, high) as part:
            yield part

    @contextmanager
    def over(self, first: str, end: str, step: str | None = None) -> Iterator[tuple[str, str]]:
        """Around the writing of iterations first .. end-1 of a loop: where a step begins, and where it ends. A step has `step`
        iterations; None: as many as one of an innermost loop."""
        routine, code = self._memory.routine, self._memory.routine.code
        position = routine.slot("i64")
        routine.store("i64", first, position)
        head, again, after = (routine.label() for _ in range(3))
        routine.jump(head)
        routine.place(head)
        low = routine.load("i64", position)
        high = routine.least(code.emit(f"add i64 {low}, {step or self._most}"), end)
        yield low, high
        routine.branch(code.emit(f"icmp slt i64 {high}, {end}"), again, after, rarely=True)
        routine.place(again)
        self._memory.poll()
        routine.store("i64", high, position)
        routine.jump(head)
        routine.place(after)

    def between_blocks(self, start: str, size: int = BLOCK) -> None:
        """Looks behind the block that begins at `start` if a step ends with it. `size`: of blocks, a power of two."""
        routine, code = self._memory.routine, self._memory.routine.code
        place = code.emit(f"and i64 {start}, {self._most - size}")
        due, after = routine.label(), routine.label()
        routine.branch(code.emit(f"icmp eq i64 {place}, {self._most - size}"), due, after, rarely=True)
        routine.place(due)
        self._memory.poll()
        routine.jump(after)
        routine.place(after)

    def count(self, done: str) -> None:
        """Counts iterations of the innermost loop that have run, and one for the loop itself; after a step's it looks."""
        routine, code = self._memory.routine, self._memory.routine.code
        if self._left is None:
            self._left = routine.slot("i64")
            code.at_entry().line(f"store i64 {self._most}, ptr {self._left}")
        left = code.emit(f"sub i64 {routine.load('i64', self._left)}, {done}")
        left = code.emit(f"sub i64 {left}, 1")
        routine.store("i64", left, self._left)
        due, after = routine.label(), routine.label()
        routine.branch(code.emit(f"icmp slt i64 {left}, 0"), due, after, rarely=True)
        routine.place(due)
        self._memory.poll()
        routine.store("i64", str(self._most), self._left)
        routine.jump(after)
        routine.place(after)
