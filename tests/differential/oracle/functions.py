"""Functions of one element, as Python functions of Python numbers: what NumPy has no exact counterpart of (docs/scalars.md)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np


def wrapped(bits: int, signed: bool, x: int) -> int:
    """The integer of a type that equals `x` modulo two to the width."""
    x %= 1 << bits
    return x - (1 << bits) if signed and x >> (bits - 1) else x


def power(bits: int, x: int, y: int) -> int:
    """`x` to the `y`; a negative exponent gives the true value without its fraction."""
    if y < 0:
        return {1: 1, -1: 1 - 2 * (y % 2)}.get(x, 0)
    return pow(x, y, 1 << bits)


def multiple(bits: int, signed: bool, x: int, y: int) -> int:
    """The least common multiple: one that does not fit wraps, and then loses its sign."""
    return abs(wrapped(bits, signed, math.lcm(x, y)))


def shift_left(bits: int, x: int, amount: int) -> int:
    """Zeros come in; all of them for amounts that are no positions of the type."""
    return x << amount if 0 <= amount < bits else 0


def shift_right(bits: int, x: int, amount: int) -> int:
    """The sign comes in; it fills everything for amounts that are no positions of the type."""
    if 0 <= amount < bits:
        return x >> amount
    return -1 if x < 0 else 0


def rotate_left(bits: int, x: int, amount: int) -> int:
    """The bits that leave on the left come in on the right."""
    digits = format(x % (1 << bits), f"0{bits}b")
    amount %= bits
    return int(digits[amount:] + digits[:amount], 2)


def pop_count(bits: int, x: int) -> int:
    return format(x % (1 << bits), "b").count("1")


def leading_zeros(bits: int, x: int) -> int:
    digits = format(x % (1 << bits), f"0{bits}b")
    return len(digits) - len(digits.lstrip("0"))


def trailing_zeros(bits: int, x: int) -> int:
    digits = format(x % (1 << bits), f"0{bits}b")
    return len(digits) - len(digits.rstrip("0"))


def position(bits: int, amount: int) -> int:
    """The bit at a position, 0 where the type lacks it."""
    return 1 << amount if 0 <= amount < bits else 0


def saturated(low: int, high: int, x: float) -> int:
    """A float as an integer: toward zero, the nearest limit beyond the range, 0 for NaN."""
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return high if x > 0 else low
    return max(low, min(high, math.trunc(x)))


def fused(kind: type[np.floating[Any]], x: float, y: float, z: float) -> float:
    """`x * y + z`, rounded once to `kind`."""
    if not all(map(math.isfinite, (x, y, z))):
        # A product of finite numbers does not overflow before it is added.
        return z if math.isfinite(x) and math.isfinite(y) else x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return 0.0 if x and y else x * y + z
    return _double(exact) if kind is np.float64 else _narrow(kind, exact)


def _double(exact: Fraction) -> float:
    try:
        near = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    return near or (0.0 if exact > 0 else -0.0)


def _narrow(kind: type[np.floating[Any]], exact: Fraction) -> float:
    """The nearest of the narrower floats around a number; of two that are equally near, the even one."""
    if abs(exact) >= Fraction(2**128 - 2**103 if kind is np.float32 else 65520):
        return math.inf if exact > 0 else -math.inf
    with np.errstate(all="ignore"):
        near = kind(_double(exact))
        around = [near, np.nextafter(near, kind(-np.inf)), np.nextafter(near, kind(np.inf))]
    finite = [one for one in around if np.isfinite(one)]
    bits = f"u{near.itemsize}"
    best = min(finite, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(bits)) & 1))
    return float(best) or (0.0 if exact > 0 else -0.0)


@cache
def elementary(name: str, operands: int) -> Callable[..., float]:
    """A function of the C library, which has C's special values. `hypot` is Python's: libm's rounds otherwise."""
    if name == "hypot":
        return math.hypot
    function = getattr(ctypes.CDLL(None), name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * operands
    found: Callable[..., float] = function
    return found
