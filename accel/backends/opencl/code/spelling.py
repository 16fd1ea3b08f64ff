"""How types and constants are spelled in OpenCL C. A bool is a `uchar` of 0 or 1, a 16-bit float
a `ushort` of its bits, in memory and in variables."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from accel.ast.tree.types import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, ScalarType
from accel.labelled.scalar import Constant

_NAMES: Mapping[ScalarType, str] = {
    BOOL: "uchar",
    I8: "char",
    I16: "short",
    I32: "int",
    I64: "long",
    U8: "uchar",
    U16: "ushort",
    U32: "uint",
    U64: "ulong",
    F16: "ushort",  # its bits: `halves.py`
    F32: "float",
    F64: "double",
}
_SUFFIXES: Mapping[ScalarType, str] = {I32: "", I64: "L", U32: "u", U64: "UL"}


def c_type(kind: ScalarType) -> str:
    """The type's name."""
    return _NAMES[kind]


def unsigned(kind: ScalarType) -> str:
    """The unsigned integer type of the same width."""
    return {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[kind.bytes]


def wide(kind: ScalarType) -> str:
    """The unsigned type in which arithmetic of an integer type wraps without C's promotions to `int`."""
    return "ulong" if kind.bytes == 8 else "uint"


def integer(kind: ScalarType, value: int) -> str:
    """An integer constant of `kind`. C has no negative literals: the least value is written as a difference."""
    if kind not in _SUFFIXES:
        return f"({c_type(kind)}){value}" if value >= 0 else f"(({c_type(kind)})({value}))"
    suffix = _SUFFIXES[kind]
    if value == kind.minimum and kind.is_signed:
        return f"({value + 1}{suffix} - 1)"
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"


def constant(value: Constant) -> str:
    """The constant as an expression without operators outside of parentheses."""
    kind, number = value.type, value.value
    if kind is F16:
        return integer(U16, value.bits)
    if not kind.is_float:
        return integer(kind, int(number))
    if not math.isfinite(number):
        return f"as_float({value.bits:#x}u)" if kind is F32 else f"as_double({value.bits:#x}UL)"
    digits = f"{np.float32(number)!s}f" if kind is F32 else repr(float(number))
    return f"({digits})" if digits.startswith("-") else digits
