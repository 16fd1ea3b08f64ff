"""LLVM text for every scalar operator, with the meaning that `accel/ast/meaning/semantics.py` fixes.

In: an operator, types, and operands as registers or constants of the body's lanes. Out: a register or constant. No
instruction carries a flag that could give poison (`nsw`, `nuw`, `exact`, fast-math), no operand traps, and no product is
contracted with a sum, so scalar code and vectors of any length give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.operators import COMPARISONS, COUNTS, ELEMENTARY, SHIFTS, Operator
from accel.ast.tree.types import BOOL, F16, F32, I16, ScalarType
from accel.backends.llvm.machine.system import is_x86
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.scalar_code.conversions import bitcast, cast
from accel.backends.llvm.scalar_code.division.integers import DIVISIONS
from accel.backends.llvm.scalar_code.division.remainders import remainder
from accel.backends.llvm.scalar_code.halves import fused, narrowed, widened
from accel.backends.llvm.scalar_code.integers import count, power, shift
from accel.backends.llvm.scalar_code.mathematics import elementary
from accel.backends.llvm.scalar_code.philox import philox
from accel.backends.llvm.text.code import Code
from accel.errors import AccelInternalError


def operation(
    code: Code, operator: Operator, result: ScalarType, types: Sequence[ScalarType], arguments: Sequence[str]
) -> str:
    """Writes `operator` on `arguments` of `types` and gives the register (or constant) of its value.

    Raises `AccelInternalError` for an operator that does not exist at these types.
    """
    kind = types[0]
    if operator is Operator.SELECT:
        return _select(code, types[1], arguments)
    if operator is Operator.CAST:
        return cast(code, kind, result, arguments[0])
    if operator is Operator.BITCAST:
        return bitcast(code, kind, result, arguments[0])
    if kind is F16:
        return _half(code, operator, result, arguments)
    if operator in COMPARISONS:
        return _compare(code, operator, kind, arguments)
    if operator in COUNTS:
        return count(code, operator, kind, arguments[0])
    if operator in SHIFTS:
        return shift(code, operator, kind, arguments)
    if kind.is_float:
        return _float(code, operator, kind, arguments)
    return _integer(code, operator, kind, arguments)


def _select(code: Code, kind: ScalarType, arguments: Sequence[str]) -> str:
    condition, then, orelse = arguments
    # LLVM would make a branch of it in some loops, and one that is guessed wrong costs more than both sides.
    hint = ", !unpredictable !1" if code.lanes == 1 else ""
    type_ = code.type(kind)
    return code.emit(f"select {code.vector('i1')} {condition}, {type_} {then}, {type_} {orelse}{hint}")


_FLOAT_PREDICATES: Mapping[Operator, str] = {
    Operator.EQ: "oeq",
    Operator.NE: "une",
    Operator.LT: "olt",
    Operator.LE: "ole",
    Operator.GT: "ogt",
    Operator.GE: "oge",
}


def _compare(code: Code, operator: Operator, kind: ScalarType, arguments: Sequence[str]) -> str:
    first, second = arguments
    if kind.is_float:
        return code.emit(f"fcmp {_FLOAT_PREDICATES[operator]} {code.type(kind)} {first}, {second}")
    equality = operator in (Operator.EQ, Operator.NE)
    predicate = operator.value if equality else ("s" if kind.is_signed else "u") + operator.value
    return code.emit(f"icmp {predicate} {code.type(kind)} {first}, {second}")


# Integers and bools.

_INTEGER_INSTRUCTIONS: Mapping[Operator, str] = {
    Operator.ADD: "add",
    Operator.SUB: "sub",
    Operator.MUL: "mul",
    Operator.AND: "and",
    Operator.OR: "or",
    Operator.XOR: "xor",
}


def _integer(code: Code, operator: Operator, kind: ScalarType, arguments: Sequence[str]) -> str:
    """An operator on integers or bools."""
    if operator in (Operator.MIN, Operator.MAX) and kind is BOOL:
        operator = Operator.AND if operator is Operator.MIN else Operator.OR
    if operator in _INTEGER_INSTRUCTIONS:
        return code.emit(f"{_INTEGER_INSTRUCTIONS[operator]} {code.type(kind)} {arguments[0]}, {arguments[1]}")
    match operator:
        case Operator.NOT:
            # All ones: true for bool.
            ones = code.splat("i1", "true") if kind is BOOL else code.literal(kind, -1)
            return code.emit(f"xor {code.type(kind)} {arguments[0]}, {ones}")
        case Operator.MIN | Operator.MAX:
            return code.intrinsic(("s" if kind.is_signed else "u") + operator.value, kind, arguments)
        case Operator.NEG:
            return code.emit(f"sub {code.type(kind)} {code.literal(kind, 0)}, {arguments[0]}")
        case Operator.ABS:
            return code.intrinsic("abs", kind, arguments, "i1 false") if kind.is_signed else arguments[0]
        case Operator.SIGNUM:
            return _integer_signum(code, kind, arguments[0])
        case Operator.DIV | Operator.MOD | Operator.QUOT | Operator.REM:
            return DIVISIONS[operator](code, kind, arguments[0], arguments[1], None)
        case Operator.POW:
            return power(code, kind, *arguments)
        case Operator.PHILOX:
            return philox(code, *arguments)
        case _:
            raise AccelInternalError(f"no operator {operator} on {kind}")


def _integer_signum(code: Code, kind: ScalarType, x: str) -> str:
    """(x > 0) - (x < 0)."""
    type_, zero, bit = code.type(kind), code.literal(kind, 0), code.vector("i1")
    above = code.emit(f"icmp {'sgt' if kind.is_signed else 'ne'} {type_} {x}, {zero}")
    positive = code.emit(f"zext {bit} {above} to {type_}")
    if kind.is_unsigned:
        return positive
    below = code.emit(f"icmp slt {type_} {x}, {zero}")
    negative = code.emit(f"sext {bit} {below} to {type_}")
    return code.emit(f"or {type_} {positive}, {negative}")


# Floats.


def _half(code: Code, operator: Operator, result: ScalarType, arguments: Sequence[str]) -> str:
    """An operator on 16-bit floats: that on 32-bit ones, and rounded. What only changes the sign changes a bit."""
    match operator:
        case Operator.FMA:
            return fused(code, *arguments)
        case Operator.NEG:
            return code.emit(f"xor {code.type(F16)} {arguments[0]}, {code.literal(I16, -0x8000)}")
        case Operator.ABS:
            return code.emit(f"and {code.type(F16)} {arguments[0]}, {code.literal(I16, 0x7FFF)}")
        case _:
            wide = [widened(code, argument) for argument in arguments]
            if result is BOOL:
                return operation(code, operator, BOOL, [F32] * len(wide), wide)
            return narrowed(code, operation(code, operator, F32, [F32] * len(wide), wide))


_FLOAT_INSTRUCTIONS: Mapping[Operator, str] = {
    Operator.ADD: "fadd",
    Operator.SUB: "fsub",
    Operator.MUL: "fmul",
    Operator.DIV: "fdiv",
}

_FLOAT_INTRINSICS: Mapping[Operator, str] = {
    Operator.ABS: "fabs",
    Operator.MIN: "minimum",
    Operator.MAX: "maximum",
    Operator.FMA: "fma",
    Operator.SQRT: "sqrt",
    Operator.FLOOR: "floor",
    Operator.CEIL: "ceil",
    Operator.TRUNC: "trunc",
    Operator.ROUND: "roundeven",
}


def _float(code: Code, operator: Operator, kind: ScalarType, arguments: Sequence[str]) -> str:
    """An operator on floats."""
    if operator in _FLOAT_INSTRUCTIONS:
        return code.emit(f"{_FLOAT_INSTRUCTIONS[operator]} {code.type(kind)} {arguments[0]}, {arguments[1]}")
    if operator is Operator.MIN and code.lanes > 1 and is_x86():
        return _lesser(code, kind, *arguments)
    if operator is Operator.MAX and code.lanes * kind.bits == 512 and host().processor.has_avx512dq:
        return _greater(code, kind, *arguments)
    if operator in _FLOAT_INTRINSICS:
        return code.intrinsic(_FLOAT_INTRINSICS[operator], kind, arguments)
    if operator in ELEMENTARY:
        return elementary(code, operator, kind, arguments)
    match operator:
        case Operator.NEG:
            return code.emit(f"fneg {code.type(kind)} {arguments[0]}")
        case Operator.IS_NAN:
            return code.emit(f"fcmp uno {code.type(kind)} {arguments[0]}, {code.literal(kind, 0.0)}")
        case Operator.IS_INFINITE:
            magnitude = code.intrinsic("fabs", kind, arguments)
            return code.emit(f"fcmp oeq {code.type(kind)} {magnitude}, {code.literal(kind, float('inf'))}")
        case Operator.SIGNUM:
            return _float_signum(code, kind, arguments[0])
        case Operator.COPYSIGN:
            return _copysign(code, kind, *arguments)
        case Operator.MOD:
            return _float_modulo(code, kind, *arguments)
        case _:
            raise AccelInternalError(f"no operator {operator} on {kind}")


def _lesser(code: Code, kind: ScalarType, x: str, y: str) -> str:
    """The lesser of both, a NaN if one is a NaN, and -0.0 rather than 0.0, by x86-64's instruction.

    That gives its second operand unless the first is less. So in one order or the other it gives a NaN, and a negative zero,
    if there is one, and else the same in both: the bits of both together are the result.
    """
    type_, bits = code.type(kind), code.vector(f"i{kind.bits}")
    both = []
    for first, second in ((x, y), (y, x)):
        less = code.emit(f"fcmp olt {type_} {first}, {second}")
        lesser = code.emit(f"select {code.vector('i1')} {less}, {type_} {first}, {type_} {second}")
        both.append(code.emit(f"bitcast {type_} {lesser} to {bits}"))
    return code.emit(f"bitcast {bits} {code.emit(f'or {bits} {both[0]}, {both[1]}')} to {type_}")


def _greater(code: Code, kind: ScalarType, x: str, y: str) -> str:
    """The greater of both, a NaN if one is a NaN, and 0.0 rather than -0.0, by an instruction of AVX-512DQ that orders zeros,
    but prefers numbers to NaNs."""
    type_, mask = code.type(kind), f"i{code.lanes}"
    name = "ps" if kind.bits == 32 else "pd"
    operands = [f"{type_} {x}", f"{type_} {y}", "i32 5", f"{type_} zeroinitializer", f"{mask} -1", "i32 4"]
    types = [type_, type_, "i32 immarg", type_, mask, "i32 immarg"]
    greater = code.call(f"llvm.x86.avx512.mask.range.{name}.512", type_, types, operands)
    unordered = code.emit(f"fcmp uno {type_} {x}, {y}")
    either = code.emit(f"fadd {type_} {x}, {y}")
    return code.emit(f"select {code.vector('i1')} {unordered}, {type_} {either}, {type_} {greater}")


def _float_signum(code: Code, kind: ScalarType, x: str) -> str:
    """One with the sign of x; zeros and NaN stay."""
    type_ = code.type(kind)
    one = code.intrinsic("copysign", kind, [code.literal(kind, 1.0), x])
    itself = code.emit(f"fcmp ueq {type_} {x}, {code.literal(kind, 0.0)}")
    return code.emit(f"select {code.vector('i1')} {itself}, {type_} {x}, {type_} {one}")


def _copysign(code: Code, kind: ScalarType, x: str, y: str) -> str:
    """The magnitude of x with the sign of y, a NaN being positive."""
    type_, zero = code.type(kind), code.literal(kind, 0.0)
    unordered = code.emit(f"fcmp uno {type_} {y}, {zero}")
    sign = code.emit(f"select {code.vector('i1')} {unordered}, {type_} {zero}, {type_} {y}")
    return code.intrinsic("copysign", kind, [x, sign])


def _float_modulo(code: Code, kind: ScalarType, x: str, y: str) -> str:
    """The exact remainder of truncation, moved to the sign of y by one addition; a zero takes y's sign."""
    type_, zero, bit = code.type(kind), code.literal(kind, 0.0), code.vector("i1")
    exact = remainder(code, kind, x, y)
    moved = code.emit(f"fadd {type_} {exact}, {y}")
    below = code.emit(f"fcmp olt {type_} {exact}, {zero}")
    divisor_below = code.emit(f"fcmp olt {type_} {y}, {zero}")
    differ = code.emit(f"xor {bit} {below}, {divisor_below}")
    fitting = code.emit(f"select {bit} {differ}, {type_} {moved}, {type_} {exact}")
    signed_zero = code.intrinsic("copysign", kind, [zero, y])
    divides = code.emit(f"fcmp oeq {type_} {exact}, {zero}")
    return code.emit(f"select {bit} {divides}, {type_} {signed_zero}, {type_} {fitting}")
