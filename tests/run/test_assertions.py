"""`assert_`: raised by data, at the user's line, on every backend; only where it is asked; without storing anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
XS = np.arange(5)


def checked(n: A.Acc[A.Scalar[np.int64]], xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Scalar[np.int64]]:
    doubled = A.map(lambda x: x * 2, xs)
    sure = A.assert_(A.the(n) > 3, "n is too small", doubled)  # the line of the error
    return A.sum(A.map(lambda x: x + A.the(n), sure))


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_raises_when_the_data_say_so(backend: Any) -> None:
    """Also when the function runs again, which is another way to call it on llvm."""
    function = untyped.runN(checked, backend=backend)
    for n in (4, 5, 6, 7):
        assert function(np.array(n), XS) == 20 + 5 * n
    for n in (3, 2, 1):
        with pytest.raises(A.AccelAssertionError, match=r"^n is too small\n.*\n.*the line of the error") as caught:
            function(np.array(n), XS)
        assert isinstance(caught.value, AssertionError)
    assert function(np.array(4), XS) == 40


def test_nothing_is_stored_for_it() -> None:
    explanation = A.explain(checked(A.use(np.array(4)), A.use(XS)))
    assert explanation.loops == 1
    assert explanation.reads["n0"] == 1
    assert "n0" not in explanation.writes


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_asked_before_what_it_guards(backend: Any) -> None:
    table, at = A.use(XS), A.use(np.array([1, 7]))
    inside = A.assert_(A.the(A.all(lambda i: i < 5, at)), "an index is too large", at)
    with pytest.raises(A.AccelAssertionError, match="an index is too large"):
        untyped.run(A.map(lambda i: table[i], inside), backend=backend)
    with pytest.raises(A.AccelAssertionError, match="an index is too large"):
        untyped.run(A.gather(inside, table), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_on_one_array(backend: Any) -> None:
    def both(a: A.Acc[A.Scalar[np.bool_]], b: A.Acc[A.Scalar[np.bool_]], xs: A.Acc[A.Vector[np.int64]]) -> Any:
        made = A.map(lambda x: x * 3, xs)
        first = A.assert_(A.the(a), "the first", made)
        second = A.assert_(A.the(b), "the second", made)
        third = A.assert_(A.the(b), "the third", first)
        return A.sum(first), A.map(lambda x: x + 1, second), A.reverse(third)

    function = untyped.runN(both, backend=backend)
    yes, no = np.array(True), np.array(False)
    total, more, turned = function(yes, yes, XS)
    assert total == 30
    np.testing.assert_array_equal(more, XS * 3 + 1)
    np.testing.assert_array_equal(turned, XS[::-1] * 3)
    with pytest.raises(A.AccelAssertionError, match="the first"):
        function(no, yes, XS)
    with pytest.raises(A.AccelAssertionError, match=r"the second|the third"):
        function(yes, no, XS)


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_asked_only_where_it_is_used(backend: Any) -> None:
    """Not in a branch that is not taken, in a loop without turns, or if no result needs it."""

    def body(flag: A.Acc[A.Scalar[np.bool_]], xs: A.Acc[A.Vector[np.int64]]) -> Any:
        never = A.assert_(A.constant(False), "never", A.map(lambda x: x + 1, xs))
        chosen = A.acond(A.the(flag), A.map(lambda x: x * 2, never), xs)
        turns = A.iterate(A.boolToInt(A.the(flag)), lambda s: A.assert_(A.length(s) < 0, "a turn", s), xs)
        return chosen, turns, A.unit(A.length(never))

    function = untyped.runN(body, backend=backend)
    chosen, turns, length = function(np.array(False), XS)
    np.testing.assert_array_equal(chosen, XS)
    np.testing.assert_array_equal(turns, XS)
    assert length == 5
    with pytest.raises(A.AccelAssertionError, match=r"never|a turn"):
        function(np.array(True), XS)


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_asked_in_every_turn(backend: Any) -> None:
    def step(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        return A.map(lambda x: x - 1, A.assert_(xs[0] > 1, "below one", xs))

    xs = A.use(np.array([4, 9]))
    np.testing.assert_array_equal(A.run(A.iterate(3, step, xs), backend=backend), [1, 6])
    with pytest.raises(A.AccelAssertionError, match="below one"):
        A.run(A.iterate(4, step, xs), backend=backend)


def test_structures_and_what_is_known() -> None:
    xs, m = A.use(XS), A.use(np.ones((2, 3)))
    found = A.run(A.assert_(A.length(xs) == 5, "five", (xs, (m, xs))), backend="interpreter")
    np.testing.assert_array_equal(found[0], XS)
    np.testing.assert_array_equal(found[1][0], np.ones((2, 3)))
    pairs = A.run(A.assert_(A.constant(True), "sure", A.zip(xs, xs)), backend="interpreter")
    np.testing.assert_array_equal(pairs[1], XS)
    empty = A.use(np.zeros((0,)))
    with pytest.raises(A.AccelAssertionError, match="empty"):
        A.run(A.assert_(A.length(empty) > 0, "empty", empty), backend="interpreter")


def test_other_messages_are_other_programs() -> None:
    """Compiled programs are found by their text, which has the message."""
    for message in ("one", "two"):
        with pytest.raises(A.AccelAssertionError, match=message):
            A.run(A.assert_(A.length(A.use(XS)) > 5, message, A.use(XS)), backend="interpreter")


def test_what_is_refused() -> None:
    assert_: Callable[..., object] = A.assert_
    xs = A.use(XS)
    with pytest.raises(A.AccelTypeError, match="the condition of assert_ must be bool, got i64"):
        assert_(A.length(xs), "m", xs)
    with pytest.raises(A.AccelTypeError, match="the condition of assert_ must be an Exp, got an Acc"):
        assert_(A.unit(A.constant(True)), "m", xs)
    with pytest.raises(A.AccelTypeError, match="the message of assert_ must be a str, got an Acc"):
        assert_(A.constant(True), xs, xs)
    with pytest.raises(A.AccelTypeError, match="what assert_ returns must be an Acc or a tuple of them, got i64"):
        assert_(A.constant(True), "m", xs[0])
    with pytest.raises(A.AccelStagingError, match="nested parallelism"):
        A.map(lambda x: A.the(A.sum(A.assert_(x > 0, "m", xs))), xs)
