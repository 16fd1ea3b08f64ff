"""Nests that do the same to other arrays are compiled once, and each still works on its own arrays."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.errors import AccelIndexError


def _running(xs: A.Acc[A.Vector[np.float64]], times: int) -> A.Acc[A.Vector[np.float64]]:
    for k in range(times):
        xs = A.scanr1(A.add, xs) if k % 2 else A.scanl1(A.max, xs)
    return xs


def _functions(times: int) -> int:
    explained = A.explain(_running(A.use(np.arange(5.0)), times))
    assert explained.loops == times
    return explained.stages["llvm"].count("define ")


def test_their_code_is_there_once() -> None:
    assert _functions(4) == _functions(20)


def test_each_has_its_arrays() -> None:
    given = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
    expected = given
    for k in range(9):
        expected = np.add.accumulate(expected[::-1])[::-1] if k % 2 else np.maximum.accumulate(expected)
    np.testing.assert_array_equal(A.run(_running(A.use(given), 9)), expected)


def test_an_error_names_the_line_of_its_own_nest() -> None:
    good, bad = A.use(np.array([1, 0])), A.use(np.array([0, 7]))
    first = A.scanl1(A.add, A.gather(good, A.use(np.array([1.0, 2.0]))))
    second = A.scanl1(A.add, A.gather(bad, first))  # the line of the error
    with pytest.raises(AccelIndexError, match="the line of the error"):
        A.run(second, backend="llvm")
