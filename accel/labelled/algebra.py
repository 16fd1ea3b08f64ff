"""What is known of a combining function: its operators, what changes nothing, whether it is exact and whether it commutes.
Also which elements of a fold may be products, and what such elements are made of.

Recognised after simplification, component by component: the k-th result must be one operator on the k-th leaf of each side.
Floating-point + and * commute but are not exact: they do not associate. One function of pairs is known as well: the least or
the greatest value, and the first of the places where it stands. Of anything else nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar, Union

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, F64, I64, ScalarType
from accel.labelled.scalar import Compute, Constant, Function, Operand, Variable, constant
from accel.support.dataclass import dataclass

T = TypeVar("T")

Products: TypeAlias = tuple[int, ...]
"""The components of a fold's element that are products, rising."""


@dataclass(frozen=True, slots=True)
class Monoid:
    """What is known of a combining function.

    operators: the k-th result is `operators[k]` of the k-th leaves of both sides; None if one of them is made otherwise.
    neutral: the k-th element changes nothing when it is combined on either side, bit by bit; None if there is none known.
    exact: any order of combination gives the same bits.
    commutes: the two sides may change places.
    extreme: MIN or MAX, of pairs of which the result is the least or the greatest value and the least place beside it, of NaNs
    if there are some; None for everything else.
    """

    operators: tuple[Operator, ...] | None
    neutral: tuple[Constant, ...] | None
    exact: bool
    commutes: bool
    extreme: Operator | None = None


UNKNOWN = Monoid(None, None, exact=False, commutes=False)
"""Nothing is known: what is no operator on each component, and what was not looked at yet."""


def monoid_of(combine: Function) -> Monoid:
    """What is known of `combine` (of left leaves, then right leaves)."""
    count = len(combine.body.results)
    left, right = combine.parameters[:count], combine.parameters[count:]
    made: dict[Operand, Compute] = {s.out: s for s in combine.body.statements if isinstance(s, Compute)}
    operators, neutral, exact = [], [], True
    for k, result in enumerate(combine.body.results):
        statement = made.get(result)
        if statement is None or statement.arguments not in ((left[k], right[k]), (right[k], left[k])):
            return UNKNOWN
        kind, operator = statement.out.type, statement.operator
        element = _neutral(operator, kind)
        if element is None or left[k].type is not kind:  # a comparison: its result is no operand of the next
            return UNKNOWN
        operators.append(operator)
        neutral.append(element)
        exact = exact and (not kind.is_float or operator in (Operator.MIN, Operator.MAX))
    return Monoid(tuple(operators), tuple(neutral), exact, commutes=True)


BEHIND = constant(I64, I64.maximum)
"""A place behind all others."""


def monoid_of_fold(combine: Function) -> Monoid:
    """The same of a fold's function, also if it finds where an extreme stands: scans and scatters do not ask for that."""
    operator = _extreme(combine)
    value = None if operator is None else _neutral(operator, combine.parameters[0].type)
    if value is None:
        return monoid_of(combine)
    return Monoid(None, (value, BEHIND), exact=True, commutes=True, extreme=operator)


Term: TypeAlias = Union[Operand, tuple[Operator, "tuple[Term, ...] | frozenset[Term]"]]
"""What an operand is computed from; the operands of what commutes in no order."""

_IN_ANY_ORDER = frozenset({Operator.MIN, Operator.MAX, Operator.EQ, Operator.OR})

_LONGEST = 10
"""Statements of the longest function that finds an extreme."""


def _extreme(combine: Function) -> Operator | None:
    """The operator of a function that finds where an extreme stands."""
    statements, results = combine.body.statements, combine.body.results
    made: dict[Operand, Compute] = {s.out: s for s in statements if isinstance(s, Compute)}
    if len(combine.parameters) != 4 or len(statements) > _LONGEST or len(made) < len(statements):
        return None
    terms = tuple([_term(made, result) for result in results])
    if combine.parameters[1].type is not I64:
        return None
    return next((o for o in (Operator.MIN, Operator.MAX) if terms == _extreme_and_place(o, combine.parameters)), None)


def _term(made: Mapping[Operand, Compute], operand: Operand) -> Term:
    statement = made.get(operand)
    if statement is None:
        return operand
    parts = [_term(made, argument) for argument in statement.arguments]
    return statement.operator, frozenset(parts) if statement.operator in _IN_ANY_ORDER else tuple(parts)


def _extreme_and_place(operator: Operator, parameters: Sequence[Variable]) -> tuple[Term, Term]:
    """The extreme of two values, and the least of the places beside those that are equal to it, or NaN."""
    value, _, other, _ = parameters
    best: Term = (operator, frozenset((value, other)))

    def place(value: Variable, place: Variable) -> Term:
        stands: Term = (Operator.EQ, frozenset((value, best)))
        if value.type.is_float:
            stands = (Operator.OR, frozenset((stands, (Operator.IS_NAN, (value,)))))
        return Operator.SELECT, (stands, place, BEHIND)

    return best, (Operator.MIN, frozenset((place(*parameters[:2]), place(*parameters[2:]))))


def _neutral(operator: Operator, kind: ScalarType) -> Constant | None:
    if kind.is_float:
        infinity = float("inf")
        # -0.0, since 0.0 + -0.0 is 0.0.
        values = {Operator.ADD: -0.0, Operator.MUL: 1.0, Operator.MIN: infinity, Operator.MAX: -infinity}
        return constant(kind, values[operator]) if operator in values else None
    integers = {
        Operator.ADD: 0,
        Operator.MUL: 1,
        Operator.MIN: kind.maximum,
        Operator.MAX: kind.minimum,
        Operator.AND: (1 << kind.bits) - 1 if not kind.is_signed else -1,
        Operator.OR: 0,
        Operator.XOR: 0,
    }
    return constant(kind, integers[operator]) if operator in integers else None


def may_be_products(monoid: Monoid, kinds: Sequence[ScalarType]) -> list[int]:
    """The components that are sums of f32 or f64: of these alone a product is added in one rounding.

    Processors have no such instruction for f16, and would have to go through 64 bits for each product.
    """
    if monoid.operators is None:
        return []
    pairs = zip(monoid.operators, kinds, strict=True)
    return [k for k, (operator, kind) in enumerate(pairs) if operator is Operator.ADD and kind in (F32, F64)]


def by_component(leaves: Sequence[T], products: Products) -> list[tuple[T, ...]]:
    """The leaves of an element, component by component: two factors where it is a product, else one leaf."""
    found: list[tuple[T, ...]] = []
    rest = list(leaves)
    while rest:
        width = 2 if len(found) in products else 1
        found.append(tuple(rest[:width]))
        del rest[:width]
    return found


def element_types(kinds: Sequence[ScalarType], products: Products) -> list[ScalarType]:
    """The types of an element's leaves; `kinds` are those of a partial result."""
    return [kind for k, kind in enumerate(kinds) for _ in range(2 if k in products else 1)]
