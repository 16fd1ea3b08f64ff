"""What scalar operators take, and the errors of what they do not take, with what to write instead.

In: operators, types, nodes. Out: `AccelTypeError`s, for the caller to raise.
"""

from __future__ import annotations

from typing import Final

from accel.ast.handles.literals import part_of, same_place, usual_number
from accel.ast.tree.nodes import Conditional, Literal, Operation, ScalarNode
from accel.ast.tree.operators import COMPARISONS, COUNTS, ELEMENTARY, PREDICATES, SHIFTS, Operator
from accel.ast.tree.types import BOOL, I64, ComplexType, ElementType, MaybeType, ScalarType, TupleType
from accel.errors import AccelTypeError, Where

FLOATS: Final = (
    (ELEMENTARY - {Operator.POW})
    | PREDICATES
    | {Operator.SQRT, Operator.FMA, Operator.FLOOR, Operator.CEIL, Operator.TRUNC, Operator.ROUND, Operator.COPYSIGN}
)
"""Operators that take floats only."""
_INTEGERS = COUNTS | SHIFTS | {Operator.QUOT, Operator.REM}
_INTEGERS_OR_BOOL = frozenset({Operator.AND, Operator.OR, Operator.XOR, Operator.NOT})
ANY_SCALAR: Final = COMPARISONS | {Operator.MIN, Operator.MAX}
"""Operators that take numbers and bools."""

_INDEX_HINT = "an index is a tuple, also of one item: `ix[0]`, or `i, j = A.unlift(ix)`"

_PARTS_HINT = "of a complex number take a part first: `A.real(z)`, `A.imag(z)`, `A.magnitude(z)`"

_LOOKED_AT: Final = 32
"""Operations of an expression that are looked at for a hint."""

_KINDS: Final = (
    (FLOATS, "floats"),
    (_INTEGERS, "integers"),
    (_INTEGERS_OR_BOOL, "integers or bools"),
    (ANY_SCALAR, "numbers or bools"),
)
"""What errors say that operators take; all others take integers or floats."""


def not_taken(operator: Operator, name: str, kind: ElementType, where: Where | None) -> AccelTypeError:
    """The operator, which the user wrote as `name`, does not take that type."""
    takes = next((words for operators, words in _KINDS if operator in operators), "integers or floats")
    return AccelTypeError(f"{name} takes {takes}, got {kind}", where, hint=_operand_hint(operator, kind))


def _operand_hint(operator: Operator, kind: ElementType) -> str | None:
    if isinstance(kind, TupleType) and set(kind.items) == {I64}:
        return _INDEX_HINT
    if isinstance(kind, TupleType):
        return "work on the items: `A.lift(p[0] + q[0], p[1] + q[1])`"
    if isinstance(kind, MaybeType):
        return "take the value out first: `A.fromMaybe(default, m)`"
    if isinstance(kind, ComplexType):
        parts = "a part of a complex number has one: `A.real(z)`, `A.imag(z)`, `A.magnitude(z)`"
        return f"complex numbers have no order; {parts}" if operator in ANY_SCALAR else _PARTS_HINT
    if kind is BOOL:
        return "use `&`, `|`, `~` on bools, or count them: `A.boolToInt(b)`"
    if kind.is_integer and operator in FLOATS:
        return "convert first: `A.toFloating(e, np.float64)`"
    return "convert first: `A.floor(e)` or `A.truncate(e)`" if kind.is_float else None


def unequal_types(name: str, first: ScalarNode, node: ScalarNode, where: Where | None) -> AccelTypeError:
    """Two operands of `name` have different types."""
    places = tuple((f"the {n.type} is made here:", n.where) for n in (first, node) if not same_place(n.where, where))
    message = f"{name} needs operands of one type, got {first.type} and {node.type}"
    hint = _literals_hint(first, node) or _literals_hint(node, first) or _conversion_hint(first.type, node.type)
    return AccelTypeError(message, where, others=places, hint=hint)


def _literals_hint(node: ScalarNode, other: ScalarNode) -> str | None:
    """What to write where numbers of the text chose a type before they met the other operand."""
    for found in _literals(node):
        fitting = usual_number(found.value, other.type, None)
        if fitting is not None:
            spelt = f"`A.constant({found.value!r}, np.{fitting.type.dtype})`"
            return f"numbers that meet only each other are of type {node.type}; write {spelt} for one of them"
    return None


def _literals(node: ScalarNode) -> list[Literal]:
    """The numbers that an expression consists of, in order; none if others than those of the text are among them, but for
    conditions."""
    pending, found = [node], list[Literal]()
    for _ in range(_LOOKED_AT):
        match pending.pop():
            case Literal() as literal:
                found.append(literal)
            case Conditional(_, then, orelse):
                pending += [orelse, then]
            case Operation(operator, arguments) if operator is Operator.SELECT:
                pending += reversed(arguments[1:])
            case Operation(operator, arguments) if operator not in COMPARISONS | COUNTS:
                pending += reversed(arguments)
            case _:
                return []
        if not pending:
            return found
    return []


def _conversion_hint(left: ElementType, right: ElementType) -> str | None:
    if TupleType((I64,)) in (left, right):
        return _INDEX_HINT
    if isinstance(left, ComplexType) and isinstance(right, ScalarType | ComplexType):
        return f"convert one of them, such as `A.cast(e, np.{left.dtype})`"
    if isinstance(right, ComplexType) and isinstance(left, ScalarType):
        return f"convert one of them, such as `A.cast(e, np.{right.dtype})`"
    if not isinstance(left, ScalarType) or not isinstance(right, ScalarType):
        return part_of(left) or part_of(right)
    target = max(left, right, key=lambda kind: (kind.is_float, kind.bits))
    return f"convert one of them, such as `A.cast(e, np.{target.dtype})`"
