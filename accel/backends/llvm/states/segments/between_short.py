"""A loop over segments: some segments that are all short run together, folds in lanes and scans in one row, and only the others
one by one. In: the loop. Out: the code around an iteration that is one of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.states.segments import few
from accel.backends.llvm.states.segments.few_segments import FewSegments
from accel.backends.llvm.states.segments.group import SegmentGroup, has_lanes
from accel.backends.llvm.states.segments.short_folds import ShortFolds
from accel.ir.nodes import For


@contextmanager
def between_short(
    loop: For,
    low: str,
    high: str,
    memory: Memory,
    streams: Streams,
    records: Mapping[str, tuple[Record, str]],
) -> Iterator[str]:
    """Around an iteration of a loop over segments: gives its number, from low to high-1. `records`: of the loop's states."""
    routine, code = memory.routine, memory.routine.code
    group = SegmentGroup(memory, streams, loop, records)
    segments, short = FewSegments(group), ShortFolds(group) if has_lanes(loop) else None
    position, later = routine.slot("i64"), routine.slot("i64")
    routine.store("i64", low, position)
    routine.store("i64", low, later)
    head, body, tried, with_few, others, with_short, long, after = (routine.label() for _ in range(8))
    routine.jump(head)
    routine.place(head)
    at = routine.load("i64", position)
    routine.branch(code.emit(f"icmp slt i64 {at}, {high}"), body, after)
    routine.place(body)
    behind = code.emit(f"add i64 {at}, {group.lanes}")
    fits = code.emit(f"icmp sle i64 {behind}, {high}")
    due = code.emit(f"icmp sge i64 {at}, {routine.load('i64', later)}")
    routine.branch(code.emit(f"and i1 {fits}, {due}"), tried, long)
    routine.place(tried)
    routine.store("i64", behind, later)
    segments.begin(at, with_few, others)
    routine.place(with_few)
    few.write(segments)
    routine.store("i64", behind, position)
    routine.jump(head)
    routine.place(others)
    if short is None:
        routine.jump(long)
    else:
        short.begin(at)
        routine.branch(short.fit(), with_short, long)
        routine.place(with_short)
        short.write()
        routine.store("i64", behind, position)
        routine.jump(head)
    routine.place(long)
    yield at
    routine.store("i64", code.emit(f"add i64 {at}, 1"), position)
    routine.jump(head)
    routine.place(after)
