"""Which thread runs which iterations of a nest's outermost loop: the calling one, or all threads of the pool, chunk by chunk.

A chunk is a power of two of iterations, of whole blocks of 4096 where the loop folds in order. Loops with running states or
scatters go through the chunks in order on one thread. Small problems are one call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.backends.llvm.loops import long_segments
from accel.backends.llvm.loops.alternatives import Alternative
from accel.backends.llvm.loops.chunks import (
    alone_if_short,
    chunk_of,
    in_parallel,
    leave_if_failed,
    nanoseconds,
    run_chunks,
)
from accel.backends.llvm.loops.durations import CHUNK_TIME
from accel.backends.llvm.loops.flat import Flat
from accel.backends.llvm.loops.nest import Levels, NestText, body, place_records
from accel.backends.llvm.loops.one_row import join_rows
from accel.backends.llvm.loops.steps import SURE
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.frame import Frame
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import FAILED, FAULTS, LATER, RECORDS, STREAMING, THREADS
from accel.ir import mentions
from accel.ir.nodes import For, Write, is_known
from accel.labelled.array import Array, SizeVariable
from accel.labelled.meaning.order import BLOCK
from accel.schedule.splitting.phases import read_at_data

IN_ORDER = 25 * CHUNK_TIME
"""The least nanoseconds of a chunk where one thread runs all: it only looks for interrupts between them. Loops may have copies
of what they scatter into for each chunk (`targets.py`)."""

LONG_ROW = 1 << 9
"""Bytes of a row from which on it is stored past the caches where each is a loop of its own: in shorter ones much comes under
masks, or it takes longer to find out how they are stored. (A scan of rows of 1200 bytes takes 0.53 ns an element on a Xeon of
the sixth generation then, and 0.68, of 400 bytes 0.69 and 0.64.)"""

FEWEST = 64
"""Iterations of the shortest chunk of an innermost loop: whole vectors and, of what is stored, whole lines."""

BLOCK_HEAD = 2
"""Words of a block of arguments before the arrays: participants, and where a recording nest writes what failed."""


def write(text: NestText, alternatives: Sequence[Alternative] = ()) -> None:
    """All functions of the nest: `@<name>(block)` is what Python calls. `alternatives` are tried before rows."""
    write_run(text, alternatives)
    text.routines += [_filled(text), _entry(text)]


def write_run(text: NestText, alternatives: Sequence[Alternative]) -> None:
    """`@<name>_run(frame)`, which gives 0, 1 if a check failed, or 2 if the user interrupted, and what it calls."""
    level = text.visited.body
    routine = Routine(f"i64 @{text.name}_run(ptr %frame)", hot=False)
    levels = Levels(text, routine, "ret i64 1")
    if text.bounds:
        routine.leave(levels.out_of_bounds(), "i64 1")
    levels.statements(level.before)
    if level.loop is not None:
        _outermost(text, levels, level.loop, alternatives)
        levels.finish(level.loop.states)
    levels.statements(level.after)
    # Functions of states only note that something failed.
    routine.code.line(f"ret i64 {routine.load('i64', levels.view.address(FAILED))}")
    levels.memory.close()
    text.routines.append(routine)
    text.add_records()


def _filled(text: NestText) -> Routine:
    """`@<name>_frame(block, frame)` fills the frame from the block of arguments: NumPy arrays (their objects' addresses) and
    sizes. It serves any number of runs."""
    frame = text.frame
    routine = Routine(f"void @{text.name}_frame(ptr %block, ptr %frame)", hot=False)
    numbers = {array: BLOCK_HEAD + number for number, array in enumerate(frame.arrays)}
    sizes = {variable: BLOCK_HEAD + len(numbers) + number for number, variable in enumerate(frame.sizes)}
    fill_frame(routine, frame, "%frame", numbers, sizes)
    join_rows(text, routine, "%frame")
    routine.code.line("ret void")
    return routine


def _entry(text: NestText) -> Routine:
    """Runs the nest with a frame of its own."""
    routine = Routine(f"i64 @{text.name}(ptr %block)", hot=False)
    start = routine.slot("i64", text.frame.words)
    routine.code.line(f"call void @{text.name}_frame(ptr %block, ptr {start})")
    routine.code.line(f"ret i64 {routine.code.emit(f'call i64 @{text.name}_run(ptr {start})')}")
    return routine


def fill_frame(
    routine: Routine, frame: Frame, start: str, arrays: Mapping[Array, int], sizes: Mapping[SizeVariable, int]
) -> None:
    """Fills the frame at `start` from `%block`: its words of those numbers are arrays and sizes."""

    def put(word: int, type_: str, value: str) -> None:
        routine.store(type_, value, routine.offset(start, word))

    def argument(number: int, type_: str = "i64") -> str:
        return routine.load(type_, routine.offset("%block", number))

    put(FAILED, "i64", "0")
    put(THREADS, "i64", argument(0))
    put(FAULTS, "ptr", argument(1, "ptr"))
    put(LATER, "ptr", "null")
    for array in frame.arrays:
        header = argument(arrays[array], "ptr")
        put(frame.data(array), "ptr", routine.load("ptr", routine.offset(header, 2)))
        if len(array.shape) > 1:
            strides = routine.load("ptr", routine.offset(header, 5))
            for dimension in range(len(array.shape) - 1):
                stride = routine.load("i64", routine.offset(strides, frame.axis(array, dimension)))
                put(frame.stride(array, dimension), "i64", stride)
    for variable in frame.sizes:
        put(frame.size(variable), "i64", argument(sizes[variable]))


def _outermost(text: NestText, levels: Levels, loop: For, alternatives: Sequence[Alternative]) -> None:
    routine, code = levels.routine, levels.routine.code
    words = sum(text.records[state.name].words for state in loop.states)
    records = routine.slot("i64", max(1, words))
    place_records(text, levels, loop, records)
    for state in loop.states:
        levels.reset(state, levels.pointers[state.name])
    levels.keep_streams()
    routine.store("ptr", records, levels.view.address(RECORDS))
    long_segments.begin(text, levels)
    if alternatives:
        after = routine.label()
        for alternative in alternatives:
            with routine.when(alternative.applies(levels)):
                ran, others = alternative.run(levels), routine.label()
                routine.branch(ran or "true", after, others)
                routine.place(others)
        _rows(text, levels, loop, records)
        routine.jump(after)
        routine.place(after)
    else:
        _rows(text, levels, loop, records)
    failed = routine.load("i64", levels.view.address(FAILED))
    routine.leave(code.emit(f"icmp ne i64 {failed}, 0"), "i64 1")
    long_segments.finish(text, levels)


def _rows(text: NestText, levels: Levels, loop: For, records: str) -> None:
    """The outermost loop in its own order."""
    routine = levels.routine
    loops, parallel = text.plan.flat, text.plan.parallel
    innermost = (loops[-1] if loops else loop).body.loop is None
    if loops is None:
        extent = levels.extent(loop)
        text.routines.append(body(text, loop, text.name))
    else:
        flat = Flat(text, loops)
        extent = flat.positions(levels)
        text.routines.append(flat.body())
    note_rows(text, levels, loops or [loop], extent)
    time = nanoseconds(text, levels, loops or [loop], extent)
    ordered = any(not state.monoid.exact for state in loop.states)
    least = BLOCK if innermost or ordered else 1

    def in_chunks() -> None:
        if parallel:
            light = text.duration.light(FEWEST, BLOCK) if innermost and not ordered else least
            in_parallel(text, levels, loop, text.name, extent, light, time)
        else:
            chunk = routine.least(chunk_of(routine, least, extent, time, light=IN_ORDER), str(SURE))
            text.routines.append(_next_chunk(text))
            run_chunks(levels, f"@{text.name}_chunk", extent, chunk, "1", time)

    alone = f"call void @{text.name}_body(ptr %frame, ptr {records}, i64 0, i64 {extent})"
    alone_if_short(routine, time, alone, in_chunks)


def note_rows(text: NestText, levels: Levels, outermost: Sequence[For], extent: str) -> None:
    """As `note_streaming`, of so many iterations of the outermost loops: what rows inside of these write, if their extents are
    known and a row is long enough."""
    inside = [x.loop for x in mentions.levels(text.visited) if x.loop is not None and x.loop not in outermost]
    if text.plan.each or not inside or not all(is_known(loop.extent) for loop in inside):
        note_streaming(text, levels, extent, text.plan.each)
        return
    code, length = levels.routine.code, levels.extent(inside[-1])
    *_, innermost = mentions.levels(text.visited)
    writes = [s for s in (*innermost.before, *innermost.after) if isinstance(s, Write)]
    for loop in inside:
        extent = code.emit(f"mul i64 {extent}, {levels.extent(loop)}")
    bytes_of_row = sum(write.array.element.bytes for write in writes)
    long = code.emit(f"icmp sge i64 {code.emit(f'mul i64 {length}, {bytes_of_row}')}, {LONG_ROW}")
    _note(text, levels, code.emit(f"select i1 {long}, i64 {extent}, i64 0"), 1, writes)


def note_streaming(text: NestText, levels: Levels, extent: str, each: int) -> str:
    """Notes, and gives as an i1, whether stores go past the caches: the nest writes more than these hold, and no random reads
    have them wait. Where the processor keeps stores, the program also reads nothing of it itself, in a later nest or in the
    next turn of a loop.

    `each`: how many elements an iteration of the outermost loops writes; 0 if that is not known.
    """
    return _note(text, levels, extent, each, [s for s in mentions.statements(text.nest) if isinstance(s, Write)])


def _note(text: NestText, levels: Levels, extent: str, each: int, writes: Sequence[Write]) -> str:
    """The same of these writes."""
    processor = host().processor
    kept = processor.keeps_stores and any(write.array in text.read for write in writes)
    written = 0 if kept or read_at_data(text.nest) else each * sum(write.array.element.bytes for write in writes)
    code = levels.routine.code
    large = code.emit(f"icmp sgt i64 {code.emit(f'mul i64 {extent}, {written}')}, {processor.cached_bytes}")
    levels.routine.store("i64", code.emit(f"zext i1 {large} to i64"), levels.view.address(STREAMING))
    return large


def _next_chunk(text: NestText) -> Routine:
    """`@<name>_chunk` of a loop that runs in order: the caller's records go on."""
    routine = Routine(f"void @{text.name}_chunk(ptr %frame, i64 %low, i64 %high)", hot=False)
    levels = Levels(text, routine, "ret void")
    leave_if_failed(levels.view)
    records = levels.view.word(RECORDS, "ptr")
    routine.code.line(f"call void @{text.name}_body(ptr %frame, ptr {records}, i64 %low, i64 %high)")
    routine.code.line("ret void")
    return routine
