"""Iterations of a loop chunk by chunk: how many a chunk has, and what runs the chunks on the calling thread or on all.

Every chunk's result is a partial result that the caller joins in order, so that results have the same bits whatever the number
of threads. Between chunks, and in the middle of long ones that leave partial results, the calling thread looks for signals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from accel.ast.tree.types import I64
from accel.backends.llvm.loops.durations import ALONE, CHUNK_TIME
from accel.backends.llvm.loops.nest import Levels, NestText, place_records
from accel.backends.llvm.loops.partials import absorb_partials, partial_words, store_partials
from accel.backends.llvm.loops.steps import STEP_TIME
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import CHUNK, FAILED, PARTIALS, THREADS
from accel.ir import mentions
from accel.ir.nodes import For, Nest, Remap, is_known
from accel.labelled.array import Extent
from accel.labelled.meaning.order import BLOCK

MOST_CHUNKS = 256
"""Of a loop whose chunks leave partial results, for which there is room on the stack."""

SOME = 64.0
"""Iterations of a loop whose extent is found out by the loops around it."""

_STEP = "step of chunks"
"""The stream in the frame that says how many iterations a step has."""


def nanoseconds(text: NestText, levels: Levels, outermost: Sequence[For], extent: str) -> str:
    """Of `extent` iterations, an i64, of the outermost loops: a double."""
    code = levels.routine.code
    iterations = code.emit(f"sitofp i64 {extent} to double")
    loops = mentions.loops(text.visited)
    for around, loop in pairwise([None, *loops]):
        if loop is None or loop in outermost:
            continue
        if is_known(loop.extent):
            each = code.emit(f"sitofp i64 {levels.writer.one(levels.streams.value(loop.extent))} to double")
        elif around is not None and (elements := _elements(text.visited, loop)) is not None:
            both = (
                code.emit(f"sitofp i64 {levels.writer.one(levels.streams.value(count))} to double")
                for count in (elements, around.extent)
            )
            each = average(code, *both)
        else:
            # What an outer iteration finds out is not known here: some number.
            each = f"{SOME:e}"
        iterations = code.emit(f"fmul double {iterations}, {each}")
    return text.duration.of(code, iterations)


def average(code: Code, elements: str, segments: str) -> str:
    """How many of so many elements a segment has, at least one, also where there are no segments; all are doubles."""
    return _at_least_one(code, code.emit(f"fdiv double {elements}, {_at_least_one(code, segments)}"))


def _at_least_one(code: Code, number: str) -> str:
    return code.emit(f"select i1 {code.emit(f'fcmp ogt double {number}, 1.0')}, double {number}, double 1.0")


def _elements(nest: Nest, loop: For) -> Extent | None:
    """About how many elements all segments have together whose elements the loop visits; None if it visits none of a
    segment's."""
    for statement in mentions.statements(nest):
        if isinstance(statement, Remap) and statement.segment is not None and loop.extent == statement.outs[-1]:
            return statement.bounds[-1]
    return None


def run_chunks(levels: Levels, function: str, extent: str, chunk: int | str, threads: str, time: str) -> None:
    """All chunks of a function of a frame, the first and the last iteration, a symbol or a register; leaves the function that
    is written if the user interrupted."""
    leave_if_interrupted(levels.routine, levels.routine.run_chunks(function, "%frame", extent, chunk, threads, time))


def run_units(levels: Levels, function: str, units: str, time: str) -> None:
    """All units of a function of a frame, the first and the last unit: some work that may be done in any order, which takes
    `time` together. One call if that is short, else chunks on all threads."""
    routine = levels.routine

    def in_chunks() -> None:
        threads = routine.load("i64", levels.view.address(THREADS))
        run_chunks(levels, function, units, chunk_of(routine, 1, units, time), threads, time)

    alone_if_short(routine, time, f"call void {function}(ptr %frame, i64 0, i64 {units})", in_chunks)


def alone_if_short(routine: Routine, time: str, alone: str, in_chunks: Callable[[], None]) -> None:
    """Of what takes `time` together: one call, the line `alone`, if it is too short for several threads, else what `in_chunks`
    writes."""
    short, long, after = routine.label(), routine.label(), routine.label()
    routine.branch(routine.code.emit(f"fcmp olt double {time}, {ALONE:e}"), short, long)
    routine.place(short)
    routine.code.line(alone)
    routine.jump(after)
    routine.place(long)
    in_chunks()
    routine.jump(after)
    routine.place(after)


def leave_if_interrupted(routine: Routine, stopped: str) -> None:
    """Ends the launch where what ran the chunks, or a function around that, said that the user interrupted."""
    routine.leave(routine.code.emit(f"icmp ne i64 {stopped}, 0"), "i64 2")


def chunk_of(
    routine: Routine,
    least: int,
    extent: str,
    time: str,
    most: int = MOST_CHUNKS,
    light: float = CHUNK_TIME,
    *,
    partials: bool = False,
) -> str:
    """`least` iterations times a power of two: not less nanoseconds than `light`, and at most `most` chunks.

    `time`: the nanoseconds of all iterations, a double. `partials`: whether chunks leave partial results. If they do not, there
    may be more chunks than `most` which are longer than `STEP_TIME`.
    """
    code = routine.code
    each = _each(routine, extent, time)
    slot = routine.slot("i64")
    routine.store("i64", str(least), slot)

    def grows(chunk: str) -> str:
        time_of_chunk = code.emit(f"fmul double {code.emit(f'sitofp i64 {chunk} to double')}, {each}")
        short = code.emit(f"fcmp olt double {time_of_chunk}, {light:e}")
        many = code.emit(f"icmp sgt i64 {code.emit(f'sdiv i64 {extent}, {chunk}')}, {most - 1}")
        if not partials:
            many = code.emit(f"and i1 {many}, {code.emit(f'fcmp olt double {time_of_chunk}, {STEP_TIME:e}')}")
        more = code.emit(f"icmp slt i64 {chunk}, {extent}")
        return code.emit(f"and i1 {more}, {code.emit(f'or i1 {short}, {many}')}")

    return routine.shift_while(slot, "shl", grows)


def keep_step(levels: Levels, least: int, chunk: str, extent: str, time: str) -> None:
    """Puts into the frame how many iterations of a chunk take not longer than `STEP_TIME`: `least` times a power of two."""
    routine, code = levels.routine, levels.routine.code
    each = _each(routine, extent, time)
    slot = routine.slot("i64")
    routine.store("i64", chunk, slot)

    def shrinks(step: str) -> str:
        time_of_step = code.emit(f"fmul double {code.emit(f'sitofp i64 {step} to double')}, {each}")
        long = code.emit(f"fcmp ogt double {time_of_step}, {STEP_TIME:e}")
        return code.emit(f"and i1 {long}, {code.emit(f'icmp sgt i64 {step}, {least}')}")

    levels.view.keep(_STEP, I64, routine.shift_while(slot, "lshr", shrinks))


def in_steps(text: NestText, levels: Levels, body: str, arguments: str, low: str, high: str) -> None:
    """Calls `@<body>_body` for iterations low .. high-1 of a chunk, step by step. `arguments`: its frame and records."""
    step = levels.view.word(text.frame.stream(_STEP))
    with levels.steps.over(low, high, step) as (start, end):
        levels.routine.code.line(f"call void @{body}_body({arguments}, i64 {start}, i64 {end})")


def _each(routine: Routine, extent: str, time: str) -> str:
    """The nanoseconds of an iteration, a double."""
    return routine.code.emit(f"fdiv double {time}, {routine.code.emit(f'sitofp i64 {extent} to double')}")


def in_parallel(text: NestText, levels: Levels, loop: For, name: str, extent: str, least: int, time: str) -> None:
    """Chunks of `@<name>_body` on all threads; then their partial results join the caller's records in order.

    `least`: how many iterations a chunk, and a step of one, is a multiple of.
    """
    routine, partial = levels.routine, bool(loop.states)
    chunk = chunk_of(routine, least, extent, time, partials=partial)
    if partial:
        keep_step(levels, least, chunk, extent, time)
    text.routines.append(_partial_chunk(text, loop, name))
    partials = routine.slot("i64", max(1, partial_words(text, loop.states) * MOST_CHUNKS))
    routine.store("ptr", partials, levels.view.address(PARTIALS))
    routine.store("i64", chunk, levels.view.address(CHUNK))
    threads = routine.load("i64", levels.view.address(THREADS))
    run_chunks(levels, f"@{name}_chunk", extent, chunk, threads, time)
    absorb_partials(text, levels, loop.states, partials, extent, chunk)


def fold_in_chunks(text: NestText, levels: Levels, loop: For, name: str, least: int) -> None:
    """Runs `@<name>_body` for all iterations of the outermost loop, whose records are in scope: as one call, or in parallel.

    `least`: iterations of a chunk are a multiple of that, or of a block if the order of elements matters.
    """
    extent = levels.extent(loop)
    time = nanoseconds(text, levels, [loop], extent)
    records = levels.pointers[loop.states[0].name]
    ordered = any(not state.monoid.exact for state in loop.states)

    def in_chunks() -> None:
        in_parallel(text, levels, loop, name, extent, BLOCK if ordered else least, time)

    alone = f"call void @{name}_body(ptr %frame, ptr {records}, i64 0, i64 {extent})"
    alone_if_short(levels.routine, time, alone, in_chunks)


def _partial_chunk(text: NestText, loop: For, name: str) -> Routine:
    """`@<name>_chunk` of a parallel loop: a chunk with records of its own, then its results to its partials."""
    routine = Routine(f"void @{name}_chunk(ptr %frame, i64 %low, i64 %high)", hot=False)
    levels = Levels(text, routine, "ret void")
    code, view = routine.code, levels.view
    leave_if_failed(levels.view)
    records = routine.slot("i64", max(1, sum(text.records[state.name].words for state in loop.states)))
    place_records(text, levels, loop, records)
    for state in loop.states:
        text.records[state.name].reset(routine, levels.pointers[state.name], None)
    if not loop.states:
        code.line(f"call void @{name}_body(ptr %frame, ptr {records}, i64 %low, i64 %high)")
    else:
        in_steps(text, levels, name, f"ptr %frame, ptr {records}", "%low", "%high")
        store_partials(text, levels, loop.states, code.emit(f"sdiv i64 %low, {view.word(CHUNK)}"))
    code.line("ret void")
    levels.memory.close()
    return routine


def leave_if_failed(view: FrameView) -> None:
    """Leaves a chunk's function if another chunk has failed, or the user has interrupted."""
    routine = view.routine
    failed = routine.load("i64", view.address(FAILED))
    routine.leave(routine.code.emit(f"icmp ne i64 {failed}, 0"), "void")
