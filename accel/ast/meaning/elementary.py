"""The elementary functions on 64-bit floats, total: C's results where Python's `math` raises.

In: the operators of `ELEMENTARY`. Out: functions from Python floats to a Python float that never raise. They are libm's
own (in glibc at most 3 ulp from the truth); an operand outside of the domain gives NaN, a pole or an overflow an infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from accel.ast.tree.operators import Operator

NAN = math.nan
INFINITY = math.inf


def _outside_gives_nan(function: Callable[[float], float]) -> Callable[[float], float]:
    """`function`, with NaN where `math` reports a domain error."""

    def total(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return NAN

    return total


def _overflow_gives_infinity(function: Callable[[float], float]) -> Callable[[float], float]:
    """`function`, with +infinity where `math` reports an overflow."""

    def total(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return INFINITY

    return total


def _logarithm(function: Callable[[float], float], pole: float) -> Callable[[float], float]:
    """`function`, with -infinity at its pole and NaN below it."""

    def total(x: float) -> float:
        if x > pole or x != x:
            return function(x)
        return -INFINITY if x == pole else NAN

    return total


def _sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(INFINITY, x)


def _atanh(x: float) -> float:
    if abs(x) == 1.0:
        return math.copysign(INFINITY, x)
    return math.atanh(x) if abs(x) < 1.0 else NAN


def _is_odd(x: float) -> bool:
    return math.isfinite(x) and math.fmod(x, 2.0) in (1.0, -1.0)


def _power(x: float, y: float) -> float:
    """C's pow: 1 for y = 0 and for x = 1, NaN for x < 0 and y no integer, signed infinities at the poles."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INFINITY if x < 0 and _is_odd(y) else INFINITY
    except ValueError:
        if x != 0:
            return NAN
        return math.copysign(INFINITY, x) if _is_odd(y) else INFINITY


UNARY: Mapping[Operator, Callable[[float], float]] = {
    Operator.EXP: _overflow_gives_infinity(math.exp),
    Operator.EXPM1: _overflow_gives_infinity(math.expm1),
    Operator.LOG: _logarithm(math.log, 0.0),
    Operator.LOG2: _logarithm(math.log2, 0.0),
    Operator.LOG10: _logarithm(math.log10, 0.0),
    Operator.LOG1P: _logarithm(math.log1p, -1.0),
    Operator.SIN: _outside_gives_nan(math.sin),
    Operator.COS: _outside_gives_nan(math.cos),
    Operator.TAN: _outside_gives_nan(math.tan),
    Operator.ASIN: _outside_gives_nan(math.asin),
    Operator.ACOS: _outside_gives_nan(math.acos),
    Operator.ATAN: math.atan,
    Operator.SINH: _sinh,
    Operator.COSH: _overflow_gives_infinity(math.cosh),
    Operator.TANH: math.tanh,
    Operator.ASINH: math.asinh,
    Operator.ACOSH: _outside_gives_nan(math.acosh),
    Operator.ATANH: _atanh,
    Operator.ERF: math.erf,
    Operator.ERFC: math.erfc,
    Operator.CBRT: math.cbrt,
}
"""The elementary functions of one operand."""

BINARY: Mapping[Operator, Callable[[float, float], float]] = {
    Operator.POW: _power,
    Operator.ATAN2: math.atan2,
    Operator.HYPOT: math.hypot,
}
"""The elementary functions of two operands."""
