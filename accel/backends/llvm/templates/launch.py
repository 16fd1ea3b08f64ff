"""Runs parts of a nest that may be run in any order, on the calling thread or on all."""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.loops.chunks import alone_if_short, run_chunks
from accel.backends.llvm.loops.durations import CHUNK_TIME
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.steps import STEP_TIME
from accel.backends.llvm.text.words import THREADS
from accel.ir.nodes import For

FEW = 4
"""Chunks of a thread, from which on they may have more parts."""


def product_of_extents(levels: Levels, loops: Sequence[For]) -> str:
    """How many iterations some loops have together."""
    total = "1"
    for loop in loops:
        total = levels.routine.code.emit(f"mul i64 {total}, {levels.extent(loop)}")
    return total


def launch(
    text: NestText, levels: Levels, function: str, parts: str, elements: str, size: int, together: int = 1
) -> None:
    """Calls `function(frame, low, high)` for all of some parts, which are `elements` together and `size` each, at most.

    `function`: a symbol or a register. Few are one call. Others are launched in chunks of about `CHUNK_TIME`, or a step if rows
    are longer than was thought; of as many as `together` where each thread has `FEW` such chunks. Leaves the function that is
    written if the user interrupts.
    """
    routine, code = levels.routine, levels.routine.code
    each = text.duration
    time = each.of(code, code.emit(f"sitofp i64 {elements} to double"))
    all_parts = code.emit(f"sitofp i64 {parts} to double")
    light = max(1, round(CHUNK_TIME / (size * each.least)))

    def in_chunks() -> None:
        of_a_step = code.emit(f"fdiv double {code.emit(f'fmul double {all_parts}, {STEP_TIME:e}')}, {time}")
        threads = routine.load("i64", levels.view.address(THREADS))
        chunk = str(light)
        if together > light:
            share = code.emit(f"udiv i64 {parts}, {code.emit(f'mul i64 {threads}, {FEW}')}")
            chunk = code.call(
                "llvm.smax.i64", "i64", ["i64", "i64"], [f"i64 {routine.least(share, str(together))}", f"i64 {light}"]
            )
        chunk = routine.least(chunk, code.emit(f"fptosi double {of_a_step} to i64"))
        chunk = code.call("llvm.smax.i64", "i64", ["i64", "i64"], [f"i64 {chunk}", "i64 1"])
        run_chunks(levels, function, parts, chunk, threads, time)

    alone_if_short(routine, time, f"call void {function}(ptr %frame, i64 0, i64 {parts})", in_chunks)
