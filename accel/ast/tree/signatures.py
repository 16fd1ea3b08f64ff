"""The types of every scalar operator: what it takes, what it gives.

In: an operator and the type `a` of `operators.py`. Out: the types of its operands and of its result. The front end, the
verifiers and the tests ask here; what an operator computes is in `semantics.py`.
"""

from __future__ import annotations

from accel.ast.tree.operators import COMPARISONS, CONVERSIONS, COUNTS, ELEMENTARY, PREDICATES, SHIFTS, Operator
from accel.ast.tree.types import BOOL, I64, U64, ScalarType

_ANY_NUMBER = frozenset(
    {Operator.ADD, Operator.SUB, Operator.MUL, Operator.DIV, Operator.MOD, Operator.NEG, Operator.ABS, Operator.SIGNUM,
     Operator.POW}
)  # fmt: skip
_INTEGER_ONLY = frozenset({Operator.QUOT, Operator.REM}) | COUNTS | SHIFTS
_BITS = frozenset({Operator.AND, Operator.OR, Operator.XOR, Operator.NOT})
_ANY_TYPE = frozenset({Operator.MIN, Operator.MAX, Operator.SELECT}) | COMPARISONS
_UNARY = (
    frozenset({Operator.NEG, Operator.ABS, Operator.SIGNUM, Operator.NOT, Operator.SQRT})
    | frozenset({Operator.FLOOR, Operator.CEIL, Operator.TRUNC, Operator.ROUND})
    | CONVERSIONS
    | PREDICATES
    | COUNTS
    | (ELEMENTARY - {Operator.POW, Operator.ATAN2, Operator.HYPOT})
)
_TERNARY = frozenset({Operator.FMA, Operator.PHILOX, Operator.SELECT})


def arity(operator: Operator) -> int:
    """How many operands an operator has: 1, 2 or 3."""
    return 1 if operator in _UNARY else 3 if operator in _TERNARY else 2


def accepts(operator: Operator, kind: ScalarType) -> bool:
    """Whether an operator has a meaning at `kind`, the `a` of `operators.py`."""
    if operator in _ANY_TYPE or operator is Operator.CAST:
        return True
    if operator in _BITS:
        return not kind.is_float
    if operator is Operator.PHILOX:
        return kind is U64
    if operator in _INTEGER_ONLY:
        return kind.is_integer
    if operator in _ANY_NUMBER or operator is Operator.BITCAST:
        return kind is not BOOL
    return kind.is_float


def operand_types(operator: Operator, kind: ScalarType) -> tuple[ScalarType, ...]:
    """The types of the operands of an operator at `kind`."""
    if operator is Operator.SELECT:
        return (BOOL, kind, kind)
    if operator in SHIFTS:
        return (kind, I64)
    return (kind,) * arity(operator)


def result_type(operator: Operator, kind: ScalarType) -> ScalarType | None:
    """The type of the result of an operator at `kind`; None for conversions, which name it themselves."""
    if operator in CONVERSIONS:
        return None
    if operator in COMPARISONS or operator in PREDICATES:
        return BOOL
    return I64 if operator in COUNTS else kind


def fits(operator: Operator, result: ScalarType, types: tuple[ScalarType, ...]) -> bool:
    """Whether an operator takes operands of these types to a result of that type."""
    if not types:
        return False
    kind = types[-1] if operator is Operator.SELECT else types[0]
    if not accepts(operator, kind) or types != operand_types(operator, kind):
        return False
    if operator is Operator.BITCAST:
        return result is not BOOL and result.bits == kind.bits
    return result_type(operator, kind) in (None, result)
