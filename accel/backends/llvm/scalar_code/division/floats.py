"""LLVM text for quotients of 64-bit floats in lanes by one number for all of them: lanes multiply, and none divides.

In: floats in lanes, and what divides them, a constant or a register of the function's entry. Out: the quotients, rounded as
IEEE division rounds them, or nothing where lanes are to divide.

For x / y, z is 1/y rounded and w is (1 - y z) / y, so z + w is 1/y but for 2^-104 of it, and RN(x z + RN(x w)) is q, one of the
two floats around x/y [Brisebarre, Muller, Raina, Accelerating Correctly Rounded Floating-Point Division When the Divisor Is
Known in Advance, IEEE TC 53 (2004)]. So x - q y is a float, and RN(q + (x - q y) z) is x/y rounded [Markstein, Computation of
Elementary Functions on the IBM RISC System/6000 Processor, IBM J. Res. Dev. 34 (1990)]. Nothing may come near the ends of the
type for that: where y is beyond its bounds, or x in some lane, all lanes divide.

By powers of two LLVM multiplies itself. Floats of 32 bits divide: with registers of 512 bits lanes that multiply take five
eighths of the time, but between narrow bounds; with narrower ones they gain nothing.
"""

from __future__ import annotations

from fractions import Fraction
from math import frexp

from accel.ast.tree.types import F64, I64, ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code
from accel.labelled.scalar import Constant

MOST = 300
"""Divisors are 2^-MOST to 2^MOST in size."""

LEAST_EXPONENT, MOST_EXPONENT = -600, 700
"""Exponents of what they divide, unless it is 0. So x - q y, a multiple of 2^-105 x, and x w, which is no less than
2^-106 x / y, keep all their bits, and q is no more than 2^1001."""

_BIAS, _DIGITS = 1023, 52
"""What is added to an exponent; bits of a fraction."""


def by_constant(code: Code, kind: ScalarType, x: str, y: Constant) -> str | None:
    """x / y in lanes, if they multiply."""
    value = float(y.value)
    if not _multiplies(code, kind) or not 2.0**-MOST <= abs(value) <= 2.0**MOST or abs(frexp(value)[0]) == 0.5:
        return None
    z = 1 / value
    w = float((1 - Fraction(value) * Fraction(z)) / Fraction(value))
    return _call(code, [x, *(code.literal(F64, number) for number in (value, z, w))], "false")


def by_register(code: Code, kind: ScalarType, x: str, y: str, one: str) -> str | None:
    """x / y in lanes, all of which are the scalar `one`, if they multiply."""
    if not _multiplies(code, kind) or not code.is_entered(one):
        return None
    entry = code.at_entry()
    z = entry.emit(f"fdiv double {entry.literal(F64, 1.0)}, {one}")
    rest = entry.intrinsic("fma", F64, [entry.emit(f"fneg double {z}"), one, entry.literal(F64, 1.0)])
    w = entry.emit(f"fdiv double {rest}, {one}")
    size = entry.intrinsic("fabs", F64, [one])
    inside = [
        entry.emit(f"fcmp {predicate} double {size}, {entry.literal(F64, bound)}")
        for predicate, bound in (("oge", 2.0**-MOST), ("ole", 2.0**MOST))
    ]
    divides = entry.emit(f"xor i1 {entry.emit(f'and i1 {inside[0]}, {inside[1]}')}, true")
    return _call(code, [x, y, _in_lanes(code, z), _in_lanes(code, w)], divides)


def _multiplies(code: Code, kind: ScalarType) -> bool:
    return code.lanes > 1 and kind is F64 and host().processor.has_fma and not host().processor.quick_divisions


def _in_lanes(code: Code, text: str) -> str:
    vector = code.type(F64)
    first = code.emit(f"insertelement {vector} poison, double {text}, i32 0")
    zeros = f"<{code.lanes} x i32> zeroinitializer"
    return code.emit(f"shufflevector {vector} {first}, {vector} poison, {zeros}")


def _call(code: Code, numbers: list[str], divides: str) -> str:
    symbol, real = f"quotient.v{code.lanes}f64", code.type(F64)
    if symbol not in code.declarations:
        code.declarations[symbol] = _function(code, symbol)
    given = ", ".join(f"{real} {number}" for number in numbers)
    return code.emit(f"call {real} @{symbol}({given}, i1 {divides})")


def _function(code: Code, symbol: str) -> str:
    """x / y; `%far`: y is out of its bounds."""
    body, real, whole, bit = Code(code.lanes), code.type(F64), code.type(I64), code.vector("i1")
    body.declarations = code.declarations
    q = body.intrinsic("fma", F64, ["%x", "%z", body.emit(f"fmul {real} %x, %w")])
    rest = body.intrinsic("fma", F64, [body.emit(f"fneg {real} {q}"), "%y", "%x"])
    found = body.intrinsic("fma", F64, [rest, "%z", q])
    x, y, bits = (body.emit(f"bitcast {real} {number} to {whole}") for number in ("%x", "%y", found))
    # Zeros lose their sign.
    sign = body.emit(f"and {whole} {body.emit(f'xor {whole} {x}, {y}')}, {body.literal(I64, -(1 << 63))}")
    signed = body.emit(f"bitcast {whole} {body.emit(f'or {whole} {bits}, {sign}')} to {real}")
    size = body.emit(f"shl {whole} {x}, {body.literal(I64, 1)}")
    least, most = (2 * (_BIAS + exponent << _DIGITS) for exponent in (LEAST_EXPONENT, MOST_EXPONENT))
    above = body.emit(f"sub {whole} {size}, {body.literal(I64, least)}")
    beyond = body.emit(f"icmp ugt {whole} {above}, {body.literal(I64, most - least - (1 << 64))}")
    some = body.emit(f"icmp ne {whole} {size}, {body.literal(I64, 0)}")
    wrong = body.emit(f"and {bit} {beyond}, {some}")
    somewhere = body.call(f"llvm.vector.reduce.or.v{code.lanes}i1", "i1", [bit], [f"{bit} {wrong}"])
    divides = body.emit(f"or i1 {somewhere}, %far")
    lines, numbers = "\n  ".join(body.lines), ", ".join(f"{real} %{name}" for name in "xyzw")
    return f"""define internal {real} @{symbol}({numbers}, i1 %far) alwaysinline {FUNCTION_ATTRIBUTES} {{
multiply:
  {lines}
  br i1 {divides}, label %divide, label %end
divide:
  %quotient = fdiv {real} %x, %y
  br label %end
end:
  %result = phi {real} [ {signed}, %multiply ], [ %quotient, %divide ]
  ret {real} %result
}}"""
