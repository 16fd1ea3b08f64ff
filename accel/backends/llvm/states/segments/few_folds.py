"""Folds of segments of a few elements, some segments at a time: every lane folds one of its own, all steps written out.

In: segments, as many as there are lanes, none of which has more than `FEWEST` elements. Out: the code of their folds, in the
order of docs/order.md. Partial results stay in registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.statements import Step
from accel.backends.llvm.emit.values import Uniform, Value, Writer
from accel.backends.llvm.states.segments.few_segments import FEWEST, FewSegments
from accel.ir.nodes import ManyToOne, State
from accel.labelled.meaning.products import steps


class _FewFold:
    """A state whose lanes have rows of at most `FEWEST` elements each, in registers."""

    def __init__(self, writer: Writer, functions: Functions, state: State) -> None:
        self._writer, self._functions, self._state = writer, functions, state
        self._steps = steps(state.merge, state.monoid, state.types, state.products)
        self._ordered = not state.monoid.exact and state.monoid.commutes
        self._partial: list[Sequence[Value]] = []

    def step(self, values: Sequence[Value], mask: str) -> None:
        """The next element of the lanes in the mask; they had all before."""
        if self._ordered or not self._partial:
            self._partial.append(self._functions.apply(self._steps.first, values, None))
            return
        (held,) = self._partial
        joined = self._functions.apply(self._steps.following, [*held, *values], None)
        self._partial = [self._chosen(mask, joined, held)]

    def total(self, masks: Sequence[str]) -> Sequence[Value]:
        """All elements of each row that has some; `masks`: the lanes that have more than 0, 1, … elements."""
        half = FEWEST // 2
        while self._ordered and half:
            for lane in range(half):
                left, right = self._partial[lane], self._partial[lane + half]
                merged = self._functions.apply(self._state.merge, [*left, *right], None)
                self._partial[lane] = self._chosen(masks[lane + half], merged, left)
            half //= 2
        return self._partial[0]

    def _chosen(self, mask: str, there: Sequence[Value], otherwise: Sequence[Value]) -> list[Value]:
        return [self._writer.select(mask, one, other) for one, other in zip(there, otherwise, strict=True)]


def write(segments: FewSegments) -> None:
    """The folds of segments that have begun, written out, and what is made of them."""
    group = segments.group
    segments.finish_before()
    masks = segments.masks()
    folds = {state.name: _FewFold(group.writer, group.functions, state) for state in group.inner.states}
    for number, mask in enumerate(masks):
        made = {
            **segments.made,
            group.inner.index.name: Uniform(str(number), I64),
        }
        statements = group.statements(made, _stepping(folds, mask))
        for statement in (*group.inner.body.before, *group.inner.body.after):
            statements.masked(statement, mask)
        if number == 0:
            segments.ask_ahead(made)
    group.finish(segments.made, {name: fold.total(masks) for name, fold in folds.items()}, masks[0])


def _stepping(folds: Mapping[str, _FewFold], mask: str) -> Step:
    """Steps of these folds in the lanes of a mask."""

    def step(
        statement: ManyToOne, values: Sequence[Value], active: str | None
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        folds[statement.state].step(values, mask)
        return (), ()

    return step
