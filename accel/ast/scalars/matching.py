"""`match`: the first of several cases that fits a scalar.

In: `Exp`s, numbers, patterns as users write them. Out: `Exp`s, chains of lazy choices. Raises `AccelTypeError` for what is no
case, and for patterns and values of other types than the rest. `match` is typed for each number of cases in
`accel/ast/combinators/overloads.pyi`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, assert_never

import numpy as np

from accel.ast.handles import operations
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.function import apply, expect_exp
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe, is_node, natural_type, typed, untyped
from accel.ast.handles.nothings import joined
from accel.ast.tree.nodes import Conditional, Literal, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, ComplexType, ElementType, MaybeType, ScalarType, TupleType
from accel.errors import AccelTypeError, Where, here


def match(x: object, /, *cases: object) -> Exp[Any]:
    """The value of the first case `(pattern, value)` that fits `x`, else the last argument, the default.

    A pattern is a value that `x` must equal (of maybes: both nothing, or both just what is equal), `...`, which fits
    everything, a condition `lambda v: …` on `x`, or for a tuple a Python tuple of patterns, one for each item. Cases are tried
    in order; neither the patterns after the one that fits are evaluated nor the values of other cases. All values have one
    type. Raises `AccelTypeError` otherwise. Accelerate's `match` with patterns, and chains of guards.
    `A.match(x, (0, 1.0), (lambda v: v < 0, 2.0), 3.0)` is 1 at 0, 2 below it and 3 above.

    >>> A.run(A.map(lambda x: A.match(x, (0, 10), (1, 11), 12), A.use(np.arange(4))))
    array([10, 11, 12, 12])
    """
    where = here()
    pairs, default = _pairs(cases, where)
    subject = untyped(raw(x), "the first argument of match", where)
    values = [raw(value) for _, value in pairs]
    kind = _common([*values, raw(default)], where)
    chosen = typed(raw(default), kind, "the default of match", where)
    for number in reversed(range(len(pairs))):
        value = typed(values[number], kind, f"the value of case {number} of match", where)
        fits = _fits(pairs[number][0], subject, f"the pattern of case {number} of match", where)
        chosen = Conditional(fits, value, chosen, kind, where)
    return Exp(chosen)


def _pairs(cases: Sequence[object], where: Where | None) -> tuple[list[tuple[object, object]], object]:
    """The cases, and the default."""
    hint = "write `A.match(x, (pattern, value), …, default)`"
    if not cases or isinstance(cases[-1], tuple):
        raise AccelTypeError(
            "match needs a value without a pattern as its last argument, the default", where, hint=hint
        )
    pairs: list[tuple[object, object]] = []
    for number, case in enumerate(cases[:-1]):
        if not isinstance(case, tuple) or len(case) != 2:
            raise AccelTypeError(f"case {number} of match must be a pair, got {describe(raw(case))}", where, hint=hint)
        pairs.append(case)
    return pairs, cases[-1]


def _common(values: Sequence[object], where: Where | None) -> ElementType:
    """The type that all values share. Python numbers take it; a `nothing()` takes it from the others."""
    kinds = [value.type if is_node(value) else None for value in values]
    kinds += [natural_type(value, "a value of match", where) for value in values if isinstance(value, np.generic)]
    known = [kind for kind in kinds if kind is not None]
    if not known:
        return operations.common_type("match", tuple(values), where)
    found = known[0]
    for kind in known[1:]:
        both = joined(found, kind)
        if both is None:
            hint = f"convert one: `A.cast(e, …)`, to {found} or to {kind}"
            raise AccelTypeError(f"match needs values of one type, got {found} and {kind}", where, hint=hint)
        found = both
    return found


def _fits(pattern: object, subject: ScalarNode, what: str, where: Where | None) -> ScalarNode:
    """Whether a pattern fits."""
    if pattern is ...:
        return Literal(BOOL, True, where)
    if is_function(pattern):
        value = apply(pattern, [Exp(subject)], what, where)
        return typed(expect_exp(value, what, where, [subject.type], BOOL), BOOL, f"the result of {what}", where)
    if isinstance(pattern, tuple):
        if not isinstance(subject.type, TupleType) or len(subject.type.items) != len(pattern):
            hint = "a pattern has one item for each of a tuple's; `...` fits anything"
            message = f"{what} has {len(pattern)} items, but what is matched is {subject.type}"
            raise AccelTypeError(message, where, hint=hint)
        items = enumerate(pattern)
        return _all(
            [_fits(p, operations.project(subject, i, where), what, where) for i, p in items if p is not ...], where
        )
    return _equal(subject, typed(raw(pattern), subject.type, what, where), where)


def _equal(left: ScalarNode, right: ScalarNode, where: Where | None) -> ScalarNode:
    """Whether two values of one type are equal, also maybes, which `==` does not take."""

    def part(position: int) -> ScalarNode:
        return _equal(operations.project(left, position, where), operations.project(right, position, where), where)

    match left.type:
        case ScalarType() | ComplexType():
            return operations.equal(left, right, where)
        case TupleType(items):
            return _all([part(position) for position in range(len(items))], where)
        case MaybeType():
            this, that = (operations.project(side, 0, where) for side in (left, right))
            neither = operations.apply(Operator.NOT, this, where=where)
            return Conditional(that, operations.both(this, part(1), where), neither, BOOL, where)
        case _:
            assert_never(left.type)


def _all(conditions: Sequence[ScalarNode], where: Where | None) -> ScalarNode:
    """Whether all hold, asked from left to right as far as needed."""
    if not conditions:
        return Literal(BOOL, True, where)
    return reduce(lambda rest, each: operations.both(each, rest, where), reversed(conditions[:-1]), conditions[-1])
