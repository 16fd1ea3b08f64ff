"""Inverse functions of complex numbers, as formulas of their parts that overflow only where the result does.

In: the parts of an operand. Out: the parts of the result. The formulas are Kahan's ("Branch cuts for complex elementary
functions", 1987), without branches: sums whose summands have one sign, so that nothing cancels. The signs of zeros say on which
side of a branch cut a number lies, as in C and NumPy.
"""

from __future__ import annotations

import math

from accel.ast.handles.complex_numbers.functions import Complex, log, sqrt
from accel.ast.handles.real_numbers.formulas import Real, Truth
from accel.ast.tree.operators import Operator


def asinh(z: Complex) -> Complex:
    """The inverse hyperbolic sine, whose imaginary part lies from -pi/2 to pi/2."""
    x, y = z
    one = x.like(1.0)
    (a, b), (c, d) = sqrt((one + y, -x)), sqrt((one - y, x))
    real, imaginary = _asinh(a * d - c * b), y.apply(Operator.ATAN2, a * c - b * d)
    is_large = _is_large(z)
    return (
        is_large.choose(_logarithm(z).with_sign(x), real),
        is_large.choose(y.apply(Operator.ATAN2, abs(x)), imaginary),
    )


def acosh(z: Complex) -> Complex:
    """The inverse hyperbolic cosine, whose real part is not negative."""
    x, y = z
    (a, b), (c, d) = sqrt((x - 1.0, y)), sqrt((x + 1.0, y))
    real, imaginary = _asinh(a * c + b * d), b.apply(Operator.ATAN2, c) * 2.0
    is_large = _is_large(z)
    return is_large.choose(_logarithm(z), real), is_large.choose(y.apply(Operator.ATAN2, x), imaginary)


def atanh(z: Complex) -> Complex:
    """The inverse hyperbolic tangent; each part has the sign of the operand's."""
    real, imaginary = _atanh_of_positive(abs(z[0]), abs(z[1]))
    return real.with_sign(z[0]), imaginary.with_sign(z[1])


def asin(z: Complex) -> Complex:
    """`-i * asinh(i * z)`."""
    x, y = z
    real, imaginary = asinh((-y, x))
    return imaginary, -real


def acos(z: Complex) -> Complex:
    """The arc cosine, whose real part lies from 0 to pi."""
    x, y = z
    one = x.like(1.0)
    (a, b), (c, d) = sqrt((one - x, -y)), sqrt((one + x, y))
    real, imaginary = a.apply(Operator.ATAN2, c) * 2.0, _asinh(c * b - d * a)
    is_large = _is_large(z)
    return (
        is_large.choose(abs(y).apply(Operator.ATAN2, x), real),
        is_large.choose(_logarithm(z).with_sign(-y), imaginary),
    )


def atan(z: Complex) -> Complex:
    """`-i * atanh(i * z)`."""
    x, y = z
    real, imaginary = atanh((-y, x))
    return imaginary, -real


def log2(z: Complex) -> Complex:
    """The logarithm to base 2."""
    return _logarithm_to(2.0, z)


def log10(z: Complex) -> Complex:
    """The logarithm to base 10."""
    return _logarithm_to(10.0, z)


def _logarithm_to(base: float, z: Complex) -> Complex:
    real, imaginary = log(z)
    return real * (1.0 / math.log(base)), imaginary * (1.0 / math.log(base))


def _asinh(x: Real) -> Real:
    return x.apply(Operator.ASINH)


def _is_large(z: Complex) -> Truth:
    """Whether a product of roots may overflow."""
    x, y = z
    most = float(x.limits.max) / 8
    return (abs(x) > most) | (abs(y) > most)


def _logarithm(z: Complex) -> Real:
    """The logarithm of twice the magnitude of a large number, which need not be one itself."""
    x, y = z
    return (x * 0.25).apply(Operator.HYPOT, y * 0.25).apply(Operator.LOG) + math.log(8.0)


def _atanh_of_positive(x: Real, y: Real) -> Complex:
    """The magnitudes of both parts."""
    one = x.like(1.0)
    away = one - x
    real = (x * 4.0 / (away * away + y * y)).apply(Operator.LOG1P) * 0.25
    imaginary = (y * 2.0).apply(Operator.ATAN2, away * (one + x) - y * y) * 0.5
    # At 1 the square of a small part would vanish.
    is_at_one = x.equals(1.0) & (y < math.sqrt(float(x.limits.tiny)))
    at_one = -(y.apply(Operator.SQRT) / y.apply(Operator.HYPOT, 2.0).apply(Operator.SQRT)).apply(Operator.LOG)
    real = is_at_one.choose(at_one, real)
    imaginary = (is_at_one & ~y.equals(0.0)).choose(x.like(2.0).apply(Operator.ATAN2, -y) * 0.5, imaginary)
    # Far from 0 it is 1 / z, and a quarter of a turn.
    most = math.sqrt(float(x.limits.max)) / 2
    is_large = (x > most) | (y > most)
    half = (x * 0.5).apply(Operator.HYPOT, y * 0.5)
    far = (x.is_infinite() | y.is_infinite()).choose(x.like(0.0), x * 0.25 / half / half)
    return is_large.choose(far, real), is_large.choose(y.like(math.pi / 2), imaginary)
