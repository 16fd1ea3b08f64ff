"""CBC tightens the bounds of variables that need not be integers, and now and then takes slow progress for a contradiction.

Seen with cbcbox 2.935 ("FBBT divergence detected ... a Bellman-Ford positive-cycle certificate"): a part of this program,
planned by [vB24]'s rule, was called infeasible in its second stage, and the program was left to greedy with a warning.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ilp.solvers import find
from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import SolverError

ROWS = [
    Linear(-1, {2: 1, 6: 1}), Linear(1, {2: -1, 6: -1}), Linear(1, {0: -1, 7: -1}), Linear(1, {6: -1, 7: -1}),
    Linear(1, {1: -1, 8: -1}), Linear(1, {3: -1, 9: -1}), Linear(1, {6: -1, 9: -1}), Linear(-1, {10: 1}),
    Linear(-1, {7: 1, 11: 1}), Linear(0, {7: -1, 10: 1}), Linear(-1, {8: 1, 9: 1, 12: 1}), Linear(0, {8: -1, 10: 1}),
    Linear(0, {9: -1, 11: 1}), Linear(1, {6: -1, 11: -1, 13: 1}), Linear(0, {11: 1, 13: -1}), Linear(0, {6: 1, 13: -1}),
    Linear(1049603, {2: -1027, 4: -6, 5: -2048, 10: -1048576, 11: -1048576, 12: -1048576, 13: 1045504}),
]  # fmt: skip
"""A model of that kind; variables 10 to 13 need not be integers."""

POINT = {number: int(number in (2, 7, 8, 10)) for number in range(14)}
"""What fulfils it."""


def program(m: A.Acc[A.Matrix[np.float64]]) -> tuple[object, ...]:
    largest = A.maximum(m)
    sums, _ = A.scanlTotal(A.add, 0, A.fold(A.add, 1, m))
    some = A.gather(A.generate((3,), lambda ix: ix[0] % A.length(largest)), largest)
    return sums, some, A.map(lambda x: x + 1, m)


@pytest.mark.filterwarnings("error")
def test_a_program_is_proved() -> None:
    found = A.explain(program, np.ones((2, 2)), duplicate="published", solver="cbc")
    assert (found.strategy, found.proved) == ("ilp (cbc)", True)


def test_a_model_that_has_a_solution() -> None:
    assert all(row.value(POINT) >= 0 for row in ROWS)
    variables = [Variable(number, f"x{number}", number not in range(10, 14)) for number in range(14)]
    solution = find("cbc").session(variables, ROWS, relaxed=False).minimise(Linear(0, {2: 1, 4: 1, 5: 1}), 10.0, 1)
    assert solution is not None
    assert {number: round(value) for number, value in solution.values.items()} == POINT


def test_a_model_that_has_none() -> None:
    session = find("cbc").session([Variable(0, "x", False)], [Linear(-1, {0: 2}), Linear(-1, {0: -1})], relaxed=False)
    with pytest.raises(SolverError, match="no solution"):
        session.minimise(Linear(0, {0: 1}), 10.0)
