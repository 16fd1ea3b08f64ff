"""Operations in a longer loop than their own: no clustering has one, but lowering must not count on that."""

from __future__ import annotations

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F64
from accel.fusedast.rules import leaf
from accel.ilp.problem.clustering import FORWARD
from accel.ir.lowering.frame import Frame
from accel.ir.lowering.reductions import lower_filter, lower_fold
from accel.ir.nodes import ManyToOne, State
from accel.labelled.array import Array, Extent
from accel.labelled.nodes import Binding, Filter, Fold
from tests.fusedast.hand import Hand


def framed(binding: Binding, rows: Array) -> Frame:
    """The frame of an operation over a matrix, in a nest whose outer loop has one row more."""
    outer, inner = rows.shape
    longer = Array(99, 0, F64, (Extent(outer.variable, outer.offset + 1), inner))
    return Frame([leaf(binding, FORWARD)], [(rows, FORWARD), (longer, FORWARD)], [])


def states_and_steps(binding: Binding, rows: Array) -> tuple[list[State], list[ManyToOne]]:
    frame = framed(binding, rows)
    match binding.operation:
        case Filter() as filtered:
            made = lower_filter(binding, filtered, FORWARD, frame)
        case Fold() as folded:
            made = lower_fold(binding, folded, FORWARD, frame)
        case _:
            raise AssertionError(binding)
    states = [state for level in made.levels for state in level.states.values()]
    steps = [each for level in made.levels for each in level.statements.values() if isinstance(each, ManyToOne)]
    return states, steps


def test_a_row_that_is_not_there_is_neither_filtered_nor_counted() -> None:
    hand = Hand()
    rows = hand.use(F64, hand.size(), hand.size())
    hand.filter(rows)
    states, steps = states_and_steps(hand.bindings[-1], rows)
    position, count = states
    assert position.when is None  # it runs over all rows
    assert count.when is not None
    assert {step.when for step in steps} == {steps[0].when}
    assert steps[0].when is not None


def test_a_row_that_is_not_there_is_not_folded() -> None:
    hand = Hand()
    rows = hand.use(F64, hand.size(), hand.size())
    hand.fold(rows, Operator.MAX, seed=None)
    (state,), (step,) = states_and_steps(hand.bindings[-1], rows)
    assert state.when is not None
    assert step.when is not None
