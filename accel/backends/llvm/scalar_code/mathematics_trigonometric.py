"""sin, cos, tan and their inverses.

Operands are reduced to |r| <= π / 4 by subtracting n π / 2 in three parts, which is accurate for |x| <= 2^30 (2^16 in 32
bits); lanes beyond that take the C library's function, in a branch that a body without such lanes skips.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from accel.ast.tree.types import F64
from accel.backends.llvm.scalar_code.coefficients import ASIN, ATAN, COS, HALF_PI, HALF_PI_SINGLE, SIN
from accel.backends.llvm.scalar_code.mathematics_exponential import rounded
from accel.backends.llvm.scalar_code.reals import Format, Mask, Real, Whole, fma, polynomial
from accel.backends.llvm.text.code import Code

_LARGE: Mapping[Format, float] = {Format.DOUBLE: 2.0**30, Format.WIDENED: 2.0**30, Format.SINGLE: 2.0**16}
"""Beyond this, reduction in three parts loses bits."""

_TINY: Mapping[Format, float] = {Format.DOUBLE: 2.0**-27, Format.WIDENED: 2.0**-27, Format.SINGLE: 2.0**-13}
"""Below this, sine and tangent are their operand, with its sign also for zero."""


def _reduced(x: Real) -> tuple[Whole, Real]:
    """n (in the low bits) and r with x = n π / 2 + r."""
    bits, n = rounded(x, 2.0 / math.pi)
    r = x
    for part in HALF_PI_SINGLE if x.format is Format.SINGLE else HALF_PI:
        r = fma(n, -part, r)
    return bits, r


def _sine(r: Real, square: Real) -> Real:
    return fma(square * r, polynomial(square, SIN), r)


def _cosine(square: Real) -> Real:
    """1 - r²/2 + r⁴ P, with the rounding error of the first difference added back."""
    half = square * 0.5
    high = 1.0 - half
    return high + fma(square * square, polynomial(square, COS), (1.0 - high) - half)


def _by_quadrant(x: Real, first: int) -> Real:
    """sin(x + first π / 2), unless x is large."""
    n, r = _reduced(x)
    square = r * r
    quadrant = n + first if first else n
    value = (quadrant & 1).differs(0).choose(_cosine(square), _sine(r, square))
    return (value.bits() ^ ((quadrant & 2) << (x.format.whole.bits - 2))).real()


def sin(x: Real) -> Real:
    """The sine."""
    near = (abs(x) < _TINY[x.format]).choose(x, _by_quadrant(x, 0))
    return _or_library(x, "sin", near)


def cos(x: Real) -> Real:
    """The cosine."""
    return _or_library(x, "cos", _by_quadrant(x, 1))


def tan(x: Real) -> Real:
    """The tangent: a quotient of sine and cosine of r."""
    n, r = _reduced(x)
    square = r * r
    sine, cosine = _sine(r, square), _cosine(square)
    odd_ = (n & 1).differs(0)
    value = odd_.choose(-cosine, sine) / odd_.choose(sine, cosine)
    return _or_library(x, "tan", (abs(x) < _TINY[x.format]).choose(x, value))


def _or_library(x: Real, symbol: str, value: Real) -> Real:
    """`value`, replaced by the C library's in lanes with large |x| if there are any."""
    code = x.code
    large = abs(x) > _LARGE[x.format]
    # The branch is inside of the elementary function: to its callers it is one instruction.
    code.line(f"br label %{symbol}.start")
    code.line(f"{symbol}.start:")
    any_large = _any(code, large)
    code.line(f"br i1 {any_large}, label %{symbol}.large, label %{symbol}.end")
    code.line(f"{symbol}.large:")
    called = _by_lanes(symbol, x)
    replaced = large.choose(called, value)
    code.line(f"br label %{symbol}.end")
    code.line(f"{symbol}.end:")
    result = code.emit(f"phi {x.type} [ {value.name}, %{symbol}.start ], [ {replaced.name}, %{symbol}.large ]")
    return Real(code, x.format, result)


def _any(code: Code, mask: Mask) -> str:
    if code.lanes == 1:
        return mask.name
    packed = code.emit(f"bitcast {code.vector('i1')} {mask.name} to i{code.lanes}")
    return code.emit(f"icmp ne i{code.lanes} {packed}, 0")


def _by_lanes(symbol: str, x: Real) -> Real:
    """A call of a C function of one 64-bit float for each lane in turn."""
    code, scalar = x.code, x.code.at(1)
    wide = x.name if x.format.kind is F64 else code.emit(f"fpext {x.type} {x.name} to {code.type(F64)}")
    result = wide
    for lane in range(code.lanes):
        element = wide if code.lanes == 1 else code.emit(f"extractelement {code.type(F64)} {wide}, i64 {lane}")
        value = scalar.call(symbol, "double", ["double"], [f"double {element}"])
        insertion = f"insertelement {code.type(F64)} {result}, double {value}, i64 {lane}"
        result = value if code.lanes == 1 else code.emit(insertion)
    narrow = result if x.format.kind is F64 else code.emit(f"fptrunc {code.type(F64)} {result} to {x.type}")
    return Real(code, x.format, narrow)


# Inverses.


def _arc(x: Real) -> tuple[Mask, Real, Real]:
    """Whether |x| <= 1/2; a, which is x there and √((1 - |x|) / 2) beyond; and asin(a) - a."""
    inner = abs(x) <= 0.5
    square = inner.choose(x * x, (1.0 - abs(x)) * 0.5)
    a = inner.choose(x, square.intrinsic("sqrt"))
    return inner, a, a * (square * polynomial(square, ASIN))


def asin(x: Real) -> Real:
    """The inverse of sin; beyond 1/2 it is π / 2 - 2 asin(√((1 - |x|) / 2))."""
    inner, a, rest = _arc(x)
    outer = HALF_PI[0] - (a * 2.0 + (rest * 2.0 - HALF_PI[1]))
    return inner.choose(a + rest, outer).with_sign_of(x)


def acos(x: Real) -> Real:
    """The inverse of cos, likewise."""
    inner, a, rest = _arc(x)
    middle = HALF_PI[0] - (a + (rest - HALF_PI[1]))
    right = (a + rest) * 2.0
    return inner.choose(middle, (x < 0.0).choose(middle * 2.0, right))


def atan(x: Real) -> Real:
    """The inverse of tan."""
    return _angle(abs(x), x.constant(1.0), x.constant(0.0)).with_sign_of(x)


def atan2(y: Real, x: Real) -> Real:
    """The angle of the point (x, y); zeros and infinities count by their signs, as in C."""
    above, aside = abs(y), abs(x)
    # Infinite coordinates both: the diagonal. Near the range's end: sums must not overflow.
    both = (above.equals(math.inf)) & (aside.equals(math.inf))
    shrink = ((above > 2.0**1000) | (aside > 2.0**1000)).choose(x.constant(2.0**-100), 1.0)
    numerator, denominator = (both.choose(x.constant(1.0), side * shrink) for side in (above, aside))
    angle = _angle(numerator, denominator, x.bits().is_negative().choose(x.constant(4.0), 0.0))
    return (x.is_nan() | y.is_nan()).choose(x + y, angle.with_sign_of(y))


def _angle(y: Real, x: Real, start: Real) -> Real:
    """atan(y / x) for y, x >= 0 if `start` is 0, and π less that if it is 4 (eighths of the circle).

    The smaller over the larger is t; beyond tan(π / 8) the angle is π / 4 less that of (1 - t) / (1 + t).
    """
    steep = y > x
    small, large = steep.choose(x, y), steep.choose(y, x)
    middle = small > large * 0.41421356237309503
    quotient = middle.choose(small - large, small) / middle.choose(small + large, large)
    t = large.equals(0.0).choose(x.constant(0.0), quotient)
    square = t * t
    value = fma(t, square * polynomial(square, ATAN), t)
    eighths = middle.choose(x.constant(1.0), 0.0)
    eighths = steep.choose(2.0 - eighths, eighths)
    mirrored = start.differs(0.0)
    eighths = abs(start - eighths)
    signed = (steep ^ mirrored).choose(-value, value)
    high = eighths * (HALF_PI[0] * 0.5)
    low = fma(eighths, HALF_PI[0] * 0.5, -high) + eighths * (HALF_PI[1] * 0.5)
    return high + (signed + low)
