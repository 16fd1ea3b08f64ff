"""The meaning of every scalar operator, once for all stages and backends (docs/scalars.md).

In: an operator, the types of its operands and of its result, and operands as Python numbers: bool, int, or float (an
f16 or f32 is a float that the type represents exactly). Out: the result, likewise. Every operator is total: no operand
raises, wraps out of its type, or depends on the machine. Results in f16 and f32 are rounded once. What is left open: the sign
and payload of a NaN, which no operator lets a program see (`bitcast` and `copysign` take every NaN as the canonical positive
quiet one).
"""

from __future__ import annotations

import math
import operator as python
import struct
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import TypeAlias

from accel.ast.meaning.elementary import BINARY, UNARY
from accel.ast.meaning.philox import philox
from accel.ast.meaning.rounding import FUSED, ROUNDING, nearest
from accel.ast.tree.operators import COMPARISONS, COUNTS, ELEMENTARY, SHIFTS, Operator
from accel.ast.tree.signatures import fits
from accel.ast.tree.types import BOOL, F64, ScalarType
from accel.errors import AccelInternalError

Value: TypeAlias = bool | int | float
"""A scalar as a Python number."""

Implementation: TypeAlias = Callable[..., Value]
"""An operator at fixed types, as a function of as many values as it has operands."""


def evaluate(operator: Operator, result: ScalarType, types: Sequence[ScalarType], arguments: Sequence[Value]) -> Value:
    """The value of `operator` on `arguments` of `types`. Raises `AccelInternalError` when the types do not fit."""
    return implementation(operator, result, tuple(types))(*arguments)


def fold(
    operator: Operator, result: ScalarType, types: Sequence[ScalarType], arguments: Sequence[Value]
) -> Value | None:
    """The value as `evaluate`, or None for elementary functions, whose last bits belong to the backend that runs them."""
    return None if operator in ELEMENTARY else evaluate(operator, result, types, arguments)


@cache
def implementation(operator: Operator, result: ScalarType, types: tuple[ScalarType, ...]) -> Implementation:
    """The function that evaluates `operator` at these types. Raises `AccelInternalError` when they do not fit."""
    if not fits(operator, result, types):
        raise AccelInternalError(f"no operator {operator}({', '.join(map(str, types))}) -> {result}")
    first = types[0]
    if operator is Operator.SELECT:
        return _select
    if operator is Operator.CAST:
        return _cast(first, result)
    if operator is Operator.BITCAST:
        return _bitcast(first, result)
    if operator in COMPARISONS:
        return _COMPARISONS[operator]
    if first is BOOL:
        return _BOOLS[operator]
    if first.is_integer:
        return _integer(operator, first)
    return _float(operator, first)


# Helpers.


def wrapped(kind: ScalarType, x: int) -> int:
    """The integer of `kind` that equals `x` modulo two to the width."""
    return ((x - kind.minimum) & ((1 << kind.bits) - 1)) + kind.minimum


def _rounding(kind: ScalarType, function: Callable[..., float]) -> Implementation:
    """`function` with its 64-bit result rounded to `kind`.

    For + - * / and sqrt on f16 and f32 operands the two roundings give what one would: 53 >= 2 * 24 + 2.
    """
    if kind is F64:
        return function
    rounded = ROUNDING[kind]
    return lambda *operands: rounded(function(*operands))


def _wrapping(kind: ScalarType, function: Callable[..., int]) -> Implementation:
    """`function` with its result wrapped to `kind`."""
    mask, least = (1 << kind.bits) - 1, kind.minimum
    return lambda *operands: ((function(*operands) - least) & mask) + least


def _select(condition: Value, then: Value, orelse: Value) -> Value:
    return then if condition else orelse


# NaN compares false here as it must, and True and False compare as 1 and 0.
_COMPARISONS: Mapping[Operator, Implementation] = {
    Operator.EQ: python.eq,
    Operator.NE: python.ne,
    Operator.LT: python.lt,
    Operator.LE: python.le,
    Operator.GT: python.gt,
    Operator.GE: python.ge,
}

_BOOLS: Mapping[Operator, Implementation] = {
    Operator.MIN: python.and_,
    Operator.MAX: python.or_,
    Operator.AND: python.and_,
    Operator.OR: python.or_,
    Operator.XOR: python.xor,
    Operator.NOT: python.not_,
}


# Integers.


def _quotient(x: int, y: int) -> int:
    if y == 0:
        return 0
    magnitude = abs(x) // abs(y)
    return magnitude if (x < 0) == (y < 0) else -magnitude


def _integer_power(modulus: int, x: int, y: int) -> int:
    """`x` to the `y` modulo `modulus`; a negative `y` gives the true value truncated: 0 unless `x` is 1 or -1."""
    if y >= 0:
        return pow(x, y, modulus)
    if x == -1:
        return -1 if y & 1 else 1
    return 1 if x == 1 else 0


def _integer(operator: Operator, kind: ScalarType) -> Implementation:
    """An operator on integers of `kind`."""
    if operator in SHIFTS:
        return _shift(operator, kind)
    if operator in COUNTS:
        return _count(operator, kind)
    wrapping: Mapping[Operator, Callable[..., int]] = {
        Operator.ADD: python.add,
        Operator.SUB: python.sub,
        Operator.MUL: python.mul,
        Operator.DIV: lambda x, y: x // y if y else 0,
        Operator.QUOT: _quotient,
        Operator.NEG: python.neg,
        Operator.ABS: python.abs,
        Operator.NOT: python.invert,
        Operator.POW: partial(_integer_power, 1 << kind.bits),
    }
    exact: Mapping[Operator, Callable[..., int]] = {
        Operator.MOD: lambda x, y: x % y if y else 0,
        Operator.REM: lambda x, y: x - y * _quotient(x, y) if y else 0,
        Operator.SIGNUM: lambda x: (x > 0) - (x < 0),
        Operator.MIN: min,
        Operator.MAX: max,
        Operator.AND: python.and_,
        Operator.OR: python.or_,
        Operator.XOR: python.xor,
        Operator.PHILOX: philox,
    }
    return exact[operator] if operator in exact else _wrapping(kind, wrapping[operator])


def _shift(operator: Operator, kind: ScalarType) -> Implementation:
    """A shift or rotation of an integer of `kind` by an i64."""
    width, mask = kind.bits, (1 << kind.bits) - 1

    def left(x: int, amount: int) -> int:
        return x << amount if 0 <= amount < width else 0

    def right(x: int, amount: int) -> int:
        # Python's shift is arithmetic; a shift by width - 1 or more leaves the sign of a signed integer.
        return x >> (amount if 0 <= amount < width else width)

    def rotate_left(x: int, amount: int) -> int:
        amount %= width
        return (x & mask) << amount | (x & mask) >> (width - amount)

    functions: Mapping[Operator, Callable[[int, int], int]] = {
        Operator.SHIFT_LEFT: left,
        Operator.SHIFT_RIGHT: right,
        Operator.ROTATE_LEFT: rotate_left,
        Operator.ROTATE_RIGHT: lambda x, amount: rotate_left(x, -amount),
    }
    return _wrapping(kind, functions[operator])


def _count(operator: Operator, kind: ScalarType) -> Implementation:
    """A count of bits of an integer of `kind`."""
    width, mask = kind.bits, (1 << kind.bits) - 1
    functions: Mapping[Operator, Callable[[int], int]] = {
        Operator.POP_COUNT: lambda x: (x & mask).bit_count(),
        Operator.COUNT_LEADING_ZEROS: lambda x: width - (x & mask).bit_length(),
        Operator.COUNT_TRAILING_ZEROS: lambda x: (x & -x).bit_length() - 1 if x else width,
    }
    return functions[operator]


# Floats.


def _divide(x: float, y: float) -> float:
    if y != 0 or y != y:
        return x / y
    if x == 0 or x != x:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _modulo(x: float, y: float) -> float:
    """Python's `%`: C's fmod (exact), moved to the sign of `y` by one addition; NaN for y = 0 and for infinite x."""
    if x != x or y != y or y == 0 or math.isinf(x):
        return math.nan
    remainder = math.fmod(x, y)
    if remainder == 0:
        return math.copysign(0.0, y)
    return remainder if (remainder < 0) == (y < 0) else remainder + y


def _minimum(x: float, y: float) -> float:
    if x != x or y != y:
        return math.nan
    if x == y:
        return x if math.copysign(1.0, x) < 0 else y
    return x if x < y else y


def _maximum(x: float, y: float) -> float:
    return -_minimum(-x, -y)


def _signum(x: float) -> float:
    return x if x == 0 or x != x else math.copysign(1.0, x)


def _sqrt(x: float) -> float:
    return math.nan if x < 0 else math.sqrt(x)


def _copysign(x: float, y: float) -> float:
    return math.copysign(x, y) if y == y else abs(x)


def _to_integral(function: Callable[[float], int]) -> Callable[[float], float]:
    """A rounding to an integer as a function to floats; infinities, NaN and the sign of zero stay."""
    return lambda x: math.copysign(float(function(x)), x) if abs(x) < 2.0**52 else x


def _float(operator: Operator, kind: ScalarType) -> Implementation:
    """An operator on floats of `kind`."""
    if operator in UNARY:
        return _rounding(kind, UNARY[operator])
    if operator in BINARY:
        return _rounding(kind, BINARY[operator])
    if operator is Operator.FMA:
        return FUSED[kind]
    return _rounding(kind, _FLOATS[operator]) if operator in _ROUNDED else _FLOATS[operator]


_ROUNDED = frozenset({Operator.ADD, Operator.SUB, Operator.MUL, Operator.DIV, Operator.MOD, Operator.SQRT})

_FLOATS: Mapping[Operator, Implementation] = {
    Operator.ADD: python.add,
    Operator.SUB: python.sub,
    Operator.MUL: python.mul,
    Operator.DIV: _divide,
    Operator.MOD: _modulo,
    Operator.NEG: python.neg,
    Operator.ABS: python.abs,
    Operator.SIGNUM: _signum,
    Operator.MIN: _minimum,
    Operator.MAX: _maximum,
    Operator.SQRT: _sqrt,
    Operator.FLOOR: _to_integral(math.floor),
    Operator.CEIL: _to_integral(math.ceil),
    Operator.TRUNC: _to_integral(math.trunc),
    Operator.ROUND: _to_integral(round),
    Operator.COPYSIGN: _copysign,
    Operator.IS_NAN: math.isnan,
    Operator.IS_INFINITE: math.isinf,
}


# Conversions.


def _cast(source: ScalarType, target: ScalarType) -> Implementation:
    """A conversion by value: integers wrap, floats saturate (NaN gives 0), to bool asks for x != 0."""
    if target is BOOL:
        return lambda x: x != 0
    if not target.is_float:
        return partial(_saturated, target) if source.is_float else _wrapping(target, int)
    if source.is_float:
        return ROUNDING[target]
    if source.bits < 53:
        rounded = ROUNDING[target]
        return lambda x: rounded(float(x))
    return lambda x: nearest(target, Fraction(x)) if x else 0.0


def _saturated(target: ScalarType, x: float) -> int:
    if x != x:
        return 0
    if math.isinf(x):
        return target.maximum if x > 0 else target.minimum
    return min(max(int(x), target.minimum), target.maximum)


def _bitcast(source: ScalarType, target: ScalarType) -> Implementation:
    """A conversion by bits; a NaN has the bits of the canonical one."""
    pack, unpack = struct.Struct(_FORMAT[source]).pack, struct.Struct(_FORMAT[target]).unpack

    def reinterpreted(x: Value) -> Value:
        value: Value = unpack(pack(math.nan if x != x else x))[0]
        return math.nan if value != value else value

    return reinterpreted


_FORMAT: Mapping[ScalarType, str] = {
    kind: "<" + letter for kind, letter in zip(ScalarType, "?bhiqBHIQefd", strict=True)
}
