"""The names of scalar functions, as a printed program writes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from tests.differential.oracle import functions, scalars
from tests.differential.oracle.values import (
    BOOL,
    INT64,
    Maybe,
    Nothing,
    Tree,
    Tuple,
    Value,
    alike,
    choose,
    integer,
    number,
    one,
)

ELEMENTARY = (
    *("exp", "expm1", "log", "log1p", "log2", "log10", "cbrt", "erf", "erfc", "atan2", "hypot"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
PLAIN = (
    *("add", "sub", "mul", "div", "quot", "rem", "mod", "abs", "signum", "min", "max"),
    *("sqrt", "copysign", "isNaN", "isInfinite", "neg", "eq", "ne", "lt", "le", "gt", "ge", "xor"),
)


def _constant(value: bool | int | float, dtype: type[np.generic]) -> Value:
    return number(value, np.dtype(dtype))


def _cast(value: Value, to: type[np.generic]) -> Value:
    return scalars.cast(value, np.dtype(to))


def _bitcast(value: Value, to: type[np.generic]) -> Value:
    return scalars.bitcast(value, np.dtype(to))


def _power(x: object, y: object) -> Value:
    values = alike(x, y)
    if values[0].dtype.kind == "f":
        return scalars.elementary("pow", *values)
    return scalars.integral(partial(functions.power, scalars.bits_of(values[0])), *values)


def _logarithm(base: object, x: object) -> Value:
    values = alike(base, x)
    return scalars.elementary("log", values[1]) / scalars.elementary("log", values[0])


def _multiple(x: object, y: object) -> Value:
    values = alike(x, y)
    signed = values[0].dtype.kind == "i"
    return scalars.integral(partial(functions.multiple, scalars.bits_of(values[0]), signed), *values)


def _lift(*items: Tree) -> Tuple:
    return Tuple(items)


def _index(*parts: object) -> Tuple:
    return Tuple(part if isinstance(part, Value) else integer(int(one(part))) for part in parts)


def _parts(value: Tuple) -> tuple[Tree, ...]:
    return tuple(value)


def _product(extents: Tuple) -> Value:
    found = integer(1)
    for extent in extents:
        found = found * extent
    return found


def _to_index(extents: Tuple, ix: Tuple) -> Value:
    found = integer(0)
    for extent, part in zip(extents, ix, strict=True):
        found = found * extent + part
    return found


def _from_index(extents: Tuple, position: Value) -> Tuple:
    parts: list[Tree] = []
    for extent in reversed(extents[1:]):
        parts.insert(0, position % extent)
        position = position // extent
    return Tuple([position, *parts])


def _match(x: Value, *cases: tuple[object, Tree] | Tree) -> Tree:
    found: object = cases[-1]
    for pattern, value in reversed(cases[:-1]):  # type: ignore[misc]  # all but the last are pairs
        found = choose(pattern(x) if callable(pattern) else x == pattern, value, found)  # type: ignore[arg-type]  # a tree
    return found  # type: ignore[return-value]  # a tree


def _even(x: Value) -> Value:
    return (x & 1) == 0


SCALARS: dict[str, object] = {
    "constant": _constant,
    "cast": _cast,
    "fromIntegral": _cast,
    "toFloating": _cast,
    "bitcast": _bitcast,
    "boolToInt": lambda x: scalars.cast(x, INT64),
    "cond": choose,
    "match": _match,
    "select": scalars.select,
    "while_": scalars.while_,
    "fma": scalars.fused,
    "recip": lambda x: number(1, x.dtype) / x,
    "pow": _power,
    "logBase": _logarithm,
    "gcd": scalars.common_divisor,
    "lcm": _multiple,
    "even": _even,
    "odd": lambda x: ~_even(x),
    "just": lambda item: Maybe((number(True, BOOL), item)),
    "nothing": Nothing,
    "isJust": lambda m: m.flag,
    "isNothing": lambda m: ~m.flag,
    "fromMaybe": scalars.from_maybe,
    "maybe": lambda default, f, m: scalars.from_maybe(default, m, f),
    "fromJust": lambda m: m.item,
    "fst": lambda pair: pair[0],
    "snd": lambda pair: pair[1],
    "lift": _lift,
    "unlift": _parts,
    "index": _index,
    "unindex": _parts,
    "indexHead": lambda ix: ix[-1],
    "indexTail": lambda ix: Tuple(ix[:-1]),
    "shapeSize": lambda ix: _product(ix),
    "intersect": lambda ix, other: Tuple(scalars.operate("min", *both) for both in zip(ix, other, strict=True)),
    "toIndex": _to_index,
    "fromIndex": _from_index,
}


def _shift(function: Callable[[int, int, int], int]) -> Callable[[Value, Value], Value]:
    return lambda x, amount: scalars.integral(partial(function, scalars.bits_of(x)), x, amount)


def _count(function: Callable[[int, int], int]) -> Callable[[Value], Value]:
    return lambda x: scalars.by_element(partial(function, scalars.bits_of(x)), INT64, x)


def _bit(change: Callable[[int, int], int]) -> Callable[[Value, Value], Value]:
    return _shift(lambda bits, x, amount: change(x, functions.position(bits, amount)))


BITS: dict[str, object] = {
    "shiftL": _shift(functions.shift_left),
    "shiftR": _shift(functions.shift_right),
    "rotateL": _shift(functions.rotate_left),
    "rotateR": _shift(lambda bits, x, amount: functions.rotate_left(bits, x, -amount)),
    "popCount": _count(functions.pop_count),
    "countLeadingZeros": _count(functions.leading_zeros),
    "countTrailingZeros": _count(functions.trailing_zeros),
    "setBit": _bit(lambda x, bit: x | bit),
    "clearBit": _bit(lambda x, bit: x & ~bit),
    "complementBit": _bit(lambda x, bit: x ^ bit),
    "testBit": lambda x, amount: _bit(lambda x, bit: x & bit)(x, amount) != 0,
}

SCALAR_NAMES: dict[str, object] = {
    **{name: partial(scalars.operate, name) for name in PLAIN},
    **{name: partial(scalars.elementary, name) for name in ELEMENTARY},
    **{name: partial(scalars.rounding, name) for name in ("floor", "ceiling", "truncate", "round")},
    **SCALARS,
    **BITS,
}
"""Every scalar function by its name."""
