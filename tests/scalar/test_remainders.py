"""Remainders of floats by multiply-adds: C's, exactly, also near multiples, of subnormals, and where quotients are large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from tests.untyped import runN

Floats = np.ndarray[Any, np.dtype[Any]]


def pairs(kind: Any) -> tuple[Floats, Floats]:
    """Any bits; multiples, and what is one place from them; quotients up to those of which floats have no fractions."""
    random, bits, integer = np.random.default_rng(3), 8 * np.dtype(kind).itemsize, f"i{np.dtype(kind).itemsize}"
    count, digits = 20_000, np.finfo(kind).nmant
    anything = random.integers(0, 2 ** (bits - 1), (2, count)).astype(integer).view(kind)
    divisors = random.uniform(0.1, 10, count).astype(kind)
    multiples = divisors * random.integers(0, 2000, count).astype(kind)
    beside = np.nextafter(multiples, kind(0)), np.nextafter(multiples, kind(np.inf))
    far = (random.uniform(1, 2, count) * 2.0 ** random.integers(-4, digits + 4, count)).astype(kind)
    subnormal = random.integers(0, 1000, (2, count)).astype(integer).view(kind)
    xs = np.concatenate([anything[0], -anything[0], multiples, -multiples, *beside, far, subnormal[0], anything[0]])
    ys = np.concatenate([anything[1], anything[1], *[divisors] * 5, subnormal[1], -anything[1]])
    return xs.astype(kind), ys.astype(kind)


@pytest.mark.llvm
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_remainders_are_exact(kind: Any) -> None:
    xs, ys = pairs(kind)
    with np.errstate(all="ignore"):
        rest = np.fmod(xs, ys)
        wanted = np.where((rest < 0) != (ys < 0), rest + ys, rest)
    wanted[rest == 0] = np.copysign(kind(0), ys)[rest == 0]
    modulo = runN(lambda xs, ys: A.zipWith(A.mod, xs, ys), backend="llvm")
    found = modulo(xs, ys)
    np.testing.assert_array_equal(found, wanted)
    there = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[there]), np.signbit(wanted[there]))
    # In vectors lanes beside one that calls the C library call it, too.
    with np.errstate(all="ignore"):
        few = [np.isfinite(wanted) & (np.abs(xs) < 1000 * np.abs(ys)), np.arange(len(xs)) % 4001 == 0]
    for chosen in few:
        np.testing.assert_array_equal(modulo(xs[chosen], ys[chosen]), wanted[chosen])
    for number in range(0, len(xs), 7001):
        one = slice(number, number + 1)
        np.testing.assert_array_equal(modulo(xs[one], ys[one]), wanted[one])
