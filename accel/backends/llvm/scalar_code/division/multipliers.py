"""LLVM text for quotients of 64-bit integers in lanes by one number, on processors that cannot convert them to floats in lanes.

A divisor d that is known where a function begins gets a multiplier there: with 2^l the least power of two that is no less than
d, floor(2^64 (2^l - d) / d) + 1. Quotients are products with it and shifts, exact for all integers below 2^64: T. Granlund and
P. Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994, figure 4.1.
"""

from __future__ import annotations

from accel.ast.tree.types import I64, U64, ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code

_SYMBOL = "accel_multiplier"

_MULTIPLIER = f"""define internal i64 @{_SYMBOL}(i64 %divisor, i64 %first) {FUNCTION_ATTRIBUTES} {{
entry:
  br label %head
head:
  %bit = phi i64 [0, %entry], [%next, %head]
  %rest = phi i64 [%first, %entry], [%left, %head]
  %whole = phi i64 [0, %entry], [%more, %head]
  %over = icmp slt i64 %rest, 0
  %twice = shl i64 %rest, 1
  %reaches = icmp uge i64 %twice, %divisor
  %goes = or i1 %over, %reaches
  %less = sub i64 %twice, %divisor
  %left = select i1 %goes, i64 %less, i64 %twice
  %digit = zext i1 %goes to i64
  %moved = shl i64 %whole, 1
  %more = or i64 %moved, %digit
  %next = add i64 %bit, 1
  %done = icmp eq i64 %next, 64
  br i1 %done, label %end, label %head
end:
  %result = add i64 %more, 1
  ret i64 %result
}}"""
"""floor(2^64 first / divisor) + 1, of 64 bits, where first is less than the divisor: digit by digit."""


def has_multiplier(code: Code, kind: ScalarType, one: str | None) -> bool:
    """Whether integers in lanes are divided so: by one number, known where the function begins."""
    wide = code.lanes > 1 and kind.bits == 64 and not host().processor.has_avx512dq
    return wide and one is not None and code.is_entered(one)


def by_multiplier(code: Code, kind: ScalarType, x: str, y: str, one: str) -> tuple[str, str]:
    """Quotient toward zero and remainder, both 0 where the divisor is 0. `y`: the divisor in lanes; `one`: as a scalar."""
    entry, type_ = code.at_entry(), code.type(U64)
    size = entry.intrinsic("abs", I64, [one], "i1 false") if kind.is_signed else one
    by_zero = entry.emit(f"icmp eq i64 {one}, 0")
    divisor = entry.emit(f"select i1 {by_zero}, i64 1, i64 {size}")
    below = entry.intrinsic("ctlz", I64, [entry.emit(f"sub i64 {divisor}, 1")], "i1 false")
    bits = entry.emit(f"sub i64 64, {below}")
    # 2^64 is 0 here.
    power = entry.emit(f"select i1 {entry.emit(f'icmp eq i64 {bits}, 64')}, i64 0, i64 {_shifted(entry, bits)}")
    code.declarations.setdefault(_SYMBOL, _MULTIPLIER)
    first = entry.emit(f"sub i64 {power}, {divisor}")
    multiplier = _in_lanes(code, entry.emit(f"call i64 @{_SYMBOL}(i64 {divisor}, i64 {first})"))
    half = _in_lanes(code, entry.intrinsic("umin", I64, [bits, "1"]))
    others = _in_lanes(code, entry.intrinsic("usub.sat", I64, [bits, "1"]))

    dividend = code.intrinsic("abs", I64, [x], "i1 false") if kind.is_signed else x
    high = _high_product(code, dividend, multiplier)
    low = code.emit(f"lshr {type_} {code.emit(f'sub {type_} {dividend}, {high}')}, {half}")
    whole = code.emit(f"lshr {type_} {code.emit(f'add {type_} {high}, {low}')}, {others}")
    if kind.is_signed:
        differ = code.emit(f"icmp slt {type_} {code.emit(f'xor {type_} {x}, {y}')}, {code.literal(I64, 0)}")
        sign = code.emit(f"sext {code.vector('i1')} {differ} to {type_}")
        whole = code.emit(f"sub {type_} {code.emit(f'xor {type_} {whole}, {sign}')}, {sign}")
    rest = code.emit(f"sub {type_} {x}, {code.emit(f'mul {type_} {whole}, {y}')}")
    kept = _in_lanes(code, entry.emit(f"select i1 {by_zero}, i64 0, i64 -1"))
    return code.emit(f"and {type_} {whole}, {kept}"), code.emit(f"and {type_} {rest}, {kept}")


def _shifted(entry: Code, bits: str) -> str:
    return entry.emit(f"shl i64 1, {entry.emit(f'and i64 {bits}, 63')}")


def _in_lanes(code: Code, text: str) -> str:
    """A register of the entry block in all lanes, there."""
    entry, vector = code.at_entry(), code.type(I64)
    first = entry.emit(f"insertelement {vector} poison, i64 {text}, i32 0")
    return entry.emit(f"shufflevector {vector} {first}, {vector} poison, <{code.lanes} x i32> zeroinitializer")


def _high_product(code: Code, x: str, y: str) -> str:
    """The upper 64 bits of products of unsigned integers, by products of their halves."""
    type_, half, low = code.type(U64), code.literal(U64, 32), code.literal(U64, (1 << 32) - 1)

    def emit(operation: str, left: str, right: str) -> str:
        return code.emit(f"{operation} {type_} {left}, {right}")

    x0, x1, y0, y1 = emit("and", x, low), emit("lshr", x, half), emit("and", y, low), emit("lshr", y, half)
    middle = emit("add", emit("mul", x1, y0), emit("lshr", emit("mul", x0, y0), half))
    other = emit("add", emit("mul", x0, y1), emit("and", middle, low))
    upper = emit("add", emit("mul", x1, y1), emit("lshr", middle, half))
    return emit("add", upper, emit("lshr", other, half))
