"""LLVM text for remainders of floats, in lanes or one by one: a division and two multiply-adds, where quotients are small.

In: two floats. Out: C's `fmod` of them, exact, with the sign of the first.

Let a and b be their magnitudes, and t = trunc(RN(a/b)) < 2^52 (2^23 of 32 bits). Whole numbers up to there are floats, and
rounding keeps order, so t is floor(a/b), or one more. The remainder, and the remainder less b, are multiples of the last place
of b, or of a if that is less, and no more than b: both are floats. So a - t b by a multiply-add is exact, and so is to add b
where it is negative. Other lanes, and all beside one, call the C library.
"""

from __future__ import annotations

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code


def remainder(code: Code, kind: ScalarType, x: str, y: str) -> str:
    """The remainder of truncation."""
    real = code.type(kind)
    if not host().processor.has_fma:
        return code.emit(f"frem {real} {x}, {y}")
    symbol = f"remainder.v{code.lanes}{kind}"
    if symbol not in code.declarations:
        code.declarations[symbol] = _function(code, kind, symbol)
    return code.emit(f"call {real} @{symbol}({real} {x}, {real} {y})")


def _function(code: Code, kind: ScalarType, symbol: str) -> str:
    body, real, bit = Code(code.lanes), code.type(kind), code.vector("i1")
    body.declarations = code.declarations
    zero = body.literal(kind, 0.0)
    a, b = (body.intrinsic("fabs", kind, [number]) for number in ("%x", "%y"))
    quotient = body.emit(f"fdiv {real} {a}, {b}")
    whole = body.intrinsic("trunc", kind, [quotient])
    rest = body.intrinsic("fma", kind, [body.emit(f"fneg {real} {whole}"), b, a])
    negative = body.emit(f"fcmp olt {real} {rest}, {zero}")
    moved = body.emit(f"select {bit} {negative}, {real} {body.emit(f'fadd {real} {rest}, {b}')}, {real} {rest}")
    found = body.intrinsic("copysign", kind, [moved, "%x"])
    small = body.emit(f"fcmp olt {real} {quotient}, {body.literal(kind, 2.0 ** (52 if kind.bits == 64 else 23))}")
    finite = body.emit(f"fcmp olt {real} {b}, {body.literal(kind, float('inf'))}")
    fine = body.emit(f"and {bit} {small}, {finite}")
    if code.lanes > 1:
        fine = body.call(f"llvm.vector.reduce.and.v{code.lanes}i1", "i1", [bit], [f"{bit} {fine}"])
    lines = "\n  ".join(body.lines)
    return f"""define internal {real} @{symbol}({real} %x, {real} %y) alwaysinline {FUNCTION_ATTRIBUTES} {{
multiply:
  {lines}
  br i1 {fine}, label %end, label %call
call:
  %remainder = frem {real} %x, %y
  br label %end
end:
  %result = phi {real} [ {found}, %multiply ], [ %remainder, %call ]
  ret {real} %result
}}"""
