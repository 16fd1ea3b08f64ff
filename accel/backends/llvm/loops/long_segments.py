"""Segments that are put off (`put_off.py`): once all others are done, each is folded by all threads, chunk by chunk.

In: a nest whose outermost loop is over segments. Out: the code around that loop. Chunks are whole blocks of the order, whose
results join as they do in a loop of their own, so bits do not depend on who folds a segment.
"""

from __future__ import annotations

from accel.backends.llvm.loops.chunks import in_parallel
from accel.backends.llvm.loops.nest import Levels, NestText, body, place_records
from accel.backends.llvm.text.words import FAILED, LATER, THREADS
from accel.labelled.meaning.order import BLOCK


def begin(text: NestText, levels: Levels) -> None:
    """Makes the table, if there are several threads."""
    if text.put_off is None:
        return
    routine, code = levels.routine, levels.routine.code
    table = routine.slot("i64", text.put_off.words)
    routine.store("i64", "0", table)
    several = code.emit(f"icmp sgt i64 {routine.load('i64', levels.view.address(THREADS))}, 1")
    routine.store("ptr", code.emit(f"select i1 {several}, ptr {table}, ptr null"), levels.view.address(LATER))


def finish(text: NestText, levels: Levels) -> None:
    """Folds what is noted in the table."""
    found = text.put_off
    if found is None:
        return
    routine, code, inner = levels.routine, levels.routine.code, found.inner
    text.routines.append(body(text, inner, name := f"{text.name}_long"))
    outside, table = dict(levels.streams.made), routine.load("ptr", levels.view.address(LATER))
    records = routine.slot("i64", sum(text.records[state.name].words for state in inner.states))
    place_records(text, levels, inner, records)
    with routine.when(code.emit(f"icmp ne ptr {table}, null")), found.each(routine, table) as streams:
        levels.streams.made = {**outside, **streams}
        levels.keep_streams()
        for state in inner.states:
            levels.reset(state, levels.pointers[state.name])
        extent = levels.own_extent(inner)
        time = text.duration.of(code, code.emit(f"sitofp i64 {extent} to double"))
        in_parallel(text, levels, inner, name, extent, BLOCK, time)
        failed = routine.load("i64", levels.view.address(FAILED))
        routine.leave(code.emit(f"icmp ne i64 {failed}, 0"), "i64 1")
        levels.finish(inner.states)
        levels.statements(found.loop.body.after)
    levels.streams.made = outside
