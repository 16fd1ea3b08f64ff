"""LLVM text for the elementary functions: inline polynomials, the same for scalars and for vectors of any length.

In: one of the operators of `ELEMENTARY` and floats of one type. Out: the function's value in every lane, at most 4 ulp
from the true one (docs/scalars.md lists what was measured); a lane's bits depend on its operands only. The common
functions compute in the type of their operands, the others in 64 bits; 32-bit results take shorter polynomials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, F64, ScalarType
from accel.backends.llvm.scalar_code import mathematics_exponential as exponential
from accel.backends.llvm.scalar_code import mathematics_logarithm as logarithm
from accel.backends.llvm.scalar_code import mathematics_special as special
from accel.backends.llvm.scalar_code import mathematics_trigonometric as trigonometric
from accel.backends.llvm.scalar_code.reals import Format, Real
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code

_FUNCTIONS: Mapping[Operator, Callable[..., Real]] = {
    Operator.EXP: exponential.exp,
    Operator.EXPM1: exponential.expm1,
    Operator.SINH: exponential.sinh,
    Operator.COSH: exponential.cosh,
    Operator.TANH: exponential.tanh,
    Operator.LOG: logarithm.log,
    Operator.LOG2: logarithm.log2,
    Operator.LOG10: logarithm.log10,
    Operator.LOG1P: logarithm.log1p,
    Operator.ASINH: logarithm.asinh,
    Operator.ACOSH: logarithm.acosh,
    Operator.ATANH: logarithm.atanh,
    Operator.SIN: trigonometric.sin,
    Operator.COS: trigonometric.cos,
    Operator.TAN: trigonometric.tan,
    Operator.ASIN: trigonometric.asin,
    Operator.ACOS: trigonometric.acos,
    Operator.ATAN: trigonometric.atan,
    Operator.ATAN2: trigonometric.atan2,
    Operator.ERF: special.erf,
    Operator.ERFC: special.erfc,
    Operator.HYPOT: special.hypot,
    Operator.CBRT: special.cbrt,
    Operator.POW: special.power,
}

_SINGLE = frozenset(
    {Operator.EXP, Operator.LOG, Operator.SIN, Operator.COS, Operator.TANH, Operator.ERF, Operator.ERFC}
)
"""Functions that compute in 32 bits for 32-bit operands: twice as many lanes for an ulp or two."""


def elementary(code: Code, operator: Operator, kind: ScalarType, arguments: Sequence[str]) -> str:
    """Writes a call of an elementary function of floats of `kind` and gives the register of its value.

    The function is defined among `code.declarations`, marked for inlining.
    """
    symbol = f"accel.{operator}.{code.suffix(kind)}"
    type_ = code.type(kind)
    if symbol not in code.declarations:
        code.declarations[symbol] = _definition(code, symbol, operator, kind, len(arguments))
    return code.emit(f"call {type_} @{symbol}({', '.join(f'{type_} {argument}' for argument in arguments)})")


def _definition(code: Code, symbol: str, operator: Operator, kind: ScalarType, arity: int) -> str:
    """The text of the function; the intrinsics that it calls are declared on the way."""
    body = Code(code.lanes)
    body.declarations = code.declarations
    own = body.type(kind)
    names = ["%x", "%y"][:arity]
    result = (
        _widened(body, operator, names)
        if kind is F32 and operator not in _SINGLE
        else _own(body, operator, kind, names)
    )
    lines = "\n".join(line if line.endswith(":") else "  " + line for line in body.lines)
    head = f"define internal {own} @{symbol}({', '.join(f'{own} {name}' for name in names)})"
    return f"{head} alwaysinline {FUNCTION_ATTRIBUTES} {{\n{lines}\n  ret {own} {result}\n}}"


def _own(body: Code, operator: Operator, kind: ScalarType, names: Sequence[str]) -> str:
    """The function computed in the operands' type."""
    form = Format.SINGLE if kind is F32 else Format.DOUBLE
    return _FUNCTIONS[operator](*(Real(body, form, name) for name in names)).name


def _widened(body: Code, operator: Operator, names: Sequence[str]) -> str:
    """The function of 32-bit floats computed in 64 bits."""
    narrow, wide = body.type(F32), body.type(F64)
    operands = [body.emit(f"fpext {narrow} {name} to {wide}") for name in names]
    value = _FUNCTIONS[operator](*(Real(body, Format.WIDENED, operand) for operand in operands)).name
    return body.emit(f"fptrunc {wide} {value} to {narrow}")
