"""The scalar operators on values (docs/scalars.md): total, without wrapping out of their type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from tests.differential.oracle import functions
from tests.differential.oracle.values import BOOL, INT64, Data, Maybe, Nothing, Tree, Value, alike, choose, each, either


def operate(name: str, *operands: object) -> Value:
    """An operator on operands of one type."""
    values = alike(*operands)
    kind = values[0].dtype
    table = _BOOLS if kind == BOOL else _FLOATS if kind.kind == "f" else _INTEGERS
    assert all(value.dtype == kind for value in values)
    with np.errstate(all="ignore"):
        data = np.asarray((_ANY.get(name) or table[name])(*(value.data for value in values)))
    if kind == BOOL and name in ("and", "or"):
        bad = _lazily(name, *values)
    else:
        bad = either(*(value.bad for value in values))
    assert data.dtype in (kind, BOOL)
    return Value(data, bad, formed(name, *values))


def formed(name: str, *values: Value) -> object:
    """How a value is made, if its operands know how they are."""
    known = any(value.form is not None for value in values)
    return (name, *(value.form for value in values)) if known else None


def _lazily(name: str, left: Value, right: Value) -> Data | bool:
    """The right side is not looked at when the left decides."""
    if right.bad is False:
        return left.bad
    return either(left.bad, np.logical_and(left.data if name == "and" else ~left.data, right.bad))


def by_element(function: Callable[..., object], to: np.dtype[Any], *values: Value) -> Value:
    """A function of Python numbers, element by element."""
    given = np.broadcast_arrays(*(value.data for value in values))
    results = [function(*operands) for operands in zip(*(one.ravel().tolist() for one in given), strict=True)]
    with np.errstate(all="ignore"):
        data = np.array(results, to).reshape(given[0].shape)
    return Value(data, either(*(value.bad for value in values)), formed("function", *values))


def integral(function: Callable[[int, int], int] | Callable[[int], int], *values: Value) -> Value:
    """A function of integers that gives any integer, wrapped to the first one's type."""
    kind = values[0].dtype
    bits, signed = kind.itemsize * 8, kind.kind == "i"
    return by_element(lambda *xs: functions.wrapped(bits, signed, function(*xs)), kind, *values)


def bits_of(value: Value) -> int:
    """The width of a value's type."""
    return value.dtype.itemsize * 8


# Integers and bools, by NumPy's operators where they are exact.


def _floor_divide(x: Data, y: Data) -> Data:
    plain = np.where(_is_special(y), y.dtype.type(1), y)
    by_minus_one = np.where(y == 0, y.dtype.type(0), np.negative(x))
    return np.where(_is_special(y), by_minus_one, np.floor_divide(x, plain))


def _is_special(divisor: Data) -> Data:
    """0, and -1, by which the least integer cannot be divided."""
    return np.asarray(np.isin(divisor, (0, -1) if divisor.dtype.kind == "i" else (0,)))


def _modulo(x: Data, y: Data) -> Data:
    return np.asarray(np.where(y == 0, y.dtype.type(0), x - _floor_divide(x, y) * y))


def _quotient(x: Data, y: Data) -> Data:
    down = _floor_divide(x, y)
    inexact = (y != 0) & (down * y != x)
    return np.asarray(down + np.where(inexact & ((x < 0) != (y < 0)), y.dtype.type(1), y.dtype.type(0)))


def _remainder(x: Data, y: Data) -> Data:
    return np.asarray(np.where(y == 0, y.dtype.type(0), x - _quotient(x, y) * y))


_ANY: Mapping[str, Callable[..., object]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}

_BOOLS: Mapping[str, Callable[..., object]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "not": np.logical_not,
    "min": np.logical_and,
    "max": np.logical_or,
}

_INTEGERS: Mapping[str, Callable[..., object]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "div": _floor_divide,
    "floordiv": _floor_divide,
    "mod": _modulo,
    "quot": _quotient,
    "rem": _remainder,
    "abs": lambda x: np.where(x < 0, np.negative(x), x),
    "signum": np.sign,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
}


# Floats.


def _float_modulo(x: Data, y: Data) -> Data:
    rest = np.fmod(x, y)
    moved = np.where((rest < 0) == (y < 0), rest, rest + y)
    return np.where(rest == 0, np.copysign(x.dtype.type(0), y), moved)


def _float_minimum(x: Data, y: Data) -> Data:
    less = np.where(x == y, np.signbit(x), x < y)
    return np.where(np.isnan(x) | np.isnan(y), x.dtype.type(np.nan), np.where(less, x, y))


def _float_maximum(x: Data, y: Data) -> Data:
    more = np.where(x == y, ~np.signbit(x), x > y)
    return np.where(np.isnan(x) | np.isnan(y), x.dtype.type(np.nan), np.where(more, x, y))


_FLOATS: Mapping[str, Callable[..., object]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "floordiv": np.floor_divide,
    "neg": np.negative,
    "mod": _float_modulo,
    "abs": np.abs,
    "signum": lambda x: np.where((x == 0) | np.isnan(x), x, np.copysign(x.dtype.type(1), x)),
    "min": _float_minimum,
    "max": _float_maximum,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceiling": np.ceil,
    "truncate": np.trunc,
    "round": np.rint,
    "copysign": lambda x, y: np.where(np.isnan(y), np.abs(x), np.copysign(x, y)),
    "isNaN": np.isnan,
    "isInfinite": np.isinf,
}


# Conversions.


def cast(value: Value, to: np.dtype[Any]) -> Value:
    """A conversion by value: integers wrap, floats saturate, NaN gives 0; to bool, whether it is not zero."""
    if to == BOOL:
        return Value(value.data != 0, value.bad, formed("cast", value))
    if value.dtype.kind == "f" and to.kind in "iu":
        limits = np.iinfo(to)
        return by_element(partial(functions.saturated, int(limits.min), int(limits.max)), to, value)
    with np.errstate(all="ignore"):
        return Value(value.data.astype(to), value.bad, formed("cast", value) if value.dtype != to else value.form)


def bitcast(value: Value, to: np.dtype[Any]) -> Value:
    """The same bits; every NaN has those of the canonical one."""
    data = value.data
    if data.dtype.kind == "f":
        data = np.where(np.isnan(data), data.dtype.type(np.nan), data)
    found = np.ascontiguousarray(data).view(to).reshape(data.shape)
    return Value(found, value.bad, formed("bitcast", value))


def rounding(name: str, value: Value, to: np.dtype[Any] = INT64) -> Value:
    """A float rounded to an integer."""
    return cast(operate(name, value), to)


def elementary(name: str, *operands: object) -> Value:
    """A function of the C library, computed in 64 bits."""
    values = alike(*operands)
    return by_element(functions.elementary(name, len(values)), values[0].dtype, *values)


def fused(*operands: object) -> Value:
    """`x * y + z`, rounded once."""
    values = alike(*operands)
    return by_element(partial(functions.fused, values[0].dtype.type), values[0].dtype, *values)


def common_divisor(*operands: object) -> Value:
    return integral(math.gcd, *alike(*operands))


# Choices and loops.


def select(condition: Value, then: Tree, orelse: Tree) -> Tree:
    """One of two elements that are both computed."""

    def failed(leaf: Value) -> Value:
        return Value(leaf.data, False, leaf.form)

    found = choose(condition, each(failed, then), each(failed, orelse))
    bad = either(*_failures(then), *_failures(orelse))
    return each(lambda leaf: Value(leaf.data, either(leaf.bad, bad), leaf.form), found)


def _failures(tree: Tree) -> list[Data | bool]:
    found: list[Data | bool] = []

    def note(leaf: Value) -> Value:
        found.append(leaf.bad)
        return leaf

    each(note, tree)
    return found


def while_(condition: Callable[[Tree], Value], step: Callable[[Tree], Tree], state: Tree) -> Tree:
    """The state after as many turns as the condition holds, for each element its own number."""
    asked = condition(state)
    active, failed = np.logical_and(asked.data, np.logical_not(asked.bad)), asked.bad
    while active.any():
        state = choose(Value(active), step(state), state)
        asked = condition(state)
        if asked.bad is not False:
            failed = either(failed, active & asked.bad)
        active = active & asked.data & np.logical_not(asked.bad)
    return each(lambda leaf: Value(leaf.data, either(leaf.bad, failed), leaf.form), state)


def from_maybe(default: Tree, m: Maybe | Nothing, f: Callable[[Tree], Tree] = lambda item: item) -> Tree:
    """A function of what a maybe holds, the default where it holds nothing."""
    return default if isinstance(m, Nothing) else choose(m.flag, f(m.item), default)
