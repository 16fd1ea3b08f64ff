"""Runs parts of a nest that may be run in any order, on the calling thread or on all."""

from __future__ import annotations

from accel.backends.llvm.loops.chunks import run_chunks
from accel.backends.llvm.loops.durations import ALONE, CHUNK_TIME, duration
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.text.words import THREADS


def launch(text: NestText, levels: Levels, function: str, parts: str, elements: str, size: int) -> None:
    """Calls `@function(frame, low, high)` for all of some parts, which are `elements` together and `size` each, at most.

    Few are one call. Leaves the function if the user interrupts.
    """
    routine, code = levels.routine, levels.routine.code
    each = duration(text)
    time = each.of(code, code.emit(f"sitofp i64 {elements} to double"))
    few, many, after = routine.label(), routine.label(), routine.label()
    routine.branch(code.emit(f"fcmp olt double {time}, {ALONE:e}"), few, many)
    routine.place(few)
    code.line(f"call void @{function}(ptr %frame, i64 0, i64 {parts})")
    routine.jump(after)
    routine.place(many)
    chunk = max(1, round(CHUNK_TIME / (size * each.least)))
    threads = routine.load("i64", levels.view.address(THREADS))
    run_chunks(levels, function, parts, chunk, threads, time)
    routine.jump(after)
    routine.place(after)
