"""The small linear language."""

from __future__ import annotations

import pytest

from accel.ilp.solvers.linear import Linear, Model, total


def test_expressions_are_added_and_scaled_exactly() -> None:
    model = Model()
    x, y = model.variable("x"), model.variable("y", integer=False)
    expression = 3 - 2 * x + y - (1 - x)
    assert expression == Linear(2, {0: -1, 1: 1})
    assert expression.value({0: 1, 1: 0.5}) == 1.5
    assert expression.span == 2
    assert (x - x).is_constant
    assert total([x, x, y, 4]) == Linear(4, {0: 2, 1: 1})


def test_rows_that_always_hold_are_left_out_and_impossible_ones_refused() -> None:
    model = Model()
    x = model.variable("x")
    model.require(x + 1)
    assert model.rows == []
    model.require(x - 1)
    assert model.rows == [Linear(-1, {0: 1})]
    with pytest.raises(ValueError, match="cannot hold"):
        model.require(x - 2)
