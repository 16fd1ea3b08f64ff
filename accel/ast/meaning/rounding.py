"""Rounding to a type of floats: numbers of 64 bits, rationals, and the sum of a product and a number, each rounded once.

In: a type of floats, and numbers as Python floats or fractions. Out: the float of that type that is nearest, ties to even,
infinite beyond the range; as a Python float, which every type's numbers fit.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from ctypes import c_float
from fractions import Fraction

from accel.ast.tree.types import F16, F32, F64, ScalarType


def _half(x: float) -> float:
    """`struct` rounds to the nearest f16, ties to even, but raises beyond the range."""
    try:
        nearest: float = _HALF.unpack(_HALF.pack(x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return nearest


_HALF = struct.Struct("<e")

ROUNDING: Mapping[ScalarType, Callable[[float], float]] = {
    F16: _half,
    F32: lambda x: c_float(x).value,
    F64: lambda x: x,
}
"""For each type of floats, the function from a 64-bit float to the nearest one of the type."""


def nearest(kind: ScalarType, exact: Fraction) -> float:
    """The float of `kind` nearest to a rational that is not 0."""
    try:
        near = exact.numerator / exact.denominator  # Python rounds this correctly
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if kind is F64 or math.isinf(near) or Fraction(near) == exact:
        return ROUNDING[kind](near)
    return ROUNDING[kind](_odd(near if abs(Fraction(near)) < abs(exact) else math.nextafter(near, 0.0)))


def _odd(toward_zero: float) -> float:
    """A number between `toward_zero` and the next one from zero, rounded to odd: rounding again sees no tie that is none."""
    found: float = _DOUBLE.unpack(_BITS.pack(_BITS.unpack(_DOUBLE.pack(toward_zero))[0] | 1))[0]
    return found


_DOUBLE, _BITS = struct.Struct("<d"), struct.Struct("<q")


def _fused_f16(x: float, y: float, z: float) -> float:
    """x * y + z of f16 numbers: the product is exact in 64 bits. Their sum may not be, but rounds as if it were.

    It would not if the sum came to lie halfway between two f16 numbers only by being rounded to 53 bits. The product has 22
    bits, z has 11, a point halfway has 12: so product or z would have to be less than 2^-30 of the other, and the other be that
    point. But z is none, being an f16 number; and a product beside which a z of 2^-24 or more is lost has an infinite result.
    """
    return _half(x * y + z)


def _fused_f32(x: float, y: float, z: float) -> float:
    """x * y + z of f32 numbers: the product is exact in 64 bits, and what their sum loses is a number of 64 bits."""
    product = x * y
    total = product + z
    if math.isfinite(total):
        part = total - product
        error = (product - (total - part)) + (z - part)
        if error:
            total = _odd(total if (error > 0) == (total > 0) else math.nextafter(total, 0.0))
    return ROUNDING[F32](total)


_SPLIT = 2.0**27 + 1
_MODERATE = 2.0**-400, 2.0**400


def _fused_f64(x: float, y: float, z: float) -> float:
    """x * y + z: the product as two numbers (Dekker 1971), and the sum of three, which Python rounds once."""
    least, most = _MODERATE
    if not (least < abs(x) < most and least < abs(y) < most and abs(z) < most):
        return _fused(x, y, z)
    product, c, d = x * y, x * _SPLIT, y * _SPLIT
    x_high, y_high = c - (c - x), d - (d - y)
    x_low, y_low = x - x_high, y - y_high
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return math.fsum((product, error, z))


def _fused(x: float, y: float, z: float) -> float:
    """x * y + z of any f64 numbers."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):
        return z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        # The signs of zeros follow the addition; a product that only underflows is no zero, but then z cancelled it.
        return x * y + z if x == 0 or y == 0 else 0.0
    return nearest(F64, exact)


FUSED: Mapping[ScalarType, Callable[[float, float, float], float]] = {F16: _fused_f16, F32: _fused_f32, F64: _fused_f64}
"""For each type of floats, `x * y + z` of three of its numbers with one rounding."""
