"""16-bit floats: elementary functions of all of them, and conversions and arithmetic beside exact fractions.

What is exact and has NumPy's or the reference's bits is in the table that all operators share (`table.py`), which has every
16-bit float as an operand of every operator of one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from accel.ast.meaning.semantics import implementation
from accel.ast.tree.operators import ELEMENTARY, Operator
from accel.ast.tree.types import F16, F64, I32, I64, U64, ScalarType
from tests.marks import long, one_in
from tests.scalar.jit import OLD, compile_cases
from tests.scalar.table import Array, Case, all_cases, nearly_ties, operands, reference

ELEMENTARY_CASES = [case for case in all_cases() if case.operator in ELEMENTARY and case.types[0] is F16]

BOUND = 0.501
"""Half an ulp, and what 32 bits are off before they are rounded: at most 4 of their ulps, of which 8192 are one."""


@cache
def exact(case: Case) -> Array:
    """The results of a case's operands in 64 bits."""
    arrays = [x.astype(np.float64) for x in operands(case)]
    return reference(Case(case.operator, F64, (F64,) * len(arrays)), arrays)


def errors(case: Case, got: Array) -> Array:
    """How far results are from the true ones, in ulps of 16 bits."""
    truth = exact(case)
    assert np.array_equal(np.isnan(truth), np.isnan(got)), str(case)
    # From 65520 on, half an ulp above the greatest number, a result is infinite.
    clipped, found = np.clip(truth, -65536, 65536), np.clip(got.astype(np.float64), -65536, 65536)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.maximum(np.floor(np.log2(np.abs(clipped))), -14)
        apart: Array = np.abs(found - clipped) / 2.0 ** (np.minimum(exponents, 15) - 10)
    return apart[~np.isnan(truth)]


def check(results: Callable[[Case, list[Array]], Array]) -> None:
    for case in ELEMENTARY_CASES:
        arrays = operands(case)
        worst = errors(case, results(case, arrays)).max()
        assert worst <= BOUND, f"{case}: {worst} ulp"


@long
def test_elementary_functions_of_the_reference_are_rounded_once() -> None:
    check(reference)


@pytest.mark.llvm
@pytest.mark.parametrize(("lanes", "cpu"), one_in(2, [(16, None), (4, OLD)]))
def test_elementary_functions_are_within_their_bound(lanes: int, cpu: str | None) -> None:
    check(compile_cases(ELEMENTARY_CASES, lanes, cpu))


def nearest(exact: Fraction) -> float:
    """The 16-bit float nearest to a number, by trying those beside it."""
    if abs(exact) >= 65520:
        return float("inf") if exact > 0 else float("-inf")
    guess = np.float16(np.clip(float(exact), -65504, 65504))
    beside = [np.nextafter(guess, np.float16(side)) for side in (-65504, 65504)]
    return float(min([guess, *beside], key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint16)) & 1)))


@pytest.mark.parametrize("source", [I32, I64, U64, F64])
def test_conversions_are_rounded_once(source: ScalarType) -> None:
    """Numbers halfway between two of 16 bits, and just beside them, where two roundings would go wrong."""
    halves = np.arange(1 << 15, dtype=np.uint16).view(np.float16)[:0x7C00].astype(np.float64)
    ties = (halves[1:] + halves[:-1]) / 2
    near = np.concatenate([ties, ties * (1 + 2.0**-45), ties * (1 - 2.0**-45), np.nextafter(ties, 1e300)])
    if source.is_integer:
        near = np.concatenate([np.floor(near), np.floor(near) + 1, 2.0 ** np.arange(31)])
    function = implementation(Operator.CAST, F16, (source,))
    for x in np.unique(near)[::29].astype(source.dtype).tolist():
        assert function(x) == nearest(Fraction(x)), x


@pytest.mark.llvm
@pytest.mark.parametrize("cpu", [None, OLD])
def test_fma_has_the_bits_of_exact_fractions(cpu: str | None) -> None:
    """Of random numbers, sums that are nearly ties, and sums of numbers far apart; results that are too large as well."""
    random, fma = np.random.default_rng(3), Case(Operator.FMA, F16, (F16, F16, F16))
    bits = random.integers(0, 1 << 16, (3, 8_000), np.uint16).view(np.float16)
    x, y, z = bits[:, np.isfinite(bits).all(0)]
    with np.errstate(over="ignore", under="ignore"):
        product = x.astype(np.float64) * y
        near = np.float16(product * 2.0 ** random.integers(-13, 14, len(x)))
    z = np.where(random.random(len(x)) < 0.7, near, z)
    x, y, z = (
        np.concatenate([each[np.isfinite(z)], more]) for each, more in zip((x, y, z), nearly_ties(2000), strict=True)
    )
    got = compile_cases([fma], 8, cpu)(fma, [x, y, z])
    for a, b, c, found in zip(x.tolist(), y.tolist(), z.tolist(), got.tolist(), strict=True):
        assert found == nearest(Fraction(a) * Fraction(b) + Fraction(c)), (a, b, c)
