"""Warnings name the user's line."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import accel as A


@pytest.mark.solver
def test_a_solver_that_is_late_is_told_at_the_users_line() -> None:
    xs = A.use(np.arange(8.0))
    outs: list[A.Acc[A.Vector[np.float64]]] = []
    ys = xs
    for number in range(25):
        zs = A.zipWith(lambda x, y: x * y + 1, ys, A.reverse(xs))
        total = A.the(A.fold(A.add, 0, A.scanl1(A.add, zs)))
        ys = A.zipWith(lambda x, z, t=total: x / t - z, xs, zs) if number % 3 else A.scanr1(A.max, zs)  # type: ignore[misc]  # a default in a lambda
        outs += [zs, ys]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explanation = A.explain(tuple(outs), time_limit=1e-9)
    if explanation.proved:
        pytest.fail("the program is too easy to be late")
    assert [(warning.category, warning.filename) for warning in caught] == [(A.AccelSolverWarning, __file__)]
    assert "gave no proved answer: after 1e-09 s the cost is" in str(caught[0].message)
