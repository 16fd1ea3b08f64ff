"""`//` and `divmod` of floats: NumPy's bits, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from tests.untyped import run

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.1, -0.1, 0.3, 3.0, 6.0, 1e300, 5e-324, 1e16, 123456.789]
ENDS = [np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_quotients_are_those_of_numpy(kind: Any, backend: str) -> None:
    random = np.random.default_rng(3)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        values = np.array([*SPECIAL, *ENDS]).astype(kind)
        drawn = np.concatenate([random.standard_normal(20) * 1000, random.integers(-50, 50, 20)]).astype(kind)
        every = np.concatenate([values, drawn])
        x, y = (each.ravel() for each in np.meshgrid(every, every))
        expected = np.floor_divide(x, y)
    quotient, rest = run(A.zipWith(lambda a, b: A.lift(*divmod(a, b)), A.use(x), A.use(y)), backend=backend)
    np.testing.assert_array_equal(quotient, expected)
    np.testing.assert_array_equal(np.signbit(quotient)[~np.isnan(expected)], np.signbit(expected)[~np.isnan(expected)])
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(rest, np.remainder(x, y))


def test_numbers_stand_on_either_side() -> None:
    xs = A.use(np.array([0.1, 0.3, -0.7]))
    np.testing.assert_array_equal(run(A.map(lambda x: 1 // x, xs), backend="interpreter"), [9.0, 3.0, -2.0])
    np.testing.assert_array_equal(run(A.map(lambda x: x // 0.1, xs), backend="interpreter"), [1.0, 2.0, -7.0])
    np.testing.assert_array_equal(run(A.map(lambda x: divmod(1, x)[0], xs), backend="interpreter"), [9.0, 3.0, -2.0])
