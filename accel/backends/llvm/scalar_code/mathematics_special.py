"""erf, erfc, pow, hypot and cbrt."""

from __future__ import annotations

import math
from collections.abc import Mapping

from accel.backends.llvm.scalar_code.coefficients import ATANH_TAIL, ERF, ERFC, ERFCX, LN2_EXACT, THIRD
from accel.backends.llvm.scalar_code.mathematics_exponential import power_of_two, scaled, split
from accel.backends.llvm.scalar_code.mathematics_logarithm import natural, scale
from accel.backends.llvm.scalar_code.reals import Format, Real, exact_polynomial, fma, polynomial


def _erf_near(x: Real) -> Real:
    """erf for |x| <= 1."""
    return fma(x, polynomial(x * x, ERF), x)


def erf(x: Real) -> Real:
    """The error function: a polynomial up to 1, then 1 - erfc with erfc = exp(-x²) times a polynomial."""
    # Beyond 6 the result rounds to 1, and exp(-x²) stays a normal float of 32 bits too.
    a = abs(x).at_most(6.0)
    n, p = split(-(a * a))
    complement = (p + 1.0) * power_of_two(n) * exact_polynomial((a - 3.0) / (a + 3.0), ERFCX)
    return (a < 1.0).choose(_erf_near(x), (1.0 - complement).with_sign_of(x))


_ERFC_ZERO: Mapping[Format, float] = {Format.DOUBLE: 28.0, Format.WIDENED: 12.0, Format.SINGLE: 10.5}
"""From here on, erfc is 0."""


def erfc(x: Real) -> Real:
    """1 - erf(x), accurate also where that is tiny: exp(-x²) takes x² in two parts."""
    a = abs(x).at_most(_ERFC_ZERO[x.format])
    square = a * a
    divisor = fma(a, 2.0, 1.0)
    inverse = 1.0 / divisor
    # The relative errors of the divisor and of its inverse are subtracted from the exponent, with what x² lost.
    error = fma(-divisor, inverse, 1.0) - (1.0 - (divisor - a * 2.0)) * inverse
    n, p = split(-square, error - fma(a, a, -square))
    factor = exact_polynomial((a - 3.0) / (a + 3.0), ERFC) * inverse
    far = scaled(fma(factor, p, factor), n)
    return (a < 0.5).choose(1.0 - _erf_near(x), (x < 0.0).choose(2.0 - far, far))


def hypot(x: Real, y: Real) -> Real:
    """√(x² + y²) without overflow in between; infinite if one operand is, even beside NaN."""
    a, b = abs(x), abs(y)
    large, small = (a > b).choose(a, b), (a > b).choose(b, a)
    if x.format is Format.WIDENED:
        value = fma(large, large, small * small).intrinsic("sqrt")
    else:
        huge, tiny = large > 2.0**500, large < 2.0**-400
        down = huge.choose(x.constant(2.0**-600), tiny.choose(x.constant(2.0**600), 1.0))
        back = huge.choose(x.constant(2.0**600), tiny.choose(x.constant(2.0**-600), 1.0))
        first, second = large * down, small * down
        value = fma(first, first, second * second).intrinsic("sqrt") * back
    infinite = a.equals(math.inf) | b.equals(math.inf)
    return infinite.choose(x.constant(math.inf), (x.is_nan() | y.is_nan()).choose(x + y, value))


def cbrt(x: Real) -> Real:
    """The cube root: an estimate from a third of the exponent, then Halley's iteration, each tripling the digits."""
    a = abs(x)
    tiny, huge = a < 2.0**-1000, a > 2.0**1000
    # Powers of eight, so that the root scales exactly.
    b = a * tiny.choose(x.constant(2.0**108), huge.choose(x.constant(2.0**-108), 1.0))
    # A third of the upper half of the bits; two thirds of the exponent's bias are added back, less what centres the error.
    third = ((b.bits() >> 32) * 0x55555556) >> 32
    y = ((third + 715094163) << 32).real()
    for _ in range(2):
        cube = y * y * y
        y = y * ((cube + b * 2.0) / (cube * 2.0 + b))
    # The last correction from an exact residual.
    square = y * y
    residual = fma(-square, y, b) - fma(y, y, -square) * y
    y = y + residual / (square * 3.0)
    y = y * tiny.choose(x.constant(2.0**-36), huge.choose(x.constant(2.0**36), 1.0))
    itself = a.equals(0.0) | a.equals(math.inf) | a.is_nan()
    return itself.choose(x, y.with_sign_of(x))


def power(x: Real, y: Real) -> Real:
    """x to the y as C's pow: exp(y log|x|) with the logarithm in two floats, then the sign and the special cases."""
    a = abs(x)
    high, low = _logarithm(a)
    high = a.equals(0.0).choose(x.constant(-math.inf), a.equals(math.inf).choose(x.constant(math.inf), high))
    exponent = y * high
    limit = 800.0 if x.format is Format.DOUBLE else 200.0
    bounded = abs(exponent) <= limit
    rest = bounded.choose(fma(y, high, -exponent) + y * low, 0.0)
    limited = bounded.choose(exponent, x.constant(limit).with_sign_of(exponent))
    n, p = split(limited, rest)
    magnitude = a.equals(1.0).choose(x.constant(1.0), scaled(p + 1.0, n))
    return _signed_power(x, y, magnitude)


def _signed_power(x: Real, y: Real, magnitude: Real) -> Real:
    """The power from |x| to the y: odd y keep the sign of x, other y have no power of a negative number."""
    whole = y.intrinsic("roundeven").equals(y)
    half = y * 0.5
    odd = whole & half.intrinsic("roundeven").differs(half)
    signed = odd.choose(magnitude.with_sign_of(x), magnitude)
    undefined = (x < 0.0) & (x > -math.inf) & ~whole
    nan = x.is_nan() | y.is_nan() | undefined
    one = x.equals(1.0) | y.equals(0.0)
    return one.choose(x.constant(1.0), nan.choose(x.constant(math.nan), signed))


def _logarithm(a: Real) -> tuple[Real, Real]:
    """log(a) for finite a > 0 as a sum of two floats, to 64 bits (about 52 for short results)."""
    parts = scale(a)
    f = parts.m - 1.0
    if a.format is Format.WIDENED:
        return natural(parts.k, f), a.constant(0.0)
    divisor = f + 2.0
    inverse = 1.0 / divisor
    s = f * inverse
    s_low = (fma(-s, divisor, f) - s * (f - (divisor - 2.0))) * inverse
    z = s * s
    z_low = fma(s, s, -z) + s * s_low * 2.0
    # P = 1/3 + z Q, w = z P, v = s w; log(1 + f) = 2 (s + v).
    tail = z * polynomial(z, ATANH_TAIL)
    p = tail + THIRD[0]
    p_low = (THIRD[0] - p) + tail + THIRD[1]
    w = z * p
    w_low = fma(z, p, -w) + fma(z, p_low, z_low * p)
    v = s * w
    v_low = fma(s, w, -v) + fma(s, w_low, s_low * w)
    total = s + v
    total_low = (s - total) + v + (s_low + v_low)
    whole = parts.k * LN2_EXACT[0]
    high = whole + total * 2.0
    return high, (whole - high) + total * 2.0 + fma(parts.k, LN2_EXACT[1], total_low * 2.0)
