"""The scalar operators: one list for all stages, with what each takes and gives.

Meaning is fixed once, in `accel/ast/meaning/semantics.py` (the reference), and `backends/llvm/scalar_code/scalar.py` and
`backends/opencl/code/scalar.py` print it. All are total: no operand traps or gives an undefined value (docs/scalars.md).
"""

from __future__ import annotations

from enum import Enum


class Operator(Enum):
    """A scalar operator. The value is its name in every text form. Operands and result have one type `a`, unless said."""

    # Arithmetic. Integers wrap.
    ADD = "add"  # integer, float
    SUB = "sub"
    MUL = "mul"
    DIV = "div"  # float: IEEE division; integer: floor division, x // 0 = 0
    MOD = "mod"  # Python's: the sign of the divisor; integer x % 0 = 0, float x % 0 = NaN
    QUOT = "quot"  # integer: division toward zero, by 0 gives 0
    REM = "rem"  # integer: remainder of quot, by 0 gives 0
    NEG = "neg"
    ABS = "abs"  # of the least integer: itself
    SIGNUM = "signum"  # -1, 0, 1; keeps zeros' signs and NaN
    MIN = "min"  # propagates NaN; -0.0 < +0.0; also bool
    MAX = "max"
    POW = "pow"  # float: C's pow; integer: wraps, negative exponent gives the truncated true value, 0 for base 0
    FMA = "fma"  # float, three operands, one rounding
    # Comparisons: bool, integer, float -> bool. Every comparison with NaN but `ne` is false.
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    # Bits: bool or integer.
    AND = "and"
    OR = "or"
    XOR = "xor"
    NOT = "not"  # complement
    SHIFT_LEFT = "shift_left"  # (integer, i64); amounts < 0 or >= width give 0
    SHIFT_RIGHT = "shift_right"  # arithmetic on signed: amounts < 0 or >= width give the sign, else 0
    ROTATE_LEFT = "rotate_left"  # (integer, i64); the amount counts modulo the width (floor)
    ROTATE_RIGHT = "rotate_right"
    POP_COUNT = "pop_count"  # integer -> i64
    COUNT_LEADING_ZEROS = "count_leading_zeros"  # integer -> i64; of 0: the width
    COUNT_TRAILING_ZEROS = "count_trailing_zeros"
    PHILOX = "philox"  # (u64, u64, u64): of the key's low and high half, number `position` of its random numbers
    # Float functions.
    SQRT = "sqrt"  # correctly rounded
    EXP = "exp"  # from here to cbrt: at most 4 ulp
    EXPM1 = "expm1"
    LOG = "log"
    LOG2 = "log2"
    LOG10 = "log10"
    LOG1P = "log1p"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    ATAN2 = "atan2"  # (y, x)
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ASINH = "asinh"
    ACOSH = "acosh"
    ATANH = "atanh"
    ERF = "erf"
    ERFC = "erfc"
    HYPOT = "hypot"
    CBRT = "cbrt"
    FLOOR = "floor"  # float -> float, exact
    CEIL = "ceil"
    TRUNC = "trunc"
    ROUND = "round"  # half to even
    COPYSIGN = "copysign"  # a NaN second operand counts as positive: no operator shows a NaN's sign or payload
    IS_NAN = "is_nan"  # float -> bool
    IS_INFINITE = "is_infinite"
    # Any type.
    CAST = "cast"  # a -> b: integers wrap; float to integer saturates, NaN gives 0; to bool: x != 0
    BITCAST = "bitcast"  # a -> b of equal width, bool excluded; every NaN as the canonical quiet NaN
    SELECT = "select"  # (bool, a, a) -> a; evaluates both

    def __repr__(self) -> str:
        return self.value

    __str__ = __repr__
    __hash__ = object.__hash__  # as for `ScalarType`


COMPARISONS = frozenset({Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE})
"""Operators whose result is bool and whose operands have one type."""

PREDICATES = frozenset({Operator.IS_NAN, Operator.IS_INFINITE})
"""Unary operators whose result is bool."""

COUNTS = frozenset({Operator.POP_COUNT, Operator.COUNT_LEADING_ZEROS, Operator.COUNT_TRAILING_ZEROS})
"""Unary operators whose result is i64."""

SHIFTS = frozenset({Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT, Operator.ROTATE_LEFT, Operator.ROTATE_RIGHT})
"""Operators whose second operand is an i64 amount."""

CONVERSIONS = frozenset({Operator.CAST, Operator.BITCAST})
"""Operators whose result type is said by the node."""

ELEMENTARY = frozenset(
    {
        Operator.POW, Operator.EXP, Operator.EXPM1, Operator.LOG, Operator.LOG2, Operator.LOG10, Operator.LOG1P,
        Operator.SIN, Operator.COS, Operator.TAN, Operator.ASIN, Operator.ACOS, Operator.ATAN, Operator.ATAN2,
        Operator.SINH, Operator.COSH, Operator.TANH, Operator.ASINH, Operator.ACOSH, Operator.ATANH,
        Operator.ERF, Operator.ERFC, Operator.HYPOT, Operator.CBRT,
    }
)  # fmt: skip
"""Float functions that backends may round differently, within 4 ulp; they are never folded at compile time."""

HEAVY = ELEMENTARY | {Operator.PHILOX}
"""Operators that are much work: they take many instructions of any processor."""


class Direction(Enum):
    """Which end a scan starts from."""

    LEFT = "left"
    RIGHT = "right"


class ScanForm(Enum):
    """What a scan returns, n being the inner extent of its input."""

    INCLUSIVE = "inclusive"  # scanl1: n results, no seed
    EXCLUSIVE = "exclusive"  # scanl: n + 1 results, the first the seed
    TOTAL = "total"  # scanlTotal: n exclusive results, and the totals aside
