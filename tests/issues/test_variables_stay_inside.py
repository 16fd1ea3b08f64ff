"""A variable that Python code keeps and uses outside of its function is refused, naming its use and its function.

Once: an AssertionError from a later stage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

Vectors = list[A.Acc[A.Vector[np.int64]]]
START = np.arange(3)


def _kept_state() -> tuple[A.Acc[A.Vector[np.int64]], A.Acc[A.Vector[np.int64]]]:
    """The result of an `awhile`, and the state that its step saw."""
    kept: Vectors = []

    def step(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        kept.append(xs)
        return A.map(lambda x: x + 1, xs)

    result = A.awhile(lambda xs: A.unit(A.length(xs) > 3), step, A.use(START))  # the loop
    return result, kept[0]


def _state_itself() -> object:
    return A.run(_kept_state()[1])  # the use


def _state_after_its_loop() -> object:
    result, kept = _kept_state()
    return A.run(A.zipWith(A.add, result, kept))  # the use


def _state_in_another_condition() -> object:
    _, kept = _kept_state()
    return A.run(A.awhile(lambda xs: A.unit(kept[0] > 3), lambda xs: xs, A.use(START)))  # the use


def _state_in_another_step() -> object:
    _, kept = _kept_state()
    return A.run(A.awhile(lambda xs: A.unit(A.constant(False)), lambda xs: kept, A.use(START)))  # the use


def _inner_state_in_outer_step() -> object:
    def step(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        kept: Vectors = []

        def inner(ys: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
            kept.append(ys)
            return ys

        result = A.awhile(lambda ys: A.unit(A.length(ys) > 3), inner, xs)  # the loop
        return A.zipWith(A.add, result, kept[0])  # the use

    return untyped.run(A.awhile(lambda xs: A.unit(A.length(xs) > 3), step, A.use(START)))


def _argument_of_runn() -> object:
    kept: Vectors = []

    @A.runN
    def identity(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        kept.append(xs)
        return xs

    identity(START)  # the loop
    return A.run(A.map(lambda x: x + 1, kept[0]))  # the use


def _scalar_state() -> object:
    def function(x: A.Exp[np.int64]) -> A.Exp[np.int64]:
        kept: list[A.Exp[np.int64]] = []

        def step(s: A.Exp[np.int64]) -> A.Exp[np.int64]:
            kept.append(s)
            return s + 1

        result = A.while_(lambda s: s < 3, step, x)  # the loop
        return result + kept[0]  # the use

    return A.map(function, A.use(START))


@pytest.mark.parametrize(
    "program",
    [
        _state_itself, _state_after_its_loop, _state_in_another_condition, _inner_state_in_outer_step, _argument_of_runn,
        _scalar_state, _state_in_another_step,
    ],
)  # fmt: skip
def test_a_variable_outside_of_its_function_is_refused(program: Callable[[], Any]) -> None:
    """The message names the line that uses it and the call that it belongs to."""
    with pytest.raises(A.AccelStagingError) as caught:
        program()
    text = str(caught.value)
    assert "is used outside of" in text
    assert "^^" in text
    assert "# the loop" in text
    assert "# the use" in text
    assert "hint: return it" in text


def test_states_of_enclosing_loops_may_be_used() -> None:
    """Within the step of an outer loop, an inner loop may read the outer's state."""

    def step(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        return A.awhile(lambda ys: A.unit(ys[0] < xs[0] + 5), lambda ys: A.zipWith(A.add, ys, xs), xs)

    result = A.awhile(lambda xs: A.unit(xs[0] < 100), step, A.use(START + 1))
    assert A.run(result, backend="interpreter").tolist() == [192, 384, 576]  # 1, 6, 12, 24, … times
