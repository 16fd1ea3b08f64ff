"""What control flow skips is not evaluated, wherever Python shares the expression."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import I64
from accel.errors import AccelIndexError
from accel.labelled.meaning.interpret import interpret
from tests.labelled.programs import AnyExp, parameter, program, program_text, run, same, use

X = np.arange(10) * 3


def test_cond_skips_loads() -> None:
    """Accelerate's issue 187, also with the load bound to a Python variable."""
    xs = use(X)

    def square(i: AnyExp) -> AnyExp:
        value = xs[i]
        return A.cond(i < 10, value * value, 0)

    same(run(A.map(square, use(np.arange(20)))), [*(X * X), *[0] * 10])


def test_or_skips_its_right_side() -> None:
    """Accelerate's issue 184: (x == 1 || v[-1] == 1)."""
    xs = use(X)
    found = run(A.map(lambda x: (x == 1) | (xs[-x - 1] == 1), use(np.ones(3, np.int64))))
    same(found, [True, True, True])


def test_a_load_shared_by_two_branches_stays_in_both() -> None:
    """Used in `then`, and in the `then` of `orelse`: nothing is certain outside, so each has its own."""
    xs = use(X)

    def body(i: AnyExp) -> AnyExp:
        value = xs[i]
        return A.cond(i == 0, value, A.cond(i == 1, value + 1, 7))

    same(run(A.map(body, use(np.array([0, 1, 1000])))), [0, 4, 7])


def test_a_load_that_all_branches_need_runs_once() -> None:
    xs, at = parameter(1, I64), parameter(1, I64)

    def body(i: AnyExp) -> AnyExp:
        value = xs[i]
        return A.cond(i == 0, value * value, A.cond(i == 1, value + 1, value))

    text = program_text(A.map(body, at), of=[xs, at])
    assert text.count("%0[") == 1
    assert "if" not in text  # what remains in the branches is cheap and total


def test_a_loop_that_makes_no_step_loads_nothing() -> None:
    xs = use(X)
    far = A.constant(1000, np.int64)
    found = run(A.map(lambda i: A.while_(lambda s: s < 0, lambda s: s + xs[far], i), use(np.array([5]))))
    same(found, [5])


def test_a_loop_condition_runs_always() -> None:
    xs = use(X)
    far = A.constant(1000, np.int64)
    with pytest.raises(AccelIndexError, match=r"index \(1000,\) is out of bounds for an array of shape \(10,\)"):
        run(A.map(lambda i: A.while_(lambda s: s < xs[far], lambda s: s + 1, i), use(np.array([5]))))


def test_acond_evaluates_one_branch() -> None:
    xs = use(X)
    failing = A.map(lambda i: xs[i + 1000], xs)
    for flag in (True, False):
        chosen = A.constant(flag, np.bool_)
        same(run(A.acond(chosen, xs, failing) if flag else A.acond(chosen, failing, xs)), X)


def test_a_mismatch_in_a_branch_that_is_not_taken_is_no_error() -> None:
    """`acond(length(xs) == length(ys), …)` guards what it says."""
    xs, ys = parameter(1, I64), parameter(1, I64)
    guarded = A.acond(A.length(xs) == A.length(ys), A.zipWith(A.add, xs, ys), xs)
    once = program([guarded], [xs, ys])
    same(interpret(once, [X[:3], X[:4]])[0], X[:3])
    same(interpret(once, [X[:3], X[:3]])[0], X[:3] * 2)


def test_dead_code_does_not_fail() -> None:
    xs = use(X)
    pair = A.map(lambda i: A.lift(i, xs[i + 1000]), xs)
    same(run(A.map(lambda p: p[0], pair)), X)
