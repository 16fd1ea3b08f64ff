"""Sizes, indices, counts and axes are integers of NumPy as well as of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.untyped import accel as U
from tests.untyped import run

MATRIX = np.arange(12.0).reshape(3, 4)
VECTOR = np.arange(6.0)

CASES: list[Callable[[Any], Any]] = [
    lambda n: U.reverseOn(n, U.use(MATRIX)),
    lambda n: U.takeOn(n, n, U.use(MATRIX)),
    lambda n: U.transposeOn(n, 0, U.use(MATRIX)),
    lambda n: U.concatOn(n, U.use(MATRIX), U.use(MATRIX)),
    lambda n: U.fold(U.add, 0, U.use(MATRIX), dims=n),
    lambda n: U.random.uniform(U.random.split(U.random.key(n), n + n)[1], (n + n,), np.float64),
    lambda n: U.update(U.use(VECTOR), (slice(n, n + n, n),), U.fill((1,), 9.0)),
    lambda n: U.tensordot(U.use(VECTOR), U.use(VECTOR), n),
    lambda n: U.tensordot(U.use(MATRIX), U.use(MATRIX), ((n,), (n,))),
    lambda n: U.reshape((n * 2, 3), U.use(VECTOR)),
    lambda n: U.fill((n,), 1.0),
    lambda n: U.unit(U.use(VECTOR)[n]),
    lambda n: U.unit(U.use(MATRIX)[n, n]),
    lambda n: U.slice(U.use(MATRIX), (n, U.All)),
    lambda n: U.replicate((n, U.All), U.use(VECTOR)),
    lambda n: U.iterate(n, lambda xs: U.map(lambda x: x + 1, xs), U.use(VECTOR)),
    lambda n: U.topK(n, U.use(VECTOR)),
    lambda n: U.flip(n, 0, U.use(MATRIX)),
    lambda n: U.generate((4,), lambda ix: U.shiftL(ix[0], n)),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_an_integer_of_numpy_is_one_of_python(case: Callable[[Any], Any], kind: Any) -> None:
    found, expected = (run(case(one), backend="interpreter") for one in (kind(1), 1))
    for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_that_is_too_large_for_an_index_is_an_error() -> None:
    with pytest.raises(A.AccelTypeError, match="does not fit i64"):
        A.fill((np.uint64(2**63),), 1.0)  # type: ignore[arg-type]  # mypy wants Python's


def test_a_bool_is_no_axis() -> None:
    with pytest.raises(A.AccelTypeError, match="reverseOn needs an int as its axis, got the Python bool True"):
        A.reverseOn(True, A.use(MATRIX))
