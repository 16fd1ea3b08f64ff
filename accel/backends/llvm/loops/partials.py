"""What chunks of folds come to, in a table of the launch: each chunk stores its own, the caller joins them in order.

An entry has, for each state, whether there is a result (a word: 0 or 1), then its leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.text.words import PARTIALS
from accel.ir.nodes import State


def _sizes(text: NestText, states: Sequence[State]) -> list[int]:
    return [1 + text.records[state.name].leaves for state in states]


def partial_words(text: NestText, states: Sequence[State]) -> int:
    """Words of a chunk's entry."""
    return sum(_sizes(text, states))


def store_partials(text: NestText, levels: Levels, states: Sequence[State], number: str) -> None:
    """The records in scope come to the entry of chunk `number`."""
    if not states:
        return
    routine, code = levels.routine, levels.routine.code
    first = code.emit(f"mul i64 {number}, {partial_words(text, states)}")
    partial = routine.offset(levels.view.word(PARTIALS, "ptr"), first)
    for state, size in zip(states, _sizes(text, states), strict=True):
        record = text.records[state.name]
        total = record.collapse(routine, levels.pointers[state.name])
        routine.store("i64", routine.load("i64", total), partial)
        record.store(routine, [levels.writer.one(v) for v in record.load(routine, total, 1)], partial, 1)
        partial = routine.offset(partial, size)


def absorb_partials(
    text: NestText, levels: Levels, states: Sequence[State], partials: str, extent: str, chunk: str
) -> None:
    """The records in scope take in the entries of all chunks, in order."""
    if not states:
        return
    routine, code = levels.routine, levels.routine.code
    less = code.emit(f"sub i64 {extent}, 1")
    chunks = code.emit(f"add i64 {code.emit(f'sdiv i64 {less}, {chunk}')}, 1")
    with routine.count("0", chunks) as number:
        partial = routine.offset(partials, code.emit(f"mul i64 {number}, {partial_words(text, states)}"))
        for state, size in zip(states, _sizes(text, states), strict=True):
            with routine.when(code.emit(f"icmp ne i64 {routine.load('i64', partial)}, 0")):
                text.records[state.name].absorb(routine, levels.pointers[state.name], routine.offset(partial, 1))
            partial = routine.offset(partial, size)
