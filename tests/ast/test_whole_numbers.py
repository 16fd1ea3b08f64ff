"""Sizes, indices, counts and axes are integers of NumPy as well as of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.untyped import run

MATRIX = np.arange(12.0).reshape(3, 4)
VECTOR = np.arange(6.0)

CASES: list[Callable[[Any], Any]] = [
    lambda n: A.reverseOn(n, A.use(MATRIX)),
    lambda n: A.takeOn(n, n, A.use(MATRIX)),
    lambda n: A.transposeOn(n, 0, A.use(MATRIX)),
    lambda n: A.concatOn(n, A.use(MATRIX), A.use(MATRIX)),
    lambda n: A.fold(A.add, 0, A.use(MATRIX), dims=n),
    lambda n: A.random.uniform(A.random.split(A.random.key(n), n + n)[1], (n + n,), np.float64),
    lambda n: A.update(A.use(VECTOR), (slice(n, n + n, n),), A.fill((1,), 9.0)),
    lambda n: A.tensordot(A.use(VECTOR), A.use(VECTOR), n),
    lambda n: A.tensordot(A.use(MATRIX), A.use(MATRIX), ((n,), (n,))),
    lambda n: A.reshape((n * 2, 3), A.use(VECTOR)),
    lambda n: A.fill((n,), 1.0),
    lambda n: A.unit(A.use(VECTOR)[n]),
    lambda n: A.unit(A.use(MATRIX)[n, n]),
    lambda n: A.slice(A.use(MATRIX), (n, A.All)),
    lambda n: A.replicate((n, A.All), A.use(VECTOR)),
    lambda n: A.iterate(n, lambda xs: A.map(lambda x: x + 1, xs), A.use(VECTOR)),
    lambda n: A.topK(n, A.use(VECTOR)),
    lambda n: A.flip(n, 0, A.use(MATRIX)),
    lambda n: A.generate((4,), lambda ix: A.shiftL(ix[0], n)),
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
