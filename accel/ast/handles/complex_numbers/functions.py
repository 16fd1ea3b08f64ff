"""Functions of complex numbers, as formulas of their parts that overflow only where the result does.

In: the parts of an operand. Out: the parts of the result. They are made of the float functions, and their errors are a few
times those (docs/scalars.md). The formulas are Kahan's ("Branch cuts for complex elementary functions", 1987), without
branches.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from accel.ast.handles.real_numbers.formulas import Real, Truth
from accel.ast.tree.operators import Operator

Complex: TypeAlias = tuple[Real, Real]
"""The real and the imaginary part."""


def chosen(condition: Truth, then: Complex, orelse: Complex) -> Complex:
    """`then` where the condition holds, `orelse` elsewhere; both are computed."""
    return condition.choose(then[0], orelse[0]), condition.choose(then[1], orelse[1])


def signum(z: Complex) -> Complex:
    """The number of magnitude 1 in the direction of `z`; zeros stay."""
    (x, y), _, _ = _scaled(z)
    magnitude = x.apply(Operator.HYPOT, y)
    return chosen(magnitude.equals(0.0), z, (x / magnitude, y / magnitude))


def sqrt(z: Complex) -> Complex:
    """The square root whose real part is not negative, and whose imaginary part has the sign of `z`'s."""
    (x, y), root, _ = _scaled(z)
    large = ((abs(x) + x.apply(Operator.HYPOT, y)) * 0.5).apply(Operator.SQRT)
    small = large.equals(0.0).choose(large, abs(y) / (2.0 * large))
    is_right = z[0] >= 0.0
    real, imaginary = is_right.choose(large, small) * root, is_right.choose(small, large) * root
    infinite = z[1].is_infinite()
    return infinite.choose(abs(z[1]), real), infinite.choose(z[1], imaginary.with_sign(z[1]))


def exp(z: Complex) -> Complex:
    """`exp(x) * (cos(y) + i * sin(y))`."""
    x, y = z
    is_large = abs(x) > _most(x) - 1.0
    size = x.apply(Operator.EXP)

    def times(direction: Real) -> Real:
        return is_large.choose(_times_exp(direction, x, 1.0), size * direction)

    real, imaginary = times(y.apply(Operator.COS)), times(y.apply(Operator.SIN))
    no_direction = ~((y - y).equals(0.0))
    vanishes = no_direction & x.equals(-math.inf)
    real = (no_direction & x.equals(math.inf)).choose(x, vanishes.choose(x.like(0.0), real))
    return real, y.equals(0.0).choose(y, vanishes.choose(x.like(0.0), imaginary))


def log(z: Complex) -> Complex:
    """The logarithm of the magnitude, and the angle."""
    x, y = z
    (u, v), _, logarithm = _scaled(z)
    far = u.apply(Operator.HYPOT, v).apply(Operator.LOG) + logarithm
    # Near 1 the logarithm loses what the magnitude is rounded by.
    beyond = _beyond_one(x, y)
    near = beyond.apply(Operator.LOG1P) * 0.5
    is_near = (abs(x) < 2.0) & (abs(y) < 2.0) & (beyond > -0.5) & (beyond < 2.0)
    return is_near.choose(near, far), y.apply(Operator.ATAN2, x)


def sinh(z: Complex) -> Complex:
    """`sinh(x) * cos(y) + i * cosh(x) * sin(y)`."""
    x, y = z
    return _sinh_times(x, y.apply(Operator.COS)), _cosh_times(x, y.apply(Operator.SIN))


def cosh(z: Complex) -> Complex:
    """`cosh(x) * cos(y) + i * sinh(x) * sin(y)`."""
    x, y = z
    return _cosh_times(x, y.apply(Operator.COS)), _sinh_times(x, y.apply(Operator.SIN))


def tanh(z: Complex) -> Complex:
    """`sinh(z) / cosh(z)`."""
    x, y = z
    tangent, sine = y.apply(Operator.TAN), x.apply(Operator.SINH)
    beta = tangent * tangent + 1.0
    below = beta * sine * sine + 1.0
    real = beta * (sine * sine + 1.0).apply(Operator.SQRT) * sine / below
    imaginary = tangent / below
    is_large = abs(x) > _digits(x)
    vanishing = (-abs(x)).apply(Operator.EXP)
    small = 4.0 * y.apply(Operator.SIN) * y.apply(Operator.COS) * vanishing * vanishing
    nowhere = x.is_infinite() & ~((y - y).equals(0.0))
    return is_large.choose(x.like(1.0).with_sign(x), real), nowhere.choose(
        x.like(0.0), is_large.choose(small, imaginary)
    )


def sin(z: Complex) -> Complex:
    """`-i * sinh(i * z)`."""
    x, y = z
    real, imaginary = sinh((-y, x))
    return imaginary, -real


def cos(z: Complex) -> Complex:
    """`cosh(i * z)`."""
    x, y = z
    return cosh((-y, x))


def tan(z: Complex) -> Complex:
    """`-i * tanh(i * z)`."""
    x, y = z
    real, imaginary = tanh((-y, x))
    return imaginary, -real


def _scaled(z: Complex) -> tuple[Complex, Real, Real]:
    """`z` times a power of 4 with which magnitudes neither overflow nor are subnormal.

    And what gives the square root back, and the logarithm: a factor and a summand.
    """
    x, y = z
    largest = abs(x).apply(Operator.MAX, abs(y))
    digits = (x.limits.nmant + 2) // 2 * 2
    is_large, is_small = largest > float(x.limits.max) / 4, largest < float(x.limits.tiny) * 4

    def by(large: float, small: float, usual: float) -> Real:
        return is_large.choose(x.like(large), is_small.choose(x.like(small), usual))

    factor = by(0.25, 2.0**digits, 1.0)
    root = by(2.0, 2.0 ** -(digits // 2), 1.0)
    logarithm = by(math.log(4.0), -digits * math.log(2.0), 0.0)
    return (x * factor, y * factor), root, logarithm


def _most(x: Real) -> float:
    """Beyond this, `exp` overflows."""
    return math.log(float(x.limits.max))


def _digits(x: Real) -> float:
    """Beyond this, `tanh` is 1."""
    return (x.limits.nmant + 3) * math.log(2.0) / 2 + 1


def _times_exp(factor: Real, x: Real, scale: float) -> Real:
    """`factor * exp(x) * scale`, which need not overflow where `exp` does."""
    root = (x * 0.25).apply(Operator.EXP)
    return factor * root * root * root * (root * scale)


def _cosh_times(x: Real, factor: Real) -> Real:
    large = _times_exp(factor, abs(x), 0.5)
    found = (abs(x) > _most(x) - 1.0).choose(large, x.apply(Operator.COSH) * factor)
    return factor.equals(0.0).choose(factor, found)


def _sinh_times(x: Real, factor: Real) -> Real:
    large = _times_exp(factor, abs(x), 0.5) * x.apply(Operator.SIGNUM)
    found = (abs(x) > _most(x) - 1.0).choose(large, x.apply(Operator.SINH) * factor)
    found = factor.equals(0.0).choose(factor * x.apply(Operator.SIGNUM), found)
    return (x.equals(0.0) & factor.is_nan()).choose(x, found)


def _beyond_one(x: Real, y: Real) -> Real:
    """`x * x + y * y - 1`, rounded as if at the end only, where the operands are below 2: the errors are summed, too."""
    (p, p_rest), (q, q_rest) = _square(x), _square(y)
    is_less = p < q
    s, s_rest = _two_sum(is_less.choose(q, p), x.like(-1.0))
    t, t_rest = _two_sum(s, is_less.choose(p, q))
    first, first_rest = _two_sum(p_rest, q_rest)
    second, second_rest = _two_sum(s_rest, t_rest)
    rest, last = _two_sum(first, second)
    total, total_rest = _two_sum(t, rest)
    return total + (total_rest + (last + (first_rest + second_rest)))


def _square(x: Real) -> tuple[Real, Real]:
    """The square, and what it was rounded by."""
    found = x * x
    return found, x.apply(Operator.FMA, x, -found)


def _two_sum(x: Real, y: Real) -> tuple[Real, Real]:
    """The sum, and what it was rounded by (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)
