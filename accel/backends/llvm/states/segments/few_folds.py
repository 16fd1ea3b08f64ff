"""Folds of segments of a few elements, some segments at a time: every lane folds one of its own, all steps written out.

In: segments, as many as there are lanes, none of which has more than `FEWEST` elements. Out: the code of their folds, and of
scans that these fold, in the order of docs/order.md. Partial results stay in registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.statements import Step, Streams
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.states.segments.few_segments import DISTANCES, FewSegments
from accel.backends.llvm.states.segments.group import SegmentGroup, joined
from accel.ir.nodes import ManyToOne, State
from accel.labelled.meaning.products import steps
from accel.schedule.legality import in_lanes_of_order


class _FewFold:
    """A state whose lanes have rows of at most `FEWEST` elements each, in registers."""

    def __init__(self, writer: Writer, functions: Functions, state: State) -> None:
        self._writer, self._functions, self._state = writer, functions, state
        self._steps = steps(state.merge, state.monoid, state.types, state.products)
        self._ordered = in_lanes_of_order(state)
        self._partial: list[Sequence[Value]] = []

    def step(self, values: Sequence[Value], mask: str) -> None:
        """The next element of the lanes in the mask; they had all before."""
        if self._ordered or not self._partial:
            self._partial.append(self._functions.apply(self._steps.first, values, None))
            return
        (held,) = self._partial
        both = self._functions.apply(self._steps.following, [*held, *values], None)
        self._partial = [self._chosen(mask, both, held)]

    def total(self, group: SegmentGroup, masks: Sequence[str]) -> Sequence[Value]:
        """All elements of each row that has some; `masks`: the lanes that have more than 0, 1, … elements."""
        return joined(group, self._state, self._partial, masks)

    def _chosen(self, mask: str, there: Sequence[Value], otherwise: Sequence[Value]) -> list[Value]:
        return [self._writer.select(mask, one, other) for one, other in zip(there, otherwise, strict=True)]


class _FewScan:
    """A running state whose lanes have rows of at most `FEWEST` elements each, by its few steps: to neighbours, over two."""

    def __init__(self, functions: Functions, state: State, initial: Sequence[Value]) -> None:
        self._functions, self._state, self._initial = functions, state, initial
        self._held: list[list[Sequence[Value]]] = [[] for _ in DISTANCES]

    def step(self, values: Sequence[Value]) -> Sequence[Value]:
        """What the lanes come to with their next element."""
        current = values
        for distance, held in zip(DISTANCES, self._held, strict=True):
            held.append(current)
            if len(held) > distance:
                current = self._functions.apply(self._state.merge, [*held[-1 - distance], *current], None)
        if not self._initial:
            return current
        return self._functions.apply(self._state.merge, [*self._initial, *current], None)


def write(segments: FewSegments) -> None:
    """The folds of segments that have begun, written out, and what is made of them."""
    group = segments.group
    segments.finish_before()
    masks = segments.masks()
    streams, states = Streams(group.memory, segments.made), group.inner.states
    folds = {each.name: _FewFold(group.writer, group.functions, each) for each in states if not each.running}
    scans = {
        each.name: _FewScan(group.functions, each, streams.values(each.initial or ()))
        for each in states
        if each.running
    }
    for number, mask in enumerate(masks):
        made = {
            **segments.made,
            group.inner.index.name: Uniform(str(number), I64),
        }
        statements = group.statements(made, _stepping(folds, scans, mask))
        for statement in (*group.inner.body.before, *group.inner.body.after):
            statements.masked(statement, mask)
        if number == 0:
            segments.ask_ahead(made)
    group.finish(segments.made, {name: fold.total(group, masks) for name, fold in folds.items()}, masks[0])


def _stepping(folds: Mapping[str, _FewFold], scans: Mapping[str, _FewScan], mask: str) -> Step:
    """Steps of these folds and scans in the lanes of a mask."""

    def step(
        statement: ManyToOne, values: Sequence[Value], active: str | None
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        if statement.state in scans:
            return (), scans[statement.state].step(values)
        folds[statement.state].step(values, mask)
        return (), ()

    return step
