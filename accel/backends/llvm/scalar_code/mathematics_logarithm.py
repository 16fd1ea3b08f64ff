"""log, log2, log10, log1p and the inverse hyperbolic functions.

All start from x = 2^k (1 + f) with √½ <= 1 + f < √2, and log(1 + f) = 2 atanh(s), s = f / (2 + f), by a polynomial in s².
With h = f² / 2 that is f - (h - s (h + R)), where f, the greatest part, is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from accel.backends.llvm.scalar_code.coefficients import (
    ATANH,
    LN2,
    LN2_EXACT,
    LN2_EXACT_SINGLE,
    LOG2_E,
    LOG10_2_EXACT,
    LOG10_E,
)
from accel.backends.llvm.scalar_code.mathematics_exponential import odd
from accel.backends.llvm.scalar_code.reals import Format, Real, Whole, fma, polynomial
from accel.support.dataclass import dataclass

_ROOT_HALF_BITS: Mapping[Format, int] = {
    Format.DOUBLE: 0x3FE6A09E667F3BCD,
    Format.WIDENED: 0x3FE6A09E667F3BCD,
    Format.SINGLE: 0x3F3504F3,
}
"""√½ as a float's bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """x = 2^k m: `field` is k in the place of a float's exponent."""

    k: Real
    m: Real
    field: Whole


def scale(x: Real) -> Scaled:
    """The power of two and the rest of a positive finite x; anything, but nothing undefined, for others."""
    form, digits, bias = x.format, x.format.digits, x.format.bias
    # Floats that came from 32 bits are never subnormal in 64.
    tiny = None if form is Format.WIDENED else x < 2.0 ** (1 - bias)
    lift = digits + 2
    bits = (x if tiny is None else tiny.choose(x * 2.0**lift, x)).bits()
    above = bits - _ROOT_HALF_BITS[form]
    field = above & -(1 << digits)
    # k + bias + 1 in the low bits of a float that counts ones.
    counted = (((above + ((bias + 1) << digits)) >> digits) | (bias + digits) << digits).real()
    k = counted - (2.0**digits + bias + 1.0)
    return Scaled(k if tiny is None else tiny.choose(k - float(lift), k), (bits - field).real(), field)


def tail(f: Real) -> tuple[Real, Real]:
    """h = f² / 2 and s (h + R), so that log(1 + f) = f - (h - s (h + R))."""
    s = f / (f + 2.0)
    square = s * s
    h = f * f * 0.5
    return h, s * fma(square * 2.0, polynomial(square, ATANH), h)


def natural(k: Real, f: Real) -> Real:
    """k ln(2) + log(1 + f)."""
    h, rest = tail(f)
    first, second = LN2_EXACT_SINGLE if f.format is Format.SINGLE else LN2_EXACT
    return fma(k, first, f - (h - fma(k, second, rest)))


def with_poles(x: Real, value: Real) -> Real:
    """A logarithm's values at 0 (-infinity), below (NaN), at infinity and NaN (x itself)."""
    finite = (x < math.inf).choose(value, x)
    outside = x.equals(0.0).choose(x.constant(-math.inf), math.nan)
    return (x <= 0.0).choose(outside, finite)


def log(x: Real) -> Real:
    """The natural logarithm."""
    parts = scale(x)
    return with_poles(x, natural(parts.k, parts.m - 1.0))


def log2(x: Real) -> Real:
    """The logarithm to base 2; exact at powers of two."""
    return _in_base(x, LOG2_E, (1.0, 0.0))


def log10(x: Real) -> Real:
    """The logarithm to base 10."""
    return _in_base(x, LOG10_E, LOG10_2_EXACT)


def _in_base(x: Real, factor: tuple[float, ...], of_two: tuple[float, ...]) -> Real:
    """log(x) times a factor in two parts, where the logarithm of 2 in that base has two parts too."""
    parts = scale(x)
    f = parts.m - 1.0
    h, rest = tail(f)
    high = f - h
    low = (f - high) - h + rest
    product = high * factor[0]
    error = fma(high, factor[0], -product) + fma(low, factor[0], high * factor[1])
    whole = parts.k * of_two[0]
    total = whole + product
    return with_poles(x, total + ((whole - total) + product + fma(parts.k, of_two[1], error)))


def log1p(x: Real) -> Real:
    """log(1 + x), exact to the last bits near 0."""
    u = x + 1.0
    lost = (x > 1.0).choose(1.0 - (u - x), x - (u - 1.0))
    parts = scale(u)
    # What rounding 1 + x lost, scaled like m; nothing is left of it for large x, where 2^-k would be subnormal.
    correction = (u < 2.0**60).choose(lost * ((1023 << 52) - parts.field).real(), 0.0)
    value = with_poles(u, natural(parts.k, (parts.m - 1.0) + correction))
    return (abs(x) < 2.0**-54).choose(x, value)


def asinh(x: Real) -> Real:
    """The inverse of sinh."""
    a = abs(x)
    near = a + a * a / (fma(a, a, 1.0).intrinsic("sqrt") + 1.0)
    return _log1p_or_log_of_double(a, near).with_sign_of(x)


def acosh(x: Real) -> Real:
    """The inverse of cosh; NaN below 1."""
    t = x - 1.0
    near = t + (t * (t + 2.0)).intrinsic("sqrt")
    return (x < 1.0).choose(x.constant(math.nan), _log1p_or_log_of_double(x, near))


def _log1p_or_log_of_double(x: Real, near: Real) -> Real:
    """log1p(near), and log(2x) for x so large that its square might overflow."""
    large = x > 2.0**60
    value = log1p(large.choose(x, near))
    return large.choose(value + LN2[0], value)


def atanh(x: Real) -> Real:
    """The inverse of tanh: log((1 + x) / (1 - x)) / 2; the polynomial near 0."""
    a = abs(x)
    far = (log1p(a * 2.0 / (1.0 - a)) * 0.5).with_sign_of(x)
    square = x * x
    return (a < 0.17).choose(odd(x, square * polynomial(square, ATANH)), far)
