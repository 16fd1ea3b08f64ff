"""16-bit floats in OpenCL C 1.2, which variables and memory hold by their bits: computed with in 32 bits, and rounded once.

In: an operator on 16-bit floats, or a conversion, and how it is written for 32 bits. Out: the name of a function that does
it. No extension of a device is asked for, and no subnormal number of 32 bits occurs on the way, which some devices take for 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F16, F32, F64, ScalarType
from accel.backends.opencl.code.prelude import Prelude
from accel.backends.opencl.code.spelling import c_type

_WIDENED = """\
static float widened(ushort a) {
  uint magnitude = a & 0x7fff, sign = (uint)(a & 0x8000) << 16, moved = magnitude << 13;
  uint small = as_uint((float)(int)magnitude * 0x1p-24f);
  return as_float(sign | (magnitude < 0x400 ? small : magnitude > 0x7bff ? moved | 0x7f800000 : moved + (112 << 23)));
}"""
"""Subnormal numbers are whole multiples of the least one; of others the exponent moves, and is 112 more."""

_NARROWED = """\
static ushort narrowed(float a) {
  uint bits = as_uint(a), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  uint small = as_uint(as_float(magnitude) + 0.5f) - 0x3f000000;
  uint normal = (magnitude - (112 << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint finite = magnitude < 0x38800000 ? small : normal;
  return sign | (magnitude > 0x7f800000 ? 0x7e00 : magnitude >= 0x47800000 ? 0x7c00 : finite);
}"""
"""Of the 13 bits that go, just below half is added, and one more where what stays is odd: ties go to even. Subnormal results
are what a sum with 0.5 leaves of its last places. From 2^16 on a number is infinite."""

_NARROWED_DOUBLE = """\
static ushort narrowed_double(double a) {
  ulong bits = as_ulong(a), lost = 0x1fffffff;
  return narrowed((float)as_double((bits | ((bits & lost) + lost)) & ~lost));
}"""
"""What 32 bits would lose stays in their last bit (rounding to odd): the second rounding sees no tie that is none."""

_FUSED = """\
static ushort fma_f16(ushort a, ushort b, ushort c) {
  float product = widened(a) * widened(b), added = widened(c), sum = product + added, part = sum - product;
  float lost = (product - (sum - part)) + (added - part);
  uint bits = as_uint(sum);
  if (isfinite(sum) && lost != 0) bits = (bits - ((lost > 0) != (sum > 0))) | 1;
  return narrowed(as_float(bits));
}"""
"""The product is exact in 32 bits, and so is what its sum with the third loses: rounded to odd, as above."""


def widened(prelude: Prelude, a: str) -> str:
    """The 32-bit float of the same value."""
    return f"{prelude.function('widened', _WIDENED)}({a})"


def narrowed(prelude: Prelude, a: str) -> str:
    """The 16-bit float nearest to one of 32 bits."""
    return f"{prelude.function('narrowed', _NARROWED)}({a})"


def fused(prelude: Prelude, arguments: Sequence[str]) -> str:
    """The product of two, plus a third, rounded once."""
    prelude.function("widened", _WIDENED)
    prelude.function("narrowed", _NARROWED)
    return f"{prelude.function('fma_f16', _FUSED)}({', '.join(arguments)})"


def operation(
    prelude: Prelude,
    operator: Operator,
    result: ScalarType,
    arguments: Sequence[str],
    write: Callable[[list[str]], str],
) -> str:
    """An operator that is not `fma`: `write` gives it for the atoms of 32-bit floats."""
    names = ["x", "y"][: len(arguments)]
    value = write([f"wide_{name}" for name in names])
    rounded = value if result is BOOL else narrowed(prelude, value)
    return _function(prelude, f"{operator.value}_f16", result, names, rounded, arguments)


def converted(prelude: Prelude, target: ScalarType, a: str, write: Callable[[str], str]) -> str:
    """A 16-bit float as an integer or bool: `write` gives that of a 32-bit one."""
    return _function(prelude, f"{target}_of_f16", target, ["x"], write("wide_x"), [a])


def _function(
    prelude: Prelude, name: str, result: ScalarType, names: Sequence[str], value: str, arguments: Sequence[str]
) -> str:
    """A call of a function that has the 32-bit floats of its parameters."""
    wide = "".join(f" float wide_{each} = {widened(prelude, each)};" for each in names)
    parameters = ", ".join(f"ushort {each}" for each in names)
    text = f"static {c_type(result)} {name}({parameters}) {{{wide} return {value}; }}"
    return f"{prelude.function(name, text)}({', '.join(arguments)})"


def to_half(prelude: Prelude, source: ScalarType, a: str) -> str:
    """The 16-bit float nearest to a number or bool. Integers that 32 bits would round are infinite in 16."""
    if source is not F64:
        return narrowed(prelude, a if source is F32 else f"(float){a}")
    narrowed(prelude, a)
    return f"{prelude.function('narrowed_double', _NARROWED_DOUBLE)}({a})"


def without_nans(a: str) -> str:
    """The bits, those of a NaN being the canonical one's."""
    return f"({a} & 0x7fff) > 0x7c00 ? ({c_type(F16)})0x7e00 : {a}"
