"""LLVM text for the four integer divisions: none traps, none is undefined.

In: two integers of one type; in lanes perhaps the scalar that all divisors are. Out: quotient or remainder, 0 for a divisor of
0; the least integer over -1 wraps. x86 has no vector division: integers of up to 32 bits are divided as floats, where the
truncated quotient is exact, those of 64 bits and those with one divisor by its reciprocal (`reciprocals.py`); those of 64 bits
without AVX-512, by one divisor, with a multiplier (`multipliers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, F64, ScalarType
from accel.backends.llvm.scalar_code.conversions import truncated
from accel.backends.llvm.scalar_code.division.multipliers import by_multiplier, has_multiplier
from accel.backends.llvm.scalar_code.division.reciprocals import divided, multiplies
from accel.backends.llvm.text.code import Code


def quotient(code: Code, kind: ScalarType, x: str, y: str, one: str | None = None) -> str:
    """Division toward zero, 0 for y = 0."""
    return _divided(code, kind, x, y, one)[0]


def remainder(code: Code, kind: ScalarType, x: str, y: str, one: str | None = None) -> str:
    """x - y * quotient, 0 for y = 0."""
    return _divided(code, kind, x, y, one)[1]


def divide(code: Code, kind: ScalarType, x: str, y: str, one: str | None = None) -> str:
    """Division toward minus infinity, 0 for y = 0."""
    whole, rest = _divided(code, kind, x, y, one)
    if kind.is_unsigned:
        return whole
    # Where the remainder's sign differs from the divisor's, the floor is one below: sext gives -1 there.
    step = code.emit(f"sext {code.vector('i1')} {_signs_differ(code, kind, rest, y)} to {code.type(kind)}")
    return code.emit(f"add {code.type(kind)} {whole}, {step}")


def floor_modulo(code: Code, kind: ScalarType, x: str, y: str, one: str | None = None) -> str:
    """The remainder with the sign of y, 0 for y = 0."""
    _, rest = _divided(code, kind, x, y, one)
    if kind.is_unsigned:
        return rest
    type_ = code.type(kind)
    moved = code.emit(f"add {type_} {rest}, {y}")
    return code.emit(
        f"select {code.vector('i1')} {_signs_differ(code, kind, rest, y)}, {type_} {moved}, {type_} {rest}"
    )


Division: TypeAlias = Callable[[Code, ScalarType, str, str, "str | None"], str]

DIVISIONS: Mapping[Operator, Division] = {
    Operator.DIV: divide,
    Operator.MOD: floor_modulo,
    Operator.QUOT: quotient,
    Operator.REM: remainder,
}
"""What divides integers: x by y. `one`: the scalar that is y in all lanes, where there is one."""


def _known(y: str) -> int | None:
    """The value of a constant operand, `10` or `splat (i64 10)`, else None."""
    return None if y.startswith("%") else int(y.removesuffix(")").split()[-1])


def _signs_differ(code: Code, kind: ScalarType, rest: str, y: str) -> str:
    """Whether a remainder is not 0 and its sign is not that of y."""
    type_, zero, known = code.type(kind), code.literal(kind, 0), _known(y)
    if known is not None:
        return code.emit(f"icmp {'sgt' if known < 0 else 'slt'} {type_} {rest}, {zero}")
    signs = code.emit(f"xor {type_} {rest}, {y}")
    opposite = code.emit(f"icmp slt {type_} {signs}, {zero}")
    inexact = code.emit(f"icmp ne {type_} {rest}, {zero}")
    return code.emit(f"and {code.vector('i1')} {opposite}, {inexact}")


def _divided(code: Code, kind: ScalarType, x: str, y: str, one: str | None) -> tuple[str, str]:
    """Quotient toward zero and remainder, both 0 for y = 0."""
    if (known := _known(y)) is not None:
        return _divided_by_constant(code, kind, x, y, known)
    if one is not None and has_multiplier(code, kind, one):
        return by_multiplier(code, kind, x, y, one)
    if multiplies(code, kind, one):
        return divided(code, kind, x, y, one)
    type_, bit, zero = code.type(kind), code.vector("i1"), code.literal(kind, 0)
    by_zero = code.emit(f"icmp eq {type_} {y}, {zero}")
    if kind.is_signed:
        whole = _signed_quotient(code, kind, x, y, by_zero)
    else:
        divisor = code.emit(f"select {bit} {by_zero}, {type_} {code.literal(kind, 1)}, {type_} {y}")
        whole = _instruction(code, kind, x, divisor)
    product = code.emit(f"mul {type_} {whole}, {y}")
    rest = code.emit(f"sub {type_} {x}, {product}")
    return (
        code.emit(f"select {bit} {by_zero}, {type_} {zero}, {type_} {whole}"),
        code.emit(f"select {bit} {by_zero}, {type_} {zero}, {type_} {rest}"),
    )


def _divided_by_constant(code: Code, kind: ScalarType, x: str, y: str, known: int) -> tuple[str, str]:
    """The same for a constant, without the guards: behind them LLVM takes it for a variable, and divides.

    Without, it multiplies and shifts, which takes a tenth of the time.
    """
    type_, zero = code.type(kind), code.literal(kind, 0)
    if known == 0:
        return zero, zero
    if known == -1:
        return code.emit(f"sub {type_} {zero}, {x}"), zero
    whole = code.emit(f"{'sdiv' if kind.is_signed else 'udiv'} {type_} {x}, {y}")
    product = code.emit(f"mul {type_} {whole}, {y}")
    return whole, code.emit(f"sub {type_} {x}, {product}")


def _signed_quotient(code: Code, kind: ScalarType, x: str, y: str, by_zero: str) -> str:
    """The quotient by a divisor that is not 0; by -1 it is the wrapped negation."""
    type_, bit, zero = code.type(kind), code.vector("i1"), code.literal(kind, 0)
    by_minus_one = code.emit(f"icmp eq {type_} {y}, {code.literal(kind, -1)}")
    guarded = code.emit(f"or {bit} {by_zero}, {by_minus_one}")
    divisor = code.emit(f"select {bit} {guarded}, {type_} {code.literal(kind, 1)}, {type_} {y}")
    whole = _instruction(code, kind, x, divisor)
    negated = code.emit(f"sub {type_} {zero}, {x}")
    return code.emit(f"select {bit} {by_minus_one}, {type_} {negated}, {type_} {whole}")


def _instruction(code: Code, kind: ScalarType, x: str, divisor: str) -> str:
    """The quotient toward zero by a divisor that is neither 0 nor, for signed integers, -1.

    As floats: the rounded quotient q of integers below 2^m is off by at most q * 2^-p (p bits of significand), and the
    true one is an integer or at least q / |x| from the next, so truncation is right for m < p: 16 bits in f32, 32 in f64.
    """
    signed = kind.is_signed
    if code.lanes == 1 or kind.bits == 64:
        return code.emit(f"{'sdiv' if signed else 'udiv'} {code.type(kind)} {x}, {divisor}")
    float_kind = F32 if kind.bits <= 16 else F64
    type_, real, to_real = code.type(kind), code.type(float_kind), "sitofp" if signed else "uitofp"
    dividend = code.emit(f"{to_real} {type_} {x} to {real}")
    by = code.emit(f"{to_real} {type_} {divisor} to {real}")
    ratio = code.emit(f"fdiv {real} {dividend}, {by}")
    return truncated(code, float_kind, kind, ratio)
