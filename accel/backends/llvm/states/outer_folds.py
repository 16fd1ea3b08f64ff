"""Folds of what lanes come to that fold something themselves: of short rows, or of columns, one in each lane.

The loop around numbers the elements. So it runs in blocks of 4096, whose lanes are the order's, as a loop without another one
inside does (`accumulators.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from accel.backends.llvm.emit.values import Value
from accel.backends.llvm.states.accumulators import Accumulator, ExactFold, OrderedFold, Tools, Unit
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.text.routine import Routine
from accel.labelled.meaning.order import BLOCK
from accel.schedule.axes import in_whole_blocks


class OuterFolds:
    """The states of such a loop in one function: `blocks` around all elements, in which each is given to `step`."""

    def __init__(self, tools: Tools, records: Sequence[Record], start: str) -> None:
        """The records stand one after the other, from `start` on."""
        self._routine: Routine = tools.routine
        self._folds: dict[str, Accumulator] = {}
        for record in records:
            self._folds[record.state.name] = _accumulator(tools, _for_lanes(record), start)
            start = tools.routine.offset(start, record.words)

    def __contains__(self, state: str) -> bool:
        return state in self._folds

    @contextmanager
    def blocks(self, low: str, high: str) -> Iterator[tuple[str, str]]:
        """Around what steps the states by elements low .. high-1, from the first one of a block on: where one begins and ends.
        Then the records have taken them in."""
        every = self._folds.values()
        for each in every:
            each.begin()
        with self._routine.count(low, high, BLOCK) as start:
            end = self._routine.least(self._routine.code.emit(f"add i64 {start}, {BLOCK}"), high)
            for each in every:
                each.begin_block()
            yield start, end
            for each in every:
                each.end_block(start, end)
        for each in every:
            each.end()

    def step(
        self, state: str, values: Sequence[Value], mask: str | None, position: str, start: str
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        """A vector of elements, where the mask is set: from `position` on, of the block that begins at `start`."""
        return self._folds[state].step(values, mask, Unit(position, None, start))


def _accumulator(tools: Tools, record: Record, pointer: str) -> Accumulator:
    if record.state.monoid.exact:
        return ExactFold(tools, record, pointer, 1, repeated=False)
    return OrderedFold(tools, record, pointer, 1)


def _for_lanes(record: Record) -> Record:
    """The record of the nest by rows, which takes elements one by one, for what lanes come to."""
    return Record(record.name, record.state, in_whole_blocks(record.state), record.frame, record.sites)


def functions(records: Sequence[Record]) -> list[Routine]:
    """What a module of its own must define for such a loop."""
    return [routine for record in records for routine in _for_lanes(record).functions()]
