"""Iterations of a loop chunk by chunk: how many a chunk has, and what runs the chunks on the calling thread or on all.

Every chunk's result is a partial result that the caller joins in order, so that results have the same bits whatever the number
of threads.
"""

from __future__ import annotations

from accel.backends.llvm.loops.durations import CHUNK_TIME
from accel.backends.llvm.loops.nest import Levels, NestText, place_records
from accel.backends.llvm.loops.partials import absorb_partials, partial_words, store_partials
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import CHUNK, FAILED, PARTIALS, THREADS
from accel.ir.nodes import For

MOST_CHUNKS = 256


def run_chunks(levels: Levels, function: str, extent: str, chunk: int | str, threads: str, time: str) -> None:
    """All chunks of a function of a frame, the first and the last iteration; leaves the function if the user interrupted."""
    leave_if_interrupted(levels.routine, levels.routine.run_chunks(function, "%frame", extent, chunk, threads, time))


def leave_if_interrupted(routine: Routine, stopped: str) -> None:
    """Ends the launch where what ran the chunks, or a function around that, said that the user interrupted."""
    routine.leave(routine.code.emit(f"icmp ne i64 {stopped}, 0"), "i64 2")


def chunk_of(
    routine: Routine, least: int, extent: str, time: str, most: int = MOST_CHUNKS, light: float = CHUNK_TIME
) -> str:
    """`least` iterations times a power of two: not less nanoseconds than `light`, and at most `most` chunks.

    `time`: the nanoseconds of all iterations, a double.
    """
    code = routine.code
    slot = routine.slot("i64")
    routine.store("i64", str(least), slot)
    each = code.emit(f"fdiv double {time}, {code.emit(f'sitofp i64 {extent} to double')}")
    head, grow, done = routine.label(), routine.label(), routine.label()
    routine.jump(head)
    routine.place(head)
    chunk = routine.load("i64", slot)
    time_of_chunk = code.emit(f"fmul double {code.emit(f'sitofp i64 {chunk} to double')}, {each}")
    short = code.emit(f"fcmp olt double {time_of_chunk}, {light:e}")
    many = code.emit(f"icmp sgt i64 {code.emit(f'sdiv i64 {extent}, {chunk}')}, {most - 1}")
    more = code.emit(f"icmp slt i64 {chunk}, {extent}")
    routine.branch(code.emit(f"and i1 {more}, {code.emit(f'or i1 {short}, {many}')}"), grow, done)
    routine.place(grow)
    routine.store("i64", code.emit(f"shl i64 {chunk}, 1"), slot)
    routine.jump(head)
    routine.place(done)
    return chunk


def in_parallel(text: NestText, levels: Levels, loop: For, name: str, extent: str, chunk: str, time: str) -> None:
    """Chunks of `@<name>_body` on all threads; then their partial results join the caller's records in order."""
    routine = levels.routine
    text.routines.append(_partial_chunk(text, loop, name))
    partials = routine.slot("i64", max(1, partial_words(text, loop.states) * MOST_CHUNKS))
    routine.store("ptr", partials, levels.view.address(PARTIALS))
    routine.store("i64", chunk, levels.view.address(CHUNK))
    threads = routine.load("i64", levels.view.address(THREADS))
    run_chunks(levels, f"{name}_chunk", extent, chunk, threads, time)
    absorb_partials(text, levels, loop.states, partials, extent, chunk)


def _partial_chunk(text: NestText, loop: For, name: str) -> Routine:
    """`@<name>_chunk` of a parallel loop: a chunk with records of its own, then its results to its partials."""
    routine = Routine(f"void @{name}_chunk(ptr %frame, i64 %low, i64 %high)", hot=False)
    levels = Levels(text, routine, "ret void")
    code, view = routine.code, levels.view
    leave_if_failed(levels)
    records = routine.slot("i64", max(1, sum(text.records[state.name].words for state in loop.states)))
    place_records(text, levels, loop, records)
    for state in loop.states:
        text.records[state.name].reset(routine, levels.pointers[state.name], None)
    code.line(f"call void @{name}_body(ptr %frame, ptr {records}, i64 %low, i64 %high)")
    if loop.states:
        store_partials(text, levels, loop.states, code.emit(f"sdiv i64 %low, {view.word(CHUNK)}"))
    code.line("ret void")
    levels.memory.close()
    return routine


def leave_if_failed(levels: Levels) -> None:
    """Leaves a chunk's function if another chunk has failed, or the user has interrupted."""
    routine = levels.routine
    failed = routine.load("i64", levels.view.address(FAILED))
    routine.leave(routine.code.emit(f"icmp ne i64 {failed}, 0"), "void")
