"""Every scalar operator in OpenCL C 1.2, with the meaning of `accel.ast.meaning.semantics` bit for bit.

In: an operator, types, and operands as C atoms: names or constants, so that they may be repeated. Out: an expression, and
the helper functions that it calls, collected in a `Prelude`. Nothing is inherited from C where C leaves it open: divisors
are guarded, shifts compare their amounts, arithmetic wraps in unsigned types, float to integer saturates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.operators import COMPARISONS, COUNTS, ELEMENTARY, SHIFTS, Operator
from accel.ast.tree.types import BOOL, F16, F32, ScalarType
from accel.backends.opencl.code import halves
from accel.backends.opencl.code.philox import PHILOX
from accel.backends.opencl.code.prelude import Prelude
from accel.backends.opencl.code.spelling import c_type, integer, unsigned, wide
from accel.backends.opencl.code.writer import SCALAR_LOOP
from accel.backends.opencl.machine.features import Features
from accel.errors import AccelInternalError


def expression(
    operator: Operator,
    result: ScalarType,
    types: Sequence[ScalarType],
    arguments: Sequence[str],
    features: Features,
    prelude: Prelude,
) -> str:
    """The operator applied to atoms, of C type `c_type(result)`."""
    kind, a = types[0], arguments[0]
    if operator is Operator.SELECT:
        return f"{a} ? {arguments[1]} : {arguments[2]}"
    if operator is Operator.CAST:
        return _cast(kind, result, a, prelude)
    if operator is Operator.BITCAST:
        return _bitcast(kind, result, a)
    if kind is F16:
        return _half(operator, result, arguments, features, prelude)
    if operator in COMPARISONS:
        right = arguments[1] if operator in (Operator.EQ, Operator.NE) else _unseen(kind, arguments[1])
        return f"({c_type(BOOL)})({a} {_COMPARISONS[operator]} {right})"
    if kind is BOOL:
        return _boolean(operator, arguments)
    if kind.is_integer:
        return _integer(operator, kind, arguments, prelude)
    if operator in ELEMENTARY:
        return _elementary(operator, kind, arguments, features, prelude)
    return _float(operator, kind, arguments, features, prelude)


_COMPARISONS: Mapping[Operator, str] = {
    Operator.EQ: "==",
    Operator.NE: "!=",
    Operator.LT: "<",
    Operator.LE: "<=",
    Operator.GT: ">",
    Operator.GE: ">=",
}

_WRAPPING: Mapping[Operator, str] = {Operator.ADD: "+", Operator.SUB: "-", Operator.MUL: "*"}
_BITWISE: Mapping[Operator, str] = {Operator.AND: "&", Operator.OR: "|", Operator.XOR: "^"}


def _boolean(operator: Operator, arguments: Sequence[str]) -> str:
    if operator is Operator.NOT:
        return f"(uchar)(1 - {arguments[0]})"
    sign = {Operator.MIN: "&", Operator.MAX: "|", **_BITWISE}
    return f"(uchar)({arguments[0]} {sign[operator]} {arguments[1]})"


# Integers.


def _integer(operator: Operator, kind: ScalarType, arguments: Sequence[str], prelude: Prelude) -> str:
    own, big, a = c_type(kind), wide(kind), arguments[0]
    if operator in _WRAPPING:
        return f"({own})(({big}){a} {_WRAPPING[operator]} ({big}){arguments[1]})"
    if operator in _BITWISE:
        return f"({own})({a} {_BITWISE[operator]} {arguments[1]})"
    if operator in SHIFTS:
        return _shift(operator, kind, a, arguments[1])
    if operator in COUNTS:
        return _count(operator, kind, a)
    negated = f"({own})(({big})0 - ({big}){a})"
    match operator:
        case Operator.NEG:
            return negated
        case Operator.NOT:
            return _complement(kind, a)
        case Operator.ABS:
            return f"{a} < 0 ? {negated} : {a}" if kind.is_signed else a
        case Operator.SIGNUM:
            # Not (a > 0) - (a < 0): Intel's compiler takes the negated minimum to be positive there.
            return f"({own})({a} < 0 ? -1 : {a} != 0)" if kind.is_signed else f"({own})({a} > 0)"
        case Operator.MIN:
            return f"{a} < {_unseen(kind, arguments[1])} ? {a} : {arguments[1]}"
        case Operator.MAX:
            return f"{a} < {_unseen(kind, arguments[1])} ? {arguments[1]} : {a}"
        case Operator.POW:
            return f"{_integer_power(kind, prelude)}({a}, {arguments[1]})"
        case Operator.PHILOX:
            return f"{prelude.function('philox', PHILOX)}({', '.join(arguments)})"
        case Operator.DIV | Operator.MOD | Operator.QUOT | Operator.REM:
            return f"{_division(operator, kind, prelude)}({a}, {arguments[1]})"
        case _:
            raise AccelInternalError(f"no operator {operator} on {kind}")


def _complement(kind: ScalarType, a: str) -> str:
    """`~a`; ONES is a number of which compilers do not know that all its bits are set (`program.py`)."""
    return f"({c_type(kind)})({a} ^ ONES({c_type(kind)}))"


def _unseen(kind: ScalarType, a: str) -> str:
    """A number that compilers do not know to be `a`, so that they see no minimum or maximum in a choice (`program.py`)."""
    return f"UNSEEN({c_type(kind)}, {a})" if kind.is_integer and kind.bytes >= 4 else a


def _division(operator: Operator, kind: ScalarType, prelude: Prelude) -> str:
    """The function for DIV, MOD, QUOT or REM. The hardware never sees a divisor of 0 or -1."""
    own, big = c_type(kind), wide(kind)
    name = f"{operator.value}_{kind.value}"
    head = f"static {own} {name}({own} a, {own} b) {{"
    quotient = operator in (Operator.DIV, Operator.QUOT)
    if not kind.is_signed:
        return prelude.function(name, f"{head} {own} d = b ? b : 1; return b ? a {'/' if quotient else '%'} d : 0; }}")
    by_minus_one = f"({own})(({big})0 - ({big})a)" if quotient else "0"
    # Floor differs from truncation where there is a remainder and its sign is not the divisor's.
    floors = operator in (Operator.DIV, Operator.MOD)
    correction = ("- (r != 0 && (r ^ d) < 0)" if quotient else "+ (r != 0 && (r ^ d) < 0 ? d : 0)") if floors else ""
    lines = [
        head,
        f"  {own} d = b == 0 || b == -1 ? 1 : b;",
        f"  {own} q = a / d, r = a % d;",
        f"  return b == 0 ? 0 : b == -1 ? {by_minus_one} : ({own})({'q' if quotient else 'r'} {correction});",
        "}",
    ]
    return prelude.function(name, "\n".join(lines))


def _integer_power(kind: ScalarType, prelude: Prelude) -> str:
    """The function for POW: by squaring; a negative exponent gives the true value truncated."""
    own, big = c_type(kind), wide(kind)
    name = f"pow_{kind.value}"
    negative = "  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;" if kind.is_signed else ""
    lines = [
        f"static {own} {name}({own} a, {own} b) {{",
        negative,
        f"  {big} result = 1, power = ({big})a;",
        SCALAR_LOOP,
        f"  for ({unsigned(kind)} rest = ({unsigned(kind)})b; rest; rest >>= 1) {{",
        "    if (rest & 1) result *= power;",
        "    power *= power;",
        "  }",
        f"  return ({own})result;",
        "}",
    ]
    return prelude.function(name, "\n".join(line for line in lines if line))


def _shift(operator: Operator, kind: ScalarType, a: str, amount: str) -> str:
    own, width = c_type(kind), kind.bits
    inside = f"({amount} >= 0 && {amount} < {width})"
    match operator:
        case Operator.SHIFT_LEFT:
            return f"{inside} ? ({own})(({wide(kind)}){a} << (int){amount}) : 0"
        case Operator.SHIFT_RIGHT if kind.is_signed:
            return f"({own})({a} >> ({inside} ? (int){amount} : {width - 1}))"
        case Operator.SHIFT_RIGHT:
            return f"{inside} ? ({own})({a} >> (int){amount}) : 0"
        case Operator.ROTATE_LEFT:
            return f"rotate({a}, ({own})((ulong){amount} & {width - 1}))"
        case Operator.ROTATE_RIGHT:
            return f"rotate({a}, ({own})((0UL - (ulong){amount}) & {width - 1}))"
        case _:
            raise AccelInternalError(f"{operator} is no shift")


def _count(operator: Operator, kind: ScalarType, a: str) -> str:
    bits = unsigned(kind)
    match operator:
        case Operator.POP_COUNT:
            return f"(long)popcount(({bits}){a})"
        case Operator.COUNT_LEADING_ZEROS:
            return f"(long)clz(({bits}){a})"
        case Operator.COUNT_TRAILING_ZEROS:  # the bits below the lowest one, counted; of zero, all
            return f"(long)popcount(({bits})({_complement(kind, a)} & ({bits})(({bits}){a} - 1)))"
        case _:
            raise AccelInternalError(f"{operator} is no count")


# Floats.


def _half(
    operator: Operator, result: ScalarType, arguments: Sequence[str], features: Features, prelude: Prelude
) -> str:
    """An operator on 16-bit floats: that on 32-bit ones, and rounded."""
    if operator is Operator.FMA:
        return halves.fused(prelude, arguments)

    def wide(operands: Sequence[str]) -> str:
        kind = BOOL if result is BOOL else F32
        return expression(operator, kind, [F32] * len(operands), operands, features, prelude)

    return halves.operation(prelude, operator, result, arguments, wide)


def _nan(kind: ScalarType) -> str:
    return "as_float(0x7fc00000u)" if kind is F32 else "as_double(0x7ff8000000000000UL)"


def _float(operator: Operator, kind: ScalarType, arguments: Sequence[str], features: Features, prelude: Prelude) -> str:
    a = arguments[0]
    if operator in _WRAPPING:
        return f"{a} {_WRAPPING[operator]} {arguments[1]}"
    if operator in _EXACT:
        return f"{_EXACT[operator]}({', '.join(arguments)})"
    if operator in _ROUNDINGS:
        return f"{_rounding(operator, kind, prelude)}({a})"
    through_f64 = kind is F32 and not features.rounded_division and features.fp64
    match operator:
        case Operator.DIV:
            return f"(float)((double){a} / (double){arguments[1]})" if through_f64 else f"{a} / {arguments[1]}"
        case Operator.SQRT:
            return f"(float)sqrt((double){a})" if through_f64 else f"sqrt({a})"
        case Operator.NEG:
            return f"-{a}"
        case Operator.SIGNUM:
            return f"{a} == 0 || {a} != {a} ? {a} : copysign(({c_type(kind)})1, {a})"
        case Operator.COPYSIGN:
            return f"{arguments[1]} != {arguments[1]} ? fabs({a}) : copysign({a}, {arguments[1]})"
        case Operator.IS_NAN:
            return f"(uchar)({a} != {a})"
        case Operator.IS_INFINITE:
            return f"(uchar)(isinf({a}) != 0)"
        case Operator.MIN | Operator.MAX | Operator.MOD:
            return f"{_float_function(operator, kind, prelude)}({a}, {arguments[1]})"
        case _:
            raise AccelInternalError(f"no operator {operator} on {kind}")


_EXACT: Mapping[Operator, str] = {
    Operator.ABS: "fabs",
    Operator.FMA: "fma",
}
"""Functions of the language that every device rounds correctly."""

_ROUNDINGS: Mapping[Operator, str] = {
    Operator.FLOOR: "floor",
    Operator.CEIL: "ceil",
    Operator.TRUNC: "trunc",
    Operator.ROUND: "rint",
}
"""Those to integral values: exact as well, but see `_rounding`."""


def _rounding(operator: Operator, kind: ScalarType, prelude: Prelude) -> str:
    """The function that rounds to an integral value.

    From 2 to the number of digits on, floats are integral; those, infinities and NaN must not reach OpenCL's function. PoCL's
    goes through 32-bit integers and selects the result afterwards: of such an operand, if the compiler knows it, comes garbage
    or a crash.
    """
    own, name = c_type(kind), f"{operator.value}_{kind.value}"
    text = "\n".join(
        [
            f"static {own} {name}({own} a) {{",
            f"  int fraction = fabs(a) < {'0x1p23f' if kind is F32 else '0x1p52'};",
            f"  {own} rounded = {_ROUNDINGS[operator]}(fraction ? a : 0);",
            "  return fraction ? rounded : a;",
            "}",
        ]
    )
    return prelude.function(name, text)


def _float_function(operator: Operator, kind: ScalarType, prelude: Prelude) -> str:
    own, name = c_type(kind), f"{operator.value}_{kind.value}"
    head = f"static {own} {name}({own} a, {own} b) {{"
    match operator:
        case Operator.MIN:
            lines = _extremum(kind, "|", "a < b ? a : b")
        case Operator.MAX:
            lines = _extremum(kind, "&", "a < b ? b : a")
        case _:  # Python's %: the remainder of truncation, moved to the sign of the divisor
            lines = [
                f"  if (a != a || b != b || b == 0 || isinf(a)) return {_nan(kind)};",
                f"  {own} r = fmod(a, b);",
                "  return r == 0 ? copysign(r, b) : (r < 0) == (b < 0) ? r : r + b;",
            ]
    return prelude.function(name, "\n".join([head, *lines, "}"]))


def _extremum(kind: ScalarType, both: str, other: str) -> list[str]:
    """Nothing but selects: vectors of work-items take no branches. Of equal operands `both` bits tell the zeros apart."""
    own, bits = c_type(kind), "uint" if kind is F32 else "ulong"
    return [
        f"  {own} found = a == b ? as_{own}(as_{bits}(a) {both} as_{bits}(b)) : {other};",
        f"  return (a != a) | (b != b) ? {_nan(kind)} : found;",
    ]


_WEAK = frozenset(
    {
        Operator.TAN, Operator.ATAN, Operator.ATAN2, Operator.TANH, Operator.ATANH, Operator.ERF, Operator.ERFC,
        Operator.POW,
    }
)  # fmt: skip
"""Functions that OpenCL's standard allows to err by more than 4 ulp: in f32 they are computed in f64."""


def _elementary(
    operator: Operator, kind: ScalarType, arguments: Sequence[str], features: Features, prelude: Prelude
) -> str:
    """NaN does not reach functions of one operand: PoCL's `exp` of a NaN that the compiler knows is garbage."""
    if len(arguments) == 1:
        own, name = c_type(kind), f"{operator.value}_{kind.value}"
        value = _library(operator, kind, ["a != a ? 0 : a"], features)
        text = f"static {own} {name}({own} a) {{ {own} y = {value}; return a != a ? a : y; }}"
        return f"{prelude.function(name, text)}({arguments[0]})"
    return _library(operator, kind, arguments, features)


_FUNCTIONS: Mapping[Operator, str] = {
    Operator.POW: "pow", Operator.HYPOT: "hypot", Operator.CBRT: "cbrt", Operator.ERF: "erf", Operator.ERFC: "erfc",
    Operator.EXP: "exp", Operator.EXPM1: "expm1", Operator.LOG: "log", Operator.LOG2: "log2", Operator.LOG10: "log10",
    Operator.LOG1P: "log1p", Operator.SIN: "sin", Operator.COS: "cos", Operator.TAN: "tan", Operator.ASIN: "asin",
    Operator.ACOS: "acos", Operator.ATAN: "atan", Operator.ATAN2: "atan2", Operator.SINH: "sinh", Operator.COSH: "cosh",
    Operator.TANH: "tanh", Operator.ASINH: "asinh", Operator.ACOSH: "acosh", Operator.ATANH: "atanh",
}  # fmt: skip
"""The language's functions."""


def _library(operator: Operator, kind: ScalarType, arguments: Sequence[str], features: Features) -> str:
    name = _FUNCTIONS[operator]
    if kind is F32 and operator in _WEAK and features.fp64:
        return f"(float){name}({', '.join(f'(double)({argument})' for argument in arguments)})"
    return f"{name}({', '.join(arguments)})"


# Conversions.


def _cast(source: ScalarType, target: ScalarType, a: str, prelude: Prelude) -> str:
    if source is target:
        return a
    if source is F16 and target.is_float:
        return f"({c_type(target)}){halves.widened(prelude, a)}"
    if source is F16:
        return halves.converted(prelude, target, a, lambda wide: _cast(F32, target, wide, prelude))
    if target is F16:
        return halves.to_half(prelude, source, a)
    if target is BOOL:
        return f"(uchar)({a} != 0)"
    if source.is_float and target.is_integer:
        return f"{a} != {a} ? {integer(target, 0)} : convert_{c_type(target)}_sat({a})"
    return f"({c_type(target)}){a}"


def _bitcast(source: ScalarType, target: ScalarType, a: str) -> str:
    if source is F16:
        return f"({c_type(target)})({halves.without_nans(a)})"
    if source.is_float and target.is_integer:
        canonical = f"as_{c_type(target)}({_nan(source)})"
        return f"{a} != {a} ? {canonical} : as_{c_type(target)}({a})"
    return f"as_{c_type(target)}({a})"
