"""exp, expm1 and the hyperbolic functions.

All start from exp(x) = 2^n (1 + p): n is x / ln(2) rounded, r = x - n ln(2) in two parts, p = exp(r) - 1 by a polynomial.
Operands beyond a function's range are clamped first, so that n always fits; NaN passes through every formula.
"""

from __future__ import annotations

from collections.abc import Mapping

from accel.backends.llvm.scalar_code.coefficients import EXP, LN2, LN2_SINGLE, LOG2_E, SINH
from accel.backends.llvm.scalar_code.reals import Format, Real, Whole, fma, polynomial

_EXP_RANGE: Mapping[Format, tuple[float, float]] = {
    Format.DOUBLE: (-746.0, 710.0),
    Format.WIDENED: (-110.0, 90.0),
    Format.SINGLE: (-105.0, 90.0),
}
"""Beyond it, exp is 0 or infinite."""


def rounded(x: Real, factor: float) -> tuple[Whole, Real]:
    """The integer nearest to x * factor: in the low bits of an integer, and as a float. Both are small.

    Adding 3/2 of the power of two where floats are whole rounds a float and leaves the integer in its low bits.
    """
    rounder = 1.5 * 2.0**x.format.digits
    shifted = fma(x, factor, rounder)
    return shifted.bits(), shifted - rounder


def exp(x: Real) -> Real:
    """e to the x."""
    low, high = _EXP_RANGE[x.format]
    n, p = split(x.at_most(high).at_least(low))
    return scaled(p + 1.0, n)


def split(x: Real, low: Real | None = None) -> tuple[Whole, Real]:
    """n and p with exp(x + low) = 2^n (1 + p), for |x| below 2^20 and `low` below an ulp or so of x."""
    bits, n = rounded(x, LOG2_E[0])
    first, second = LN2_SINGLE if x.format is Format.SINGLE else LN2
    # n ln(2) and x are so close that the first difference is exact.
    r = fma(n, -second, fma(n, -first, x))
    r = r if low is None else r + low
    # The bits of 3/2 of a power of two, less which n remains.
    base = (x.format.bias + x.format.digits) << x.format.digits | 1 << (x.format.digits - 1)
    return bits - base, fma(r * r, polynomial(r, EXP), r)


def power_of_two(n: Whole) -> Real:
    """2^n, if that is a normal float."""
    return ((n + n.format.bias) << n.format.digits).real()


def scaled(x: Real, n: Whole) -> Real:
    """x 2^n, also where that is subnormal or infinite: two factors, of which the first is exact."""
    if x.format is Format.WIDENED:
        return x * power_of_two(n)
    # Both exponents as floats have them, which are no less than 0, at once: n is no less than -1080.
    both = n + 2 * n.format.bias
    half = both >> 1
    return x * (half << n.format.digits).real() * ((both - half) << n.format.digits).real()


def expm1(x: Real) -> Real:
    """e to the x, less 1, exact to the last bits near 0."""
    n, p = split(x.at_most(710.0).at_least(-60.0))
    # Halved throughout, so that 2^1024 does not overflow early.
    half = power_of_two(n - 1)
    value = fma(half, p, half - 0.5) * 2.0
    return (abs(x) < 2.0**-54).choose(x, n.differs(0).choose(value, p))


def _half_exp(x: Real) -> Real:
    """Half of e to the |x|, infinite only where sinh is."""
    n, p = split(abs(x).at_most(711.0 if x.format is Format.DOUBLE else 100.0))
    return scaled(p + 1.0, n - 1)


def sinh(x: Real) -> Real:
    """(e^x - e^-x) / 2; a polynomial below 1."""
    half = _half_exp(x)
    large = (half - 0.25 / half).with_sign_of(x)
    square = x * x
    return (abs(x) < 1.0).choose(odd(x, square * polynomial(square, SINH)), large)


def cosh(x: Real) -> Real:
    """(e^x + e^-x) / 2."""
    half = _half_exp(x)
    return half + 0.25 / half


def tanh(x: Real) -> Real:
    """e / (e + 2) with e = exp(2|x|) - 1, and the sign of x."""
    # Beyond 22, or 10 in 32 bits, the result rounds to 1.
    n, p = split(abs(x).at_most(10.0 if x.format is Format.SINGLE else 22.0) * 2.0)
    factor = power_of_two(n)
    e = fma(factor, p, factor - 1.0)
    return (e / (e + 2.0)).with_sign_of(x)


def odd(x: Real, relative: Real) -> Real:
    """x (1 + relative), keeping the sign of zero that a polynomial in x² would lose."""
    return fma(x, relative, x).with_sign_of(x)
