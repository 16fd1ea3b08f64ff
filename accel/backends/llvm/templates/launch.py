"""Runs parts of a nest that may be run in any order, on the calling thread or on all."""

from __future__ import annotations

from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.schedule import CACHE_BYTES, CHUNK_WORK, SMALL
from accel.backends.llvm.states.analysis import weight
from accel.backends.llvm.text.frame import STREAMING, THREADS
from accel.ir import mentions
from accel.ir.nodes import Write


def launch(text: NestText, levels: Levels, function: str, parts: str, elements: str, size: int) -> None:
    """Calls `@function(frame, low, high)` for all of some parts, which are `elements` together and `size` each, at most.

    Few are one call. Says in the frame whether stores go past the caches. Leaves the function if the user interrupts.
    """
    routine, code = levels.routine, levels.routine.code
    written = sum(s.array.element.bytes for s in mentions.statements(text.nest) if isinstance(s, Write))
    large = code.emit(f"icmp sgt i64 {code.emit(f'mul i64 {elements}, {written}')}, {CACHE_BYTES}")
    routine.store("i64", code.emit(f"zext i1 {large} to i64"), levels.view.address(STREAMING))
    work = float(weight(text.nest))
    total = code.emit(f"fmul double {code.emit(f'sitofp i64 {elements} to double')}, {work:e}")
    few, many, after = routine.label(), routine.label(), routine.label()
    routine.branch(code.emit(f"fcmp olt double {total}, {SMALL:e}"), few, many)
    routine.place(few)
    code.line(f"call void @{function}(ptr %frame, i64 0, i64 {parts})")
    routine.jump(after)
    routine.place(many)
    chunk = max(1, round(CHUNK_WORK / (size * work)))
    threads = routine.load("i64", levels.view.address(THREADS))
    arguments = f"ptr @{function}, ptr %frame, i64 {parts}, i64 {chunk}, i64 {threads}"
    stopped = code.emit(f"call i64 @accel_run({arguments})")
    with routine.when(code.emit(f"icmp ne i64 {stopped}, 0")):
        code.line("ret i64 2")
        routine.place(routine.label())
    routine.jump(after)
    routine.place(after)
