"""Scalar functions by name and operator, against Python and NumPy over edge values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.ast.evaluation import check, value

I32 = np.array([0, 1, -1, 2, 7, -7, 12, 100, 2**31 - 1, -(2**31)], np.int32)
U8 = np.array([0, 1, 2, 3, 127, 128, 200, 255], np.uint8)
F64 = np.array([0.5, 1.0, 1.5, 2.5, 10.0])
SIGNED = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.0])

F = Callable[[Any], Any]  # any expression to any


def on(given: np.ndarray[Any, np.dtype[Any]], f: F) -> np.ndarray[Any, np.dtype[Any]]:
    return value(A.map(f, A.use(given)))


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: x + 1, I32 + np.int32(1)),
        (lambda x: 1 - x, np.int32(1) - I32),
        (lambda x: x * x, I32 * I32),
        (lambda x: x // 3, I32 // 3),
        (lambda x: x % 3, I32 % 3),
        (lambda x: A.quot(x, 3), np.array([math.trunc(int(v) / 3) for v in I32], np.int32)),
        (lambda x: A.rem(x, 3), np.fmod(I32, np.int32(3))),
        (lambda x: x // 0, np.zeros(10, np.int32)),
        (lambda x: -x, -I32),
        (lambda x: +x, I32),
        (abs, np.abs(I32)),
        (A.signum, np.sign(I32)),
        (lambda x: x & 6, I32 & 6),
        (lambda x: x | 6, I32 | 6),
        (lambda x: x ^ 6, I32 ^ 6),
        (lambda x: ~x, ~I32),
        (lambda x: x << 2, I32 << 2),
        (lambda x: x >> 2, I32 >> 2),
        (lambda x: 1 << A.cast(x & 15, np.int64), np.int64(1) << (I32 & 15).astype(np.int64)),
        (lambda x: -(1 << 40) >> A.cast(x & 15, np.int64), np.int64(-(1 << 40)) >> (I32 & 15).astype(np.int64)),
        (lambda x: x == 1, I32 == 1),
        (lambda x: x != 1, I32 != 1),
        (lambda x: (x > 0) & (x < 10), (I32 > 0) & (I32 < 10)),
        (lambda x: (x < 0) | (x > 10), (I32 < 0) | (I32 > 10)),
        (lambda x: (x < 0) ^ True, ~(I32 < 0)),
        (lambda x: A.max(x, 5), np.maximum(I32, np.int32(5))),
        (lambda x: A.min(5, x), np.minimum(I32, np.int32(5))),
        (A.even, I32 % 2 == 0),
        (A.odd, I32 % 2 == 1),
        (lambda x: A.gcd(x, 12), np.gcd(I32, np.int32(12))),
        (lambda x: A.lcm(A.cond(A.abs(x) <= 12, x, 0), 8), np.lcm(np.where(np.abs(I32) <= 12, I32, 0), 8).astype("i4")),
        (lambda x: A.cast(x, np.uint8), I32.astype(np.uint8)),
        (lambda x: A.toFloating(x, np.float32), I32.astype(np.float32)),
        (lambda x: A.bitcast(x, np.uint32), I32.view(np.uint32)),
        (lambda x: A.boolToInt(x > 0), (I32 > 0).astype(np.int64)),
        (lambda x: A.select(x > 0, x, 0), np.where(I32 > 0, I32, 0)),
    ],
)
def test_integers(f: F, expected: np.ndarray[Any, np.dtype[Any]]) -> None:
    with np.errstate(over="ignore"):
        result = on(I32, f)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("position", [0, 3, 7, 8, -1])
def test_single_bits(position: int) -> None:
    bit = 1 << position if 0 <= position < 8 else 0
    wide = U8.astype(int)
    assert on(U8, lambda x: A.testBit(x, position)).tolist() == [bool(v & bit) for v in wide]
    assert on(U8, lambda x: A.setBit(x, position)).tolist() == [v | bit for v in wide]
    assert on(U8, lambda x: A.clearBit(x, position)).tolist() == [v & ~bit for v in wide]
    assert on(U8, lambda x: A.complementBit(x, position)).tolist() == [v ^ bit for v in wide]


def test_counts_and_rotations() -> None:
    assert on(U8, A.popCount).tolist() == [int(v).bit_count() for v in U8]
    assert on(U8, A.countLeadingZeros).tolist() == [8 - int(v).bit_length() for v in U8]
    assert on(U8, A.countTrailingZeros).tolist() == [8, 0, 1, 0, 0, 7, 3, 0]
    assert on(U8, lambda x: A.rotateL(x, 1)).tolist() == [(int(v) << 1 | int(v) >> 7) & 255 for v in U8]
    assert on(U8, lambda x: A.rotateR(A.rotateL(x, 3), 3)).tolist() == U8.tolist()
    assert on(U8, lambda x: A.shiftR(A.shiftL(x, 8), 1)).tolist() == [0] * 8


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (A.sqrt, np.sqrt), (A.exp, np.exp), (A.expm1, np.expm1), (A.log, np.log), (A.log2, np.log2),
        (A.log10, np.log10), (A.log1p, np.log1p), (A.sin, np.sin), (A.cos, np.cos), (A.tan, np.tan),
        (A.sinh, np.sinh), (A.cosh, np.cosh), (A.tanh, np.tanh), (A.asinh, np.arcsinh), (A.cbrt, np.cbrt),
        (A.atan, np.arctan), (lambda x: A.asin(x / 16), lambda x: np.arcsin(x / 16)),
        (lambda x: A.acos(x / 16), lambda x: np.arccos(x / 16)),
        (lambda x: A.atanh(x / 16), lambda x: np.arctanh(x / 16)), (lambda x: A.acosh(x + 1), lambda x: np.arccosh(x + 1)),
        (lambda x: A.atan2(x, -3), lambda x: np.arctan2(x, -3)), (lambda x: A.hypot(x, 2), lambda x: np.hypot(x, 2)),
        (A.recip, lambda x: 1 / x), (lambda x: A.logBase(3, x), lambda x: np.log(x) / np.log(3.0)),
        (lambda x: x**2.5, lambda x: x**2.5), (lambda x: 2**x, lambda x: 2**x), (lambda x: A.pow(x, x), lambda x: x**x),
        (lambda x: A.copysign(x, -0.0), lambda x: -x), (lambda x: A.fma(x, 2, 1), lambda x: x * 2 + 1),
        (lambda x: x % 0.75, lambda x: x % 0.75), (lambda x: 1 / x - x, lambda x: 1 / x - x),
        (A.erf, np.vectorize(math.erf)), (A.erfc, np.vectorize(math.erfc)),
    ],
)  # fmt: skip
def test_floats(f: F, expected: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> None:
    np.testing.assert_allclose(on(F64, f), expected(F64), rtol=1e-15)


def test_roundings() -> None:
    assert on(SIGNED, A.floor).tolist() == [-3, -2, -1, 0, 1, 2, 0]
    assert on(SIGNED, A.ceiling).tolist() == [-2, -1, 0, 1, 2, 3, 0]
    assert on(SIGNED, A.truncate).tolist() == [-2, -1, 0, 0, 1, 2, 0]
    assert on(SIGNED, A.round).tolist() == [-2, -2, 0, 0, 2, 2, 0]
    assert on(SIGNED, lambda x: A.floor(x, np.float32)).dtype == np.float32
    assert on(SIGNED, A.floor).dtype == np.int64
    assert on(np.array([np.nan, np.inf, 1e300]), lambda x: A.truncate(x, np.int32)).tolist() == [
        0,
        2**31 - 1,
        2**31 - 1,
    ]


def test_nan_and_infinity() -> None:
    given = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert on(given, A.isNaN).tolist() == [True, False, False, False]
    assert on(given, A.isInfinite).tolist() == [False, True, True, False]
    np.testing.assert_array_equal(on(given, lambda x: A.max(x, 0.0)), [np.nan, np.inf, 0.0, 1.0])


def test_literals_take_the_type_of_what_they_meet() -> None:
    check(A.map(lambda x: x + 1, A.use(U8)), U8 + np.uint8(1))
    check(A.map(lambda x: x * 0.1, A.use(np.ones(2, np.float32))), np.full(2, 0.1, np.float32))
    check(A.map(lambda x: x + np.float32(1), A.use(np.ones(2, np.float32))), np.full(2, 2, np.float32))
    check(A.map(lambda x: np.float32(1) - x, A.use(np.ones(2, np.float32))), np.zeros(2, np.float32))
    check(A.map(lambda x: x * math.inf, A.use(np.ones(2, np.float32))), np.full(2, np.inf, np.float32))
    check(A.unit(A.max(1, 2.5)), np.float64(2.5))


@pytest.mark.parametrize("given", [True, 3, 2.5])
def test_a_literal_that_meets_nothing(given: bool | int | float) -> None:
    assert value(A.unit(given)).dtype == np.array(given).dtype
    assert A.constant(given).type is A.unit(given).type.element


def test_tuples() -> None:
    p = A.lift(1, A.lift(2.0, True))
    assert [str(item.type) for item in A.unlift(p)] == ["i64", "(f64, bool)"]
    check(A.unit(A.snd(p)[0]), np.float64(2.0))
    untyped: Any = p
    check(A.unit(untyped[-1][-1]), np.bool_(True))
    q = A.lift(A.constant(1), A.constant(2.0))
    for same, expected in ((q == A.lift(1, 2.0), True), (q == A.lift(1, 3.0), False), (q != A.lift(0, 2.0), True)):
        check(A.unit(same), np.bool_(expected))
    check(A.unit(A.index(1, 2) == A.index(1, 2)), np.bool_(True))
    swapped = A.while_(lambda s: s[0] < 5, lambda s: A.lift(s[1], s[0] + s[1]), A.lift(A.constant(0), A.constant(1)))
    check(A.unit(swapped[0]), np.int64(5))


def test_maybes() -> None:
    def safe_root(x: A.Exp[np.float64]) -> A.Exp[A.Maybe[np.float64]]:
        return A.cond(x < 0, A.nothing(), A.just(A.sqrt(x)))

    given = np.array([4.0, -1.0])
    assert on(given, lambda x: A.fromMaybe(-5, safe_root(x))).tolist() == [2.0, -5.0]
    assert on(given, lambda x: A.maybe(A.constant(0), A.truncate, safe_root(x))).tolist() == [2, 0]
    assert on(given, lambda x: A.isJust(safe_root(x))).tolist() == [True, False]
    assert on(given, lambda x: A.isNothing(safe_root(x))).tolist() == [False, True]
    assert on(given, lambda x: A.fromJust(safe_root(x))).tolist() == [2.0, 0.0]
    either = on(given, lambda x: A.fromMaybe(1.0, A.cond(x < 0, A.cond(x < -5, A.nothing(), A.nothing()), A.just(x))))
    assert either.tolist() == [4.0, 1.0]
    assert on(given, lambda x: A.fromMaybe(x, A.nothing())).tolist() == [4.0, -1.0]
    assert on(given, lambda x: A.maybe(x, lambda y: y * 2, A.nothing())).tolist() == [4.0, -1.0]
    greater = A.maybe(A.just(A.constant(2.0)), lambda y: A.just(A.max(y, 2)), A.nothing())
    assert on(given, lambda x: A.fromMaybe(x, greater)).tolist() == [2.0, 2.0]
    assert on(given, lambda x: safe_root(x) == A.just(A.constant(2.0))).tolist() == [True, False]
    assert on(given, lambda x: A.ne(A.nothing(), safe_root(x))).tolist() == [True, False]
    assert on(given, lambda x: A.lift(x, safe_root(x)) == A.lift(A.constant(4.0), safe_root(x))).tolist() == [
        True,
        False,
    ]
    assert on(given, lambda x: A.just(safe_root(x)) == A.just(A.nothing())).tolist() == [False, True]
    from_maybe: Any = A.fromMaybe  # mypy refuses it, too
    with pytest.raises(A.AccelTypeError, match="fromMaybe needs operands of one type, got \\(\\) and i64"):
        from_maybe(A.constant(1), A.just(A.lift()))


def test_the_branch_not_taken_is_not_evaluated() -> None:
    xs = A.use(np.array([7]))
    check(A.map(lambda i: A.cond(i < 1, xs[i], 0), A.use(np.array([0, 5]))), np.array([7, 0]))
    check(A.map(lambda i: (i < 1) & (xs[i] == 7), A.use(np.array([0, 5]))), np.array([True, False]))
    check(A.map(lambda i: (i >= 1) | (xs[i] == 7), A.use(np.array([0, 5]))), np.array([True, True]))


def test_functions_of_one_name_by_operator_and_for_passing_along() -> None:
    xs = A.use(F64)
    for by_name, f in (
        (A.add, lambda x, y: x + y), (A.sub, lambda x, y: x - y), (A.mul, lambda x, y: x * y),
        (A.div, lambda x, y: x / y), (A.mod, lambda x, y: x % y), (A.eq, lambda x, y: x == y),
        (A.ne, lambda x, y: x != y), (A.lt, lambda x, y: x < y), (A.le, lambda x, y: x <= y),
        (A.gt, lambda x, y: x > y), (A.ge, lambda x, y: x >= y),
    ):  # fmt: skip
        function: Any = by_name
        check(A.zipWith(function, xs, A.reverse(xs)), value(A.zipWith(f, xs, A.reverse(xs))))


@pytest.mark.llvm
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_literals_fit_their_types_to_the_last(kind: type[np.integer[Any]]) -> None:
    limits = np.iinfo(kind)
    for each in (int(limits.min), int(limits.max)):
        assert untyped.run(A.unit(A.constant(each, kind))).item() == each
    for each in (int(limits.min) - 1, int(limits.max) + 1):
        with pytest.raises(A.AccelTypeError, match=rf"{each} does not fit"):
            A.constant(each, kind)


@pytest.mark.parametrize(
    ("one", "other", "kind", "hint"),
    [
        (math.inf, 1.0, np.float32, r"write `A.constant\(1.0, np.float32\)`"),
        (300, -1, np.uint8, "convert one of them"),
        (300, 7, np.uint8, r"write `A.constant\(7, np.uint8\)`"),
    ],
)
def test_what_is_to_be_written_is_python_and_fits(one: float, other: float, kind: type[np.generic], hint: str) -> None:
    """Of numbers that meet only each other."""
    with pytest.raises(A.AccelTypeError, match=hint):
        on(np.ones(2, kind), lambda x: x + A.cond(x > 1, one, other))
