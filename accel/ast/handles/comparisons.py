"""Comparisons of scalars and of tuples: these item by item from the left, as far as needed.

In: raw operands (nodes, numbers). Out: scalar nodes of bools; of `extreme` one of the operands. Raises `AccelTypeError` for
what has no order. `exp.py` and `accel/ast/scalars/conversions.py` are the user's spellings of what is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from accel.ast.handles import operations
from accel.ast.handles.literals import typed
from accel.ast.tree.nodes import Literal, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, ComplexType, MaybeType, ScalarType, TupleType
from accel.errors import AccelTypeError, Where

_STRICT: Final[Mapping[Operator, Operator]] = MappingProxyType({
    Operator.LT: Operator.LT, Operator.LE: Operator.LT, Operator.GT: Operator.GT, Operator.GE: Operator.GT,
})  # fmt: skip
"""What decides about items that differ, where others follow."""


def equal(left: object, right: object, where: Where | None) -> ScalarNode:
    """`left == right`; of tuples: of all their items, left to right, as far as needed."""
    kind = operations.common_type("==", (left, right), where)
    if isinstance(kind, ScalarType | ComplexType):
        return operations.apply(Operator.EQ, left, right, where=where, name="==")
    if isinstance(kind, MaybeType):
        raise AccelTypeError(f"== takes numbers, bools or tuples of them, got {kind}", where, hint="see `A.maybe`")
    a, b = (typed(side, kind, "operand of ==", where) for side in (left, right))
    result: ScalarNode = Literal(BOOL, True, where)
    for i in reversed(range(len(kind.items))):
        same = equal(operations.project(a, i, where), operations.project(b, i, where), where)
        result = same if i == len(kind.items) - 1 else operations.both(same, result, where)
    return result


def differ(left: object, right: object, where: Where | None) -> ScalarNode:
    """`left != right`; of tuples: whether any items differ."""
    if isinstance(operations.common_type("!=", (left, right), where), ScalarType | ComplexType):
        return operations.apply(Operator.NE, left, right, where=where, name="!=")
    return operations.apply(Operator.NOT, equal(left, right, where), where=where, name="!=")


def ordered(operator: Operator, left: object, right: object, where: Where | None, name: str) -> ScalarNode:
    """`left < right`, or another comparison of these; of tuples by the first items that differ, as in Python and Accelerate.

    A tuple of no items is equal to itself.
    """
    kind = operations.common_type(name, (left, right), where)
    if not isinstance(kind, TupleType):
        return operations.apply(operator, left, right, where=where, name=name)
    a, b = (typed(side, kind, f"operand of {name}", where) for side in (left, right))
    result: ScalarNode = Literal(BOOL, operator in (Operator.LE, Operator.GE), where)
    for position in reversed(range(len(kind.items))):
        x, y = operations.project(a, position, where), operations.project(b, position, where)
        if position == len(kind.items) - 1:
            result = ordered(operator, x, y, where, name)
        else:
            same = operations.both(equal(x, y, where), result, where)
            result = operations.either(ordered(_STRICT[operator], x, y, where, name), same, where)
    return result


def extreme(operator: Operator, left: object, right: object, where: Where | None, name: str) -> ScalarNode:
    """The lesser or the greater, for `Operator.MIN` or `MAX`; of tuples by `<=`, as in Accelerate."""
    kind = operations.common_type(name, (left, right), where)
    if not isinstance(kind, TupleType):
        return operations.apply(operator, left, right, where=where, name=name)
    a, b = (typed(side, kind, f"operand of {name}", where) for side in (left, right))
    first = ordered(Operator.LE, a, b, where, name)
    return operations.select(first, *((a, b) if operator is Operator.MIN else (b, a)), where)
