"""LLVM text for 16-bit floats, which registers hold by their bits: computed with in 32 bits, and rounded once.

In: an i16 per lane. Out: the 32-bit float that has its value; and back, rounded to nearest, ties to even. x86-64 has
instructions for both since 2012 (F16C); where it has not, LLVM would call functions that are nowhere to be found, so the
text computes them. Two roundings, to 32 bits and to 16, give what one would for + - * / and sqrt, since 24 >= 2 * 11 + 2; `fma`
and conversions see to it themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from accel.ast.tree.types import F16, F32, F64, I16, I32, I64, ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code

_FROM_DOUBLE = "__truncdfhf2"


def widened(code: Code, x: str) -> str:
    """The 32-bit float of the same value; NaN stays NaN."""
    if not host().processor.has_halves:
        return _inlined(code, "widened", ("float", "i16"), _widened, x)
    half = code.emit(f"bitcast {code.type(F16)} {x} to {code.vector('half')}")
    return code.emit(f"fpext {code.vector('half')} {half} to {code.type(F32)}")


def narrowed(code: Code, x: str) -> str:
    """The 16-bit float nearest to one of 32 bits, ties to even."""
    if not host().processor.has_halves:
        return _inlined(code, "narrowed", ("i16", "float"), _narrowed, x)
    if _FROM_DOUBLE not in code.declarations:
        code.declarations[_FROM_DOUBLE] = _from_double()
    return _truncated(code, x)


def _truncated(code: Code, x: str) -> str:
    half = code.emit(f"fptrunc {code.type(F32)} {x} to {code.vector('half')}")
    return code.emit(f"bitcast {code.vector('half')} {half} to {code.type(F16)}")


def _from_double() -> str:
    """The function that LLVM calls where it finds out that a float of 64 bits loses nothing in 32, and leaves that step out."""
    body = Code(1)
    half = body.emit(f"bitcast i16 {_truncated(body, _to_odd(body, '%x'))} to half")
    lines = "\n".join("  " + line for line in body.lines)
    return f"define weak_odr half @{_FROM_DOUBLE}(double %x) {FUNCTION_ATTRIBUTES} {{\n{lines}\n  ret half {half}\n}}"


def narrowed_double(code: Code, x: str) -> str:
    """The 16-bit float nearest to one of 64 bits, ties to even.

    What 32 bits would lose is remembered in their last bit before they are rounded to 16 (rounding to odd), so that the second
    rounding sees no tie that is none.
    """
    return narrowed(code, _to_odd(code, x))


def _to_odd(code: Code, x: str) -> str:
    """A float of 64 bits in 32, rounded to odd."""
    whole, lost = code.type(I64), (1 << 29) - 1
    bits = code.emit(f"bitcast {code.type(F64)} {x} to {whole}")
    more = code.emit(f"and {whole} {bits}, {code.literal(I64, lost)}")
    carried = code.emit(f"add {whole} {more}, {code.literal(I64, lost)}")
    either = code.emit(f"or {whole} {bits}, {carried}")
    odd = code.emit(f"and {whole} {either}, {code.literal(I64, ~lost)}")
    exact = code.emit(f"bitcast {whole} {odd} to {code.type(F64)}")
    return code.emit(f"fptrunc {code.type(F64)} {exact} to {code.type(F32)}")


def narrowed_integer(code: Code, kind: ScalarType, x: str) -> str:
    """The 16-bit float nearest to an integer or bool: those that 32 bits would round are infinite in 16."""
    instruction = "sitofp" if kind.is_signed else "uitofp"
    return narrowed(code, code.emit(f"{instruction} {code.type(kind)} {x} to {code.type(F32)}"))


def fused(code: Code, x: str, y: str, z: str) -> str:
    """x * y + z, rounded once, for the reason that `accel/ast/meaning/rounding.py` gives: in 64 bits, then to 16."""
    wide = code.type(F64)
    parts = [code.emit(f"fpext {code.type(F32)} {widened(code, each)} to {wide}") for each in (x, y, z)]
    product = code.emit(f"fmul {wide} {parts[0]}, {parts[1]}")
    return narrowed_double(code, code.emit(f"fadd {wide} {product}, {parts[2]}"))


def without_nans(code: Code, x: str) -> str:
    """The bits, those of a NaN being the canonical one's."""
    type_ = code.type(I16)
    magnitude = code.emit(f"and {type_} {x}, {code.literal(I16, 0x7FFF)}")
    nan = code.emit(f"icmp sgt {type_} {magnitude}, {code.literal(I16, 0x7C00)}")
    return code.emit(f"select {code.vector('i1')} {nan}, {type_} {code.literal(I16, 0x7E00)}, {type_} {x}")


# Without instructions.


def _inlined(code: Code, name: str, types: tuple[str, str], write: Callable[[Code, str], str], x: str) -> str:
    """A call of the function `write`, which is defined among `code.declarations`; `types` are its result's and `x`'s."""
    symbol, (result, given) = f"accel.{name}.{code.suffix(F32)}", map(code.vector, types)
    if symbol not in code.declarations:
        body = Code(code.lanes)
        value = write(body, "%x")
        lines = "\n".join("  " + line for line in body.lines)
        head = f"define internal {result} @{symbol}({given} %x) alwaysinline {FUNCTION_ATTRIBUTES}"
        code.declarations[symbol] = f"{head} {{\n{lines}\n  ret {result} {value}\n}}"
    return code.emit(f"call {result} @{symbol}({given} {x})")


def _widened(code: Code, x: str) -> str:
    """Subnormal numbers are whole multiples of the least one; of others the exponent moves, and is 112 more."""
    whole, real, bit = code.type(I32), code.type(F32), code.vector("i1")
    bits = code.emit(f"zext {code.type(I16)} {x} to {whole}")
    magnitude = code.emit(f"and {whole} {bits}, {code.literal(I32, 0x7FFF)}")
    moved = code.emit(f"shl {whole} {magnitude}, {code.literal(I32, 13)}")
    normal = code.emit(f"add {whole} {moved}, {code.literal(I32, 112 << 23)}")
    infinite = code.emit(f"or {whole} {moved}, {code.literal(I32, 0x7F800000)}")
    count = code.emit(f"uitofp {whole} {magnitude} to {real}")
    product = code.emit(f"fmul {real} {count}, {code.literal(F32, 2.0**-24)}")
    subnormal = code.emit(f"bitcast {real} {product} to {whole}")
    above = code.emit(f"icmp sgt {whole} {magnitude}, {code.literal(I32, 0x7BFF)}")
    below = code.emit(f"icmp slt {whole} {magnitude}, {code.literal(I32, 0x0400)}")
    found = code.emit(f"select {bit} {above}, {whole} {infinite}, {whole} {normal}")
    found = code.emit(f"select {bit} {below}, {whole} {subnormal}, {whole} {found}")
    sign = code.emit(f"shl {whole} {code.emit(f'xor {whole} {bits}, {magnitude}')}, {code.literal(I32, 16)}")
    return code.emit(f"bitcast {whole} {code.emit(f'or {whole} {found}, {sign}')} to {real}")


def _narrowed(code: Code, x: str) -> str:
    """Of the 13 bits that go, just below half is added, and one more where what stays is odd: ties go to even.

    Subnormal results are what a sum with 0.5 leaves of its last places. From 2^16 on a number is infinite.
    """
    whole, real, bit = code.type(I32), code.type(F32), code.vector("i1")
    bits = code.emit(f"bitcast {real} {x} to {whole}")
    magnitude = code.emit(f"and {whole} {bits}, {code.literal(I32, 0x7FFFFFFF)}")
    last = code.emit(f"lshr {whole} {magnitude}, {code.literal(I32, 13)}")
    odd = code.emit(f"and {whole} {last}, {code.literal(I32, 1)}")
    half = code.emit(f"add {whole} {magnitude}, {code.literal(I32, 0xFFF - (112 << 23))}")
    normal = code.emit(f"lshr {whole} {code.emit(f'add {whole} {half}, {odd}')}, {code.literal(I32, 13)}")
    positive = code.emit(f"bitcast {whole} {magnitude} to {real}")
    places = code.emit(f"fadd {real} {positive}, {code.literal(F32, 0.5)}")
    with_exponent = code.emit(f"bitcast {real} {places} to {whole}")
    subnormal = code.emit(f"sub {whole} {with_exponent}, {code.literal(I32, 0x3F000000)}")
    choices = [
        ("slt", 0x38800000, subnormal),
        ("sge", 0x47800000, code.literal(I32, 0x7C00)),
        ("sgt", 0x7F800000, code.literal(I32, 0x7E00)),
    ]
    found = normal
    for predicate, bound, value in choices:
        holds = code.emit(f"icmp {predicate} {whole} {magnitude}, {code.literal(I32, bound)}")
        found = code.emit(f"select {bit} {holds}, {whole} {value}, {whole} {found}")
    sign = code.emit(f"lshr {whole} {code.emit(f'xor {whole} {bits}, {magnitude}')}, {code.literal(I32, 16)}")
    return code.emit(f"trunc {whole} {code.emit(f'or {whole} {found}, {sign}')} to {code.type(I16)}")
