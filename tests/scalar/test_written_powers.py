"""Powers of floats to exponents that the program writes: as exact as they say, C's special values, equal on every backend."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import accel as A
from tests.untyped import run

SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -3.0, 0.75]
ULPS = {0.0: 0.0, 1.0: 0.0, 2.0: 0.5, -1.0: 0.5, 0.5: 0.5, 3.0: 0.72, 4.0: 0.72}
"""The greatest errors, in units in the last place; beyond 0.51 near subnormal results only."""


def operands(kind: Any) -> np.ndarray[Any, Any]:
    """Special values, limits, numbers of all magnitudes and such whose powers are near the ends of the type."""
    random, limits = np.random.default_rng(1), np.finfo(kind)
    ends = [limits.tiny, limits.smallest_subnormal, limits.max]
    exponents = random.uniform(limits.minexp / 3 - 8, limits.maxexp / 3 + 2, 300)
    return np.concatenate(
        [np.array([*SPECIAL, *ends], kind), (random.choice([-1, 1], 300) * 2**exponents).astype(kind)]
    )


def error(found: Any, x: Any, exponent: float) -> float:
    """In units in the last place of a finite result; infinite where special values are not C's."""
    try:
        true = math.pow(float(x), exponent)
    except OverflowError:
        true = math.inf if x > 0 or exponent != 3.0 else -math.inf
    except ValueError:
        true = math.nan if x < 0 else math.copysign(math.inf, x)
    with np.errstate(over="ignore"):
        nearest = type(found)(true)
    if not math.isfinite(nearest) or nearest == 0 or not math.isfinite(x):
        alike = (found == nearest and np.signbit(found) == np.signbit(nearest)) or (found != found and true != true)
        return 0.0 if alike else math.inf
    exact = mpmath.mpf(float(x)) ** mpmath.mpf(exponent)
    place = np.spacing(min(abs(nearest), np.nextafter(np.finfo(found.dtype).max, 0, dtype=found.dtype)))
    return float(abs(mpmath.mpf(float(found)) - exact) / mpmath.mpf(float(place)))


def power(xs: A.Acc[Any], exponent: float) -> A.Acc[Any]:
    return A.map(lambda x: x**exponent, xs)


@pytest.mark.llvm
@pytest.mark.opencl
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_powers_to_written_exponents(kind: Any) -> None:
    xs = operands(kind)
    program = tuple(power(A.use(xs), exponent) for exponent in ULPS)
    powers = dict(zip(ULPS, run(program, backend="interpreter"), strict=True))
    for exponent, wanted in powers.items():
        with mpmath.workprec(300):
            errors = [error(found, x, exponent) for found, x in zip(wanted, xs, strict=True)]
        assert max(errors) <= ULPS[exponent], exponent
    for backend in ("llvm", "opencl"):
        for wanted, found in zip(powers.values(), run(program, backend=backend), strict=True):
            assert np.array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(wanted[~np.isnan(wanted)]))
            np.testing.assert_array_equal(found, wanted)


def test_others_are_powers() -> None:
    text = str(A.map(lambda x: A.lift(x**5.0, x**-2.0, 2.0**x, x**x), A.use(np.ones(3))))
    assert text.count("**") == 4
    text = str(A.map(lambda x: A.lift(x**2, A.pow(x, 0.5), A.pow(x, A.constant(3.0))), A.use(np.ones(3))))
    assert "**" not in text
    assert "**" in str(A.map(lambda x: x**2, A.use(np.arange(3))))
