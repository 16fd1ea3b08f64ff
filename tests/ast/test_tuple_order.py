"""The order of tuples: Python's, item by item; where an item is a NaN, Accelerate's."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.untyped import run

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]

ORDERS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (operator.lt, A.lt),
    (operator.le, A.le),
    (operator.gt, A.gt),
    (operator.ge, A.ge),
]
PAIRS = list(itertools.product(itertools.product([0, 1, 2], [0.0, 1.5]), repeat=2))


def columns(pairs: list[tuple[int, float]]) -> Any:
    """An array of pairs."""
    return A.zip(A.use(np.array([p[0] for p in pairs])), A.use(np.array([p[1] for p in pairs])))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("order", "function"), ORDERS)
def test_pairs_are_ordered_as_in_python(order: Callable[..., Any], function: Callable[..., Any], backend: str) -> None:
    left, right = columns([p for p, _ in PAIRS]), columns([q for _, q in PAIRS])
    expected = [order(p, q) for p, q in PAIRS]
    assert run(A.zipWith(order, left, right), backend=backend).tolist() == expected
    assert run(A.zipWith(function, left, right), backend=backend).tolist() == expected


def test_tuples_in_tuples_and_indices() -> None:
    nested = [((i, j), k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    for p, q in itertools.product(nested, repeat=2):
        left, right = (A.lift(A.lift(*map(A.constant, r[0])), A.constant(r[1])) for r in (p, q))
        assert bool(run(A.unit(left < right), backend="interpreter")) == (p < q)
    assert run(A.generate((2, 3), lambda ix: ix >= A.index(1, 1)), backend="interpreter").tolist() == [
        [False] * 3,
        [False, True, True],
    ]
    empty: Any = A.index()
    assert [bool(run(A.unit(order(empty, empty)), backend="interpreter")) for order, _ in ORDERS] == [
        False,
        True,
        False,
        True,
    ]


def test_what_has_no_order_has_none_in_a_tuple() -> None:
    z: Any = A.constant(1j)
    with pytest.raises(A.AccelTypeError, match="takes numbers or bools, got c128"):
        A.lift(A.constant(1), z) < A.lift(A.constant(1), z)  # noqa: B015  # it raises


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "python"), [(A.min, min), (A.max, max)])
def test_the_extreme_of_pairs(function: Callable[..., Any], python: Callable[..., Any], backend: str) -> None:
    random = np.random.default_rng(5)
    keys, values = random.integers(0, 9, 1000), random.integers(0, 9, 1000)
    pairs = A.zip(A.use(keys), A.use(values))
    found = run(A.fold1(function, pairs), backend=backend)
    assert tuple(int(each) for each in found) == python(zip(keys.tolist(), values.tolist(), strict=True))


def test_with_a_nan_nothing_is_less_or_equal() -> None:
    x, y = A.lift(A.constant(math.nan), A.constant(1)), A.lift(A.constant(0.0), A.constant(2))
    assert [int(run(A.unit(f(x, y)[1]), backend="interpreter")) for f in (A.min, A.max)] == [2, 1]
    assert [int(run(A.unit(f(y, x)[1]), backend="interpreter")) for f in (A.min, A.max)] == [1, 2]
