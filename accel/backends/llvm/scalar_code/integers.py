"""LLVM text for shifts, rotations, counts of bits and powers of integers.

In: integers of one type (amounts are i64). Out: the value that `accel/ast/meaning/semantics.py` says; amounts are masked before
they reach an instruction that they could poison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64, ScalarType
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code

_COUNTS: Mapping[Operator, tuple[str, str | None]] = {
    Operator.POP_COUNT: ("ctpop", None),
    Operator.COUNT_LEADING_ZEROS: ("ctlz", "i1 false"),
    Operator.COUNT_TRAILING_ZEROS: ("cttz", "i1 false"),
}


def count(code: Code, operator: Operator, kind: ScalarType, x: str) -> str:
    """A count of bits, as i64."""
    name, flag = _COUNTS[operator]
    number = code.intrinsic(name, kind, [x], flag)
    return number if kind.bits == 64 else code.emit(f"zext {code.type(kind)} {number} to {code.type(I64)}")


def shift(code: Code, operator: Operator, kind: ScalarType, arguments: Sequence[str]) -> str:
    """A shift or a rotation by an i64."""
    x, amount = arguments
    type_, wide, bit = code.type(kind), code.type(I64), code.vector("i1")
    if operator in (Operator.ROTATE_LEFT, Operator.ROTATE_RIGHT):
        # The intrinsics take amounts modulo the width, which divides two to any integer's width.
        name = "fshl" if operator is Operator.ROTATE_LEFT else "fshr"
        return code.intrinsic(name, kind, [x, x, _narrowed(code, kind, amount)])
    inside = code.emit(f"icmp ult {wide} {amount}, {code.literal(I64, kind.bits)}")
    low = code.emit(f"and {wide} {amount}, {code.literal(I64, kind.bits - 1)}")
    by = _narrowed(code, kind, low)
    if operator is Operator.SHIFT_RIGHT and kind.is_signed:
        last = code.literal(kind, kind.bits - 1)
        by = code.emit(f"select {bit} {inside}, {type_} {by}, {type_} {last}")
        return code.emit(f"ashr {type_} {x}, {by}")
    shifted = code.emit(f"{'shl' if operator is Operator.SHIFT_LEFT else 'lshr'} {type_} {x}, {by}")
    return code.emit(f"select {bit} {inside}, {type_} {shifted}, {type_} {code.literal(kind, 0)}")


def _narrowed(code: Code, kind: ScalarType, amount: str) -> str:
    """The low bits of an i64, as `kind`."""
    return amount if kind.bits == 64 else code.emit(f"trunc {code.type(I64)} {amount} to {code.type(kind)}")


def power(code: Code, kind: ScalarType, x: str, y: str) -> str:
    """x to the y, wrapping; a negative y gives the true value truncated.

    A small constant exponent is multiplied out; else a function loops over the bits of y for all lanes together, so
    that the caller's body stays one basic block.
    """
    exponent = _small_constant(code, kind, y)
    if exponent is not None:
        return _multiplied_out(code, kind, x, exponent)
    type_ = code.type(kind)
    symbol = f"accel.power.{'signed' if kind.is_signed else 'unsigned'}.{code.suffix(kind)}"
    if symbol not in code.declarations:
        code.declarations[symbol] = _power_function(code, symbol, kind)
    return code.emit(f"call {type_} @{symbol}({type_} {x}, {type_} {y})")


def _small_constant(code: Code, kind: ScalarType, y: str) -> int | None:
    """The value of a constant operand between 0 and 64, else None."""
    return next((value for value in range(min(65, kind.maximum)) if y == code.literal(kind, value)), None)


def _multiplied_out(code: Code, kind: ScalarType, x: str, exponent: int) -> str:
    """Square and multiply from the highest bit of a known exponent."""
    if exponent == 0:
        return code.literal(kind, 1)
    product = x
    for bit in f"{exponent:b}"[1:]:
        product = code.emit(f"mul {code.type(kind)} {product}, {product}")
        if bit == "1":
            product = code.emit(f"mul {code.type(kind)} {product}, {x}")
    return product


def _power_function(code: Code, symbol: str, kind: ScalarType) -> str:
    """Square and multiply from the lowest bit of the exponent, until no lane has bits left."""
    type_, bit, zero, one = code.type(kind), code.vector("i1"), code.literal(kind, 0), code.literal(kind, 1)
    loop = f"""\
define internal {type_} @{symbol}({type_} %x, {type_} %y) {FUNCTION_ATTRIBUTES} {{
entry:
  br label %loop
loop:
  %product = phi {type_} [ {one}, %entry ], [ %next, %loop ]
  %square = phi {type_} [ %x, %entry ], [ %squared, %loop ]
  %rest = phi {type_} [ %y, %entry ], [ %halved, %loop ]
  %low = and {type_} %rest, {one}
  %odd = icmp ne {type_} %low, {zero}
  %multiplied = mul {type_} %product, %square
  %next = select {bit} %odd, {type_} %multiplied, {type_} %product
  %squared = mul {type_} %square, %square
  %halved = lshr {type_} %rest, {one}
  %left = icmp ne {type_} %halved, {zero}
  {_any(code.lanes, "%left", "%more")}
  br i1 %more, label %loop, label %done
done:
"""
    return f"{loop}  ret {type_} %next\n}}" if kind.is_unsigned else loop + _negative_exponents(code, kind)


def _negative_exponents(code: Code, kind: ScalarType) -> str:
    """The end of the function for signed integers: for y < 0, x to the y is 0 unless x is 1 or -1."""
    type_, bit, zero, one = code.type(kind), code.vector("i1"), code.literal(kind, 0), code.literal(kind, 1)
    return f"""\
  %negative = icmp slt {type_} %y, {zero}
  %above = add {type_} %x, {one}
  %small = icmp ule {type_} %above, {code.literal(kind, 2)}
  %parity = and {type_} %y, {one}
  %even = icmp eq {type_} %parity, {zero}
  %absolute = mul {type_} %x, %x
  %inverse = select {bit} %even, {type_} %absolute, {type_} %x
  %truncated = select {bit} %small, {type_} %inverse, {type_} {zero}
  %result = select {bit} %negative, {type_} %truncated, {type_} %next
  ret {type_} %result
}}"""


def _any(lanes: int, mask: str, result: str) -> str:
    """The lines that set an i1 to whether any lane of a mask is true."""
    if lanes == 1:
        return f"{result} = or i1 {mask}, false"
    return f"{result}.bits = bitcast <{lanes} x i1> {mask} to i{lanes}\n  {result} = icmp ne i{lanes} {result}.bits, 0"
