"""LLVM text for conversions between scalar types, by value and by bits.

In: an operand of one type. Out: its value in another, as `accel/ast/meaning/semantics.py` says. Floats saturate to integers by
clamping before a plain conversion: `llvm.fptosi.sat` does not vectorise on x86, this does.
"""

from __future__ import annotations

import math

import numpy as np

from accel.ast.tree.types import BOOL, F16, F32, F64, ScalarType
from accel.backends.llvm.scalar_code.halves import narrowed, narrowed_double, narrowed_integer, widened, without_nans
from accel.backends.llvm.text.code import Code


def cast(code: Code, source: ScalarType, target: ScalarType, x: str) -> str:
    """A conversion by value: integers wrap, floats saturate (NaN gives 0), to bool asks for x != 0."""
    if source is target:
        return x
    if source is F16:
        return cast(code, F32, target, widened(code, x))
    if target is F16:
        return _to_half(code, source, x)
    if target is BOOL:
        instruction = "fcmp une" if source.is_float else "icmp ne"
        return code.emit(f"{instruction} {code.type(source)} {x}, {code.literal(source, 0)}")
    if target.is_float:
        return _to_float(code, source, target, x)
    if source.is_float:
        return _saturate(code, source, target, x)
    if source.bits == target.bits:
        return x
    widening = "sext" if source.is_signed else "zext"
    instruction = "trunc" if source.bits > target.bits else widening
    return code.emit(f"{instruction} {code.type(source)} {x} to {code.type(target)}")


def _to_float(code: Code, source: ScalarType, target: ScalarType, x: str) -> str:
    if source.is_float:
        instruction = "fptrunc" if target is F32 else "fpext"
    else:
        instruction = "sitofp" if source.is_signed else "uitofp"
    return code.emit(f"{instruction} {code.type(source)} {x} to {code.type(target)}")


def _to_half(code: Code, source: ScalarType, x: str) -> str:
    if source is F32:
        return narrowed(code, x)
    return narrowed_double(code, x) if source is F64 else narrowed_integer(code, source, x)


def _saturate(code: Code, source: ScalarType, target: ScalarType, x: str) -> str:
    """A float clamped to the integers of `target` that it can represent, converted, and moved to the maximum above them."""
    least, greatest, bound = float(target.minimum), _greatest(source, target), float(target.maximum + 1)
    type_, bit, result = code.type(source), code.vector("i1"), code.type(target)
    low, high = code.literal(source, least), code.literal(source, greatest)
    ordered = code.emit(f"fcmp ord {type_} {x}, {x}")
    number = code.emit(f"select {bit} {ordered}, {type_} {x}, {type_} {code.literal(source, 0.0)}")
    above = code.emit(f"fcmp ogt {type_} {number}, {low}")
    raised = code.emit(f"select {bit} {above}, {type_} {number}, {type_} {low}")
    below = code.emit(f"fcmp olt {type_} {raised}, {high}")
    clamped = code.emit(f"select {bit} {below}, {type_} {raised}, {type_} {high}")
    whole = truncated(code, source, target, clamped)
    if greatest == target.maximum:
        return whole
    beyond = code.emit(f"fcmp oge {type_} {x}, {code.literal(source, bound)}")
    return code.emit(f"select {bit} {beyond}, {result} {code.literal(target, target.maximum)}, {result} {whole}")


def truncated(code: Code, source: ScalarType, target: ScalarType, x: str) -> str:
    """A float, known to be within `target`, rounded toward zero to an integer.

    The freeze changes nothing but what LLVM combines: LLVM 22 makes the minimum of such an integer and the constant 0 a
    conversion to an integer of no bits, and aborts.
    """
    instruction = "fptosi" if target.is_signed else "fptoui"
    whole = code.emit(f"{instruction} {code.type(source)} {x} to {code.type(target)}")
    return code.emit(f"freeze {code.type(target)} {whole}")


def _greatest(source: ScalarType, target: ScalarType) -> float:
    """The greatest float of `source` that is at most the maximum of `target`."""
    if target.bits <= (24 if source is F32 else 53):
        return float(target.maximum)
    if source is F32:
        return float(np.nextafter(np.float32(target.maximum + 1), np.float32(0)))
    return math.nextafter(float(target.maximum + 1), 0.0)


def bitcast(code: Code, source: ScalarType, target: ScalarType, x: str) -> str:
    """A conversion by bits; a NaN has the bits of the canonical one."""
    if source.is_float == target.is_float:
        return x
    if F16 in (source, target):
        return without_nans(code, x) if source is F16 else x
    before, after = code.type(source), code.type(target)
    if source.is_float:
        ordered = code.emit(f"fcmp ord {before} {x}, {x}")
        nan = code.literal(source, math.nan)
        x = code.emit(f"select {code.vector('i1')} {ordered}, {before} {x}, {before} {nan}")
    return code.emit(f"bitcast {before} {x} to {after}")
