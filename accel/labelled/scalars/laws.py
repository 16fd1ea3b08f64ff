"""Algebraic laws of scalar operators that hold bit for bit: of integers, bools and extents, conversions and selections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64, ScalarType
from accel.labelled.array import Extent
from accel.labelled.scalar import Constant, Operand, constant, operand_type
from accel.labelled.scalars.ranges import OFFSET, Ranges

Simpler: TypeAlias = Operand | tuple[Operator, tuple[Operand, ...]]
"""What an operation is equal to: an operand that is there already, or another operation."""

_NEUTRAL_RIGHT: Mapping[Operator, int] = {
    Operator.ADD: 0, Operator.SUB: 0, Operator.MUL: 1, Operator.DIV: 1, Operator.QUOT: 1, Operator.OR: 0,
    Operator.XOR: 0, Operator.SHIFT_LEFT: 0, Operator.SHIFT_RIGHT: 0, Operator.ROTATE_LEFT: 0, Operator.ROTATE_RIGHT: 0,
}  # fmt: skip
"""x op c = x for integers (or, xor: for bools too)."""

_NEUTRAL_LEFT: Mapping[Operator, int] = {Operator.ADD: 0, Operator.MUL: 1, Operator.OR: 0, Operator.XOR: 0}
"""c op x = x likewise."""

_DECIDED = frozenset(
    {Operator.MIN, Operator.MAX, Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.EQ, Operator.NE}
    | {Operator.MOD, Operator.REM, Operator.ABS}
)
"""Operators that may be decided by ranges."""

_IDEMPOTENT = frozenset({Operator.MIN, Operator.MAX, Operator.AND, Operator.OR})
"""x op x = x, for floats too where they have the operator."""


def law(kind: ScalarType, operator: Operator, arguments: tuple[Operand, ...]) -> Simpler | None:
    """Something simpler that is equal in every bit, if a law gives one. `kind` is the result's type."""
    if operator is Operator.SELECT:
        return _select(kind, *arguments)
    if operator in (Operator.CAST, Operator.BITCAST):
        return arguments[0] if operand_type(arguments[0]) is kind else None
    if len(arguments) != 2:
        return None
    left, right = arguments
    if isinstance(left, Extent) or isinstance(right, Extent):
        found = _of_extents(operator, left, right)
        if found is not None:
            return found
    if operator in _IDEMPOTENT and left == right:
        return left
    if operator is Operator.NE and operand_type(left) is BOOL:  # of which folds know that it is exact
        return Operator.XOR, (left, right)
    if kind is BOOL and operator in (Operator.AND, Operator.OR):
        return _logic(operator, left, right)
    if kind.is_float or (kind is BOOL and operator not in (Operator.OR, Operator.XOR)):
        return None
    if operator in _NEUTRAL_RIGHT and _is(right, _NEUTRAL_RIGHT[operator]):
        return left
    if operator in _NEUTRAL_LEFT and _is(left, _NEUTRAL_LEFT[operator]):
        return right
    if operator in (Operator.MUL, Operator.AND) and (_is(left, 0) or _is(right, 0)):
        return constant(kind, 0)
    return None


def law_of_ranges(operator: Operator, arguments: tuple[Operand, ...], ranges: Ranges) -> Operand | None:
    """What follows from the ranges of indices: half of a clamp, a comparison that always holds, a small number's remainder."""
    if operator not in _DECIDED or operand_type(arguments[0]) is not I64:
        return None
    if operator is Operator.ABS:
        return arguments[0] if ranges.at_most(constant(I64, 0), arguments[0]) else None
    left, right = arguments
    match operator:
        case Operator.MIN:
            return left if ranges.at_most(left, right) else right if ranges.at_most(right, left) else None
        case Operator.MAX:
            return right if ranges.at_most(left, right) else left if ranges.at_most(right, left) else None
        case Operator.MOD | Operator.REM:
            return left if ranges.at_most(constant(I64, 0), left) and ranges.at_most(left, right, 1) else None
        case Operator.EQ | Operator.NE:
            apart = ranges.at_most(left, right, 1) or ranges.at_most(right, left, 1)
            return constant(BOOL, operator is Operator.NE) if apart else None
        case Operator.LE | Operator.GT:
            holds, fails = ranges.at_most(left, right), ranges.at_most(right, left, 1)
        case _:
            holds, fails = ranges.at_most(left, right, 1), ranges.at_most(right, left)
    if not holds and not fails:
        return None
    return constant(BOOL, holds is (operator in (Operator.LT, Operator.LE)))


def _of_extents(operator: Operator, left: Operand, right: Operand) -> Operand | None:
    """Sums, differences and comparisons of extents, which are `variable + offset`, never negative, and not too large."""
    if operator is Operator.ADD and isinstance(left, Constant):
        left, right = right, left
    a, b = _extent(left), _extent(right)
    if a is None or b is None:
        return None
    if operator is Operator.SUB and a.variable == b.variable:
        return constant(I64, a.offset - b.offset)
    if b.variable is not None:
        return None
    if operator in (Operator.ADD, Operator.SUB):
        offset = a.offset + b.offset if operator is Operator.ADD else a.offset - b.offset
        return Extent(a.variable, offset) if 0 <= offset <= OFFSET else None
    if operator is Operator.MAX and b.offset <= a.offset:
        return a
    return constant(BOOL, True) if operator is Operator.GE and b.offset <= a.offset else None


def _extent(operand: Operand) -> Extent | None:
    """An operand as `variable + offset`."""
    match operand:
        case Extent():
            return operand
        case Constant(ScalarType.I64):
            return Extent(None, int(operand.value))
        case _:
            return None


def _is(operand: Operand, value: int) -> bool:
    return isinstance(operand, Constant) and operand.value == value


def _logic(operator: Operator, left: Operand, right: Operand) -> Operand | None:
    absorbing = operator is Operator.OR
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Constant):
            return one if bool(one.value) is absorbing else other
    return None


def _select(kind: ScalarType, condition: Operand, then: Operand, orelse: Operand) -> Simpler | None:
    """Choices that are known or equal, and the lazy `&` and `|` of bools."""
    if isinstance(condition, Constant):
        return then if condition.value else orelse
    if then == orelse:
        return then
    if kind is not BOOL:
        return None
    yes, no = constant(BOOL, True), constant(BOOL, False)
    if orelse == no:
        return (Operator.AND, (condition, then))
    if then == yes:
        return (Operator.OR, (condition, orelse))
    if (then, orelse) == (no, yes):
        return (Operator.NOT, (condition,))
    return None
