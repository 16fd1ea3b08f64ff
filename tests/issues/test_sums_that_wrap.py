"""The sum of two numbers that are bounded on one side only may wrap around: its index was not checked, and memory was read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

BACKENDS = ("interpreter", "llvm", "opencl")
Number = A.Exp[np.int64]


def table() -> Any:
    return A.compute(A.generate((16,), lambda ix: A.unindex(ix)[0] * 10))


def capped_sum(left: Number, right: Number) -> Number:
    return A.max(A.min(left, 5) + A.min(right, 5), 0)


def raised_difference(left: Number, right: Number) -> Number:
    """At least 2**63 - 1 less -2**63 would be, and wraps to -1."""
    return A.min(A.max(left, 7) - A.min(right, 7), 15)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("index", "left", "right"),
    [(capped_sum, -(2**63), -1), (raised_difference, 2**63 - 1, -(2**63)), (raised_difference, 9, -(2**63))],
)
def test_an_index_that_wraps_is_out_of_bounds(index: Any, left: int, right: int, backend: str) -> None:
    given = [np.full(40, number, np.int64) for number in (left, right)]
    with pytest.raises(A.AccelIndexError, match="is out of bounds for an array of shape"), A.using(backend=backend):
        untyped.run(A.zipWith(lambda x, y: table()[index(x, y)], *map(A.use, given)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_right_where_it_does_not_wrap(backend: str) -> None:
    x, y = np.array([2, -(2**62), 9]), np.array([3, -(2**62), -9])
    with A.using(backend=backend):
        found = untyped.run(A.zipWith(lambda a, b: table()[capped_sum(a, b)], A.use(x), A.use(y)))
    assert found.tolist() == [50, 0, 0]
