"""Applications of scalar operators, checked: which types each operator takes, and what it gives.

In: operators and raw operands (nodes, numbers). Out: scalar nodes. Raises `AccelTypeError` that says what to write
instead. `accel/ast/handles/exp.py` and `accel/ast/scalars/conversions.py` are the user's spellings of what is here.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NoReturn

import numpy as np

from accel.ast.handles.complex_numbers import arithmetic
from accel.ast.handles.literals import (
    describe,
    is_node,
    natural_type,
    same_place,
    typed,
    untyped,
    usual_number,
    whole_typed,
)
from accel.ast.handles.nothings import joined
from accel.ast.handles.real_numbers.operators import floor_quotient, written_power
from accel.ast.tree.nodes import Conditional, Literal, MakeTuple, Operation, Project, ScalarNode
from accel.ast.tree.operators import COMPARISONS, COUNTS, ELEMENTARY, PREDICATES, SHIFTS, Operator
from accel.ast.tree.signatures import accepts, result_type
from accel.ast.tree.types import BOOL, F16, F32, I64, ComplexType, ElementType, MaybeType, ScalarType, TupleType
from accel.errors import AccelTypeError, Where

FLOATS: Final = (
    (ELEMENTARY - {Operator.POW})
    | PREDICATES
    | {Operator.SQRT, Operator.FMA, Operator.FLOOR, Operator.CEIL, Operator.TRUNC, Operator.ROUND, Operator.COPYSIGN}
)
"""Operators that take floats only."""
_INTEGERS = COUNTS | SHIFTS | {Operator.QUOT, Operator.REM}
_INTEGERS_OR_BOOL = frozenset({Operator.AND, Operator.OR, Operator.XOR, Operator.NOT})
_ANY_SCALAR = COMPARISONS | {Operator.MIN, Operator.MAX}
_ORDERS = _ANY_SCALAR - {Operator.EQ, Operator.NE}

_INDEX_HINT = "an index is a tuple, also of one item: `ix[0]`, or `i, j = A.unlift(ix)`"

_PARTS_HINT = "of a complex number take a part first: `A.real(z)`, `A.imag(z)`, `A.magnitude(z)`"

_KINDS: Final = (
    (FLOATS, "floats"),
    (_INTEGERS, "integers"),
    (_INTEGERS_OR_BOOL, "integers or bools"),
    (_ANY_SCALAR, "numbers or bools"),
)
"""What errors say that operators take; all others take integers or floats."""


def apply(operator: Operator, *operands: object, where: Where | None, name: str | None = None) -> ScalarNode:
    """`operator` at operands of one type, to which Python numbers adapt; `name` is what the user wrote.

    Raises `AccelTypeError` if types differ or the operator does not take them.
    """
    name = name or str(operator)
    kind = common_type(name, operands, where)
    if isinstance(kind, ScalarType):
        result = _result_type(operator, kind)
        if result is not None:
            arguments = _of_type(kind, name, operands, where)
            quick = written_power(arguments, where) if operator is Operator.POW and kind.is_float else None
            return Operation(operator, arguments, result, where) if quick is None else quick
    elif isinstance(kind, ComplexType):
        found = arithmetic.apply(operator, _of_type(kind, name, operands, where), where)
        if found is not None:
            return found
    elif isinstance(kind, TupleType) and operator in _ORDERS:
        return _of_tuples(operator, _of_type(kind, name, operands, where), kind, where, name)
    raise _not_taken(operator, name, kind, where)


def _of_tuples(
    operator: Operator, operands: tuple[ScalarNode, ...], kind: TupleType, where: Where | None, name: str
) -> ScalarNode:
    """A comparison by the first items that differ, as in Python and Accelerate, or the lesser or greater by `<=`.

    A tuple of no items is equal to itself.
    """
    a, b = operands
    if operator in (Operator.MIN, Operator.MAX):
        first = _of_tuples(Operator.LE, operands, kind, where, name)
        return select(first, *((a, b) if operator is Operator.MIN else (b, a)), where)
    result: ScalarNode = Literal(BOOL, operator in (Operator.LE, Operator.GE), where)
    for position in reversed(range(len(kind.items))):
        x, y = project(a, position, where), project(b, position, where)
        if position == len(kind.items) - 1:
            result = apply(operator, x, y, where=where, name=name)
        else:
            strict = Operator.LT if operator in (Operator.LT, Operator.LE) else Operator.GT
            before = apply(strict, x, y, where=where, name=name)
            result = either(before, both(equal(x, y, where), result, where), where)
    return result


def positive(value: object, where: Where | None) -> ScalarNode:
    """`+value` of a number: itself."""
    node = untyped(value, "operand 1 of +", where)
    apply(Operator.NEG, node, where=where, name="+")  # for its check of the type
    return node


def divide(left: object, right: object, where: Where | None) -> ScalarNode:
    """`left / right` of floats. Integers are refused: they divide by `//`."""
    kind = common_type("/", (left, right), where)
    if isinstance(kind, ScalarType) and kind.is_integer:
        hint = "write `//`, or convert first: `A.toFloating(e, np.float64)`"
        raise AccelTypeError(f"/ takes floats, got {kind}", where, hint=hint)
    return apply(Operator.DIV, left, right, where=where, name="/")


def floor_divide(left: object, right: object, where: Where | None) -> ScalarNode:
    """`left // right`, rounded down: the integer of `divmod`, for floats as a float."""
    kind = common_type("//", (left, right), where)
    if isinstance(kind, ScalarType) and kind.is_float:
        dividend, divisor = _of_type(kind, "//", (left, right), where)
        if kind is F16:  # NumPy's has the quotient of float32, too
            wide = [convert(Operator.CAST, side, F32, where, "//") for side in (dividend, divisor)]
            return convert(Operator.CAST, floor_quotient(wide[0], wide[1], F32, where), F16, where, "//")
        return floor_quotient(dividend, divisor, kind, where)
    if isinstance(kind, ComplexType):
        raise AccelTypeError(f"// takes integers or floats, got {kind}", where, hint="write `/`")
    return apply(Operator.DIV, left, right, where=where, name="//")


def refuse_modulo(where: Where | None) -> NoReturn:
    """Python's `pow(x, n, m)`, which never makes the power itself."""
    raise AccelTypeError("pow takes a base and an exponent, got a modulus as well", where, hint="write `x**n % m`")


def shift(operator: Operator, value: object, amount: object, where: Where | None, name: str) -> Operation:
    """A shift or rotation of an integer by an i64 amount."""
    node = untyped(value, f"operand 1 of {name}", where)
    kind = node.type
    if not isinstance(kind, ScalarType) or not accepts(operator, kind):
        raise _not_taken(operator, name, kind, where)
    return Operation(operator, (node, whole_typed(amount, f"the amount of {name}", where)), kind, where)


def convert(
    operator: Operator, value: object, target: ScalarType | ComplexType, where: Where | None, name: str
) -> ScalarNode:
    """`cast` or `bitcast` of a scalar to `target`; the identity where it changes nothing."""
    node = untyped(value, f"operand of {name}", where)
    kind = node.type
    if isinstance(target, ComplexType) or isinstance(kind, ComplexType):
        return _convert_complex(operator, node, target, where, name)
    if not isinstance(kind, ScalarType):
        raise AccelTypeError(f"{name} takes a scalar, got {kind}", where, hint="convert item by item: `A.lift(...)`")
    if kind is target:
        return node
    if operator is Operator.BITCAST and (BOOL in (kind, target) or kind.bits != target.bits):
        raise AccelTypeError(f"{name} needs types of equal width, got {kind} and {target}", where)
    return Operation(operator, (node,), target, where)


def _convert_complex(
    operator: Operator, node: ScalarNode, target: ScalarType | ComplexType, where: Where | None, name: str
) -> ScalarNode:
    """A conversion from or to complex numbers, part by part. To a real type there is none but to bool: is it not 0?"""
    kind = node.type
    if kind == target:
        return node
    if not isinstance(kind, ScalarType | ComplexType):
        raise AccelTypeError(f"{name} takes a scalar, got {kind}", where, hint="convert item by item: `A.lift(...)`")
    if operator is Operator.BITCAST:
        hint = "take its parts, or make one: `A.real(z)`, `A.imag(z)`, `A.mkComplex(x, y)`"
        raise AccelTypeError(f"{name} takes no complex numbers, got {kind} and {target}", where, hint=hint)
    if isinstance(kind, ScalarType):
        assert isinstance(target, ComplexType)
        part = convert(operator, node, target.part, where, name)
        return MakeTuple((part, Literal(target.part, 0.0, where)), target, where)
    if isinstance(target, ComplexType):
        parts = [convert(operator, project(node, position, where), target.part, where, name) for position in (0, 1)]
        return MakeTuple(tuple(parts), target, where)
    if target is BOOL:
        return differ(node, 0, where)
    hint = f"take one part, and convert that: `A.cast(A.real(z), np.{target.dtype})`"
    raise AccelTypeError(f"{name} of a complex number to {target} would lose a part", where, hint=hint)


def common_type(name: str, operands: tuple[object, ...], where: Where | None) -> ElementType:
    """The type that the operands share. Python numbers have none, unless they are alone."""
    first: ScalarNode | None = None
    for operand in operands:
        if is_node(operand):
            if first is None:
                first = operand
            elif operand.type is not first.type and not _meet(first.type, operand.type):
                raise _unequal_types(name, first, operand, where)
    if first is None:
        return max([natural_type(operand, f"operand of {name}", where) for operand in operands], key=_strength)
    return first.type


def _meet(one: ElementType, other: ElementType) -> bool:
    """Whether operands of these types may stand side by side; of maybes that is found out later."""
    return one == other or MaybeType in (type(one), type(other))


def _unequal_types(name: str, first: ScalarNode, node: ScalarNode, where: Where | None) -> AccelTypeError:
    places = tuple((f"the {n.type} is made here:", n.where) for n in (first, node) if not same_place(n.where, where))
    message = f"{name} needs operands of one type, got {first.type} and {node.type}"
    return AccelTypeError(message, where, others=places, hint=_conversion_hint(first.type, node.type))


def _strength(kind: ScalarType | ComplexType) -> int:
    """Which of the types of Python numbers the others adapt to."""
    return 3 if isinstance(kind, ComplexType) else 2 if kind.is_float else int(kind is not BOOL)


def alike(name: str, operands: tuple[object, ...], where: Where | None) -> tuple[ScalarNode, ...]:
    """The operands as nodes of the type that they share."""
    return _of_type(common_type(name, operands, where), name, operands, where)


def _of_type(kind: ElementType, name: str, operands: tuple[object, ...], where: Where | None) -> tuple[ScalarNode, ...]:
    nodes: list[ScalarNode] = []
    for operand in operands:
        if is_node(operand) and operand.type is kind:
            nodes.append(operand)
        elif (literal := usual_number(operand, kind, where)) is not None:
            nodes.append(literal)
        else:
            nodes.append(typed(operand, kind, f"operand {len(nodes) + 1} of {name}", where))
    return tuple(nodes)


def equal(left: object, right: object, where: Where | None) -> ScalarNode:
    """`left == right`; of tuples: of all their items, left to right, as far as needed; of maybes: of what they hold."""
    kind = common_type("==", (left, right), where)
    if isinstance(kind, ScalarType | ComplexType):
        return apply(Operator.EQ, left, right, where=where, name="==")
    if isinstance(kind, MaybeType):
        return _of_maybes(left, right, where)
    a, b = (typed(side, kind, "operand of ==", where) for side in (left, right))
    result: ScalarNode = Literal(BOOL, True, where)
    for i in reversed(range(len(kind.items))):
        same = equal(project(a, i, where), project(b, i, where), where)
        result = same if i == len(kind.items) - 1 else both(same, result, where)
    return result


def _of_maybes(left: object, right: object, where: Where | None) -> ScalarNode:
    """Whether both hold nothing or equal values; a `nothing()` takes its type from the other side."""
    kind = branch_type(left, right, where, "==")
    a, b = (typed(side, kind, "operand of ==", where) for side in (left, right))
    present, values = (equal(project(a, part, where), project(b, part, where), where) for part in (0, 1))
    absent = apply(Operator.NOT, project(a, 0, where), where=where)
    return both(present, either(absent, values, where), where)


def differ(left: object, right: object, where: Where | None) -> ScalarNode:
    """`left != right`; of tuples: whether any items differ."""
    if isinstance(common_type("!=", (left, right), where), ScalarType | ComplexType):
        return apply(Operator.NE, left, right, where=where, name="!=")
    return apply(Operator.NOT, equal(left, right, where), where=where, name="!=")


def conjunction(left: object, right: object, where: Where | None) -> ScalarNode:
    """`left & right`: bit by bit for integers, lazy for bools."""
    if common_type("&", (left, right), where) is BOOL:
        return both(left, right, where)
    return apply(Operator.AND, left, right, where=where, name="&")


def disjunction(left: object, right: object, where: Where | None) -> ScalarNode:
    """`left | right`: bit by bit for integers, lazy for bools."""
    if common_type("|", (left, right), where) is BOOL:
        return either(left, right, where)
    return apply(Operator.OR, left, right, where=where, name="|")


def both(left: object, right: object, where: Where | None) -> Conditional:
    """`left and right` of bools; the right side is not evaluated when the left is false."""
    left, right = (typed(side, BOOL, "operand of &", where) for side in (left, right))
    return Conditional(left, right, Literal(BOOL, False, where), BOOL, where)


def either(left: object, right: object, where: Where | None) -> Conditional:
    """`left or right` of bools; the right side is not evaluated when the left is true."""
    left, right = (typed(side, BOOL, "operand of |", where) for side in (left, right))
    return Conditional(left, Literal(BOOL, True, where), right, BOOL, where)


def choose(condition: object, then: object, orelse: object, where: Where | None, name: str) -> Conditional:
    """A lazy choice between values of one type. A `nothing()` takes the other branch's type."""
    test = typed(condition, BOOL, f"the condition of {name}", where)
    kind = branch_type(then, orelse, where, name)
    a, b = (typed(branch, kind, f"a branch of {name}", where) for branch in (then, orelse))
    return Conditional(test, a, b, kind, where)


def select(condition: ScalarNode, then: ScalarNode, orelse: ScalarNode, where: Where | None) -> ScalarNode:
    """A strict choice between nodes of one type, leaf by leaf."""
    kind = then.type
    if isinstance(kind, ScalarType):
        return Operation(Operator.SELECT, (condition, then, orelse), kind, where)
    count = 2 if isinstance(kind, MaybeType) else len(kind.items)
    pairs = [(project(then, i, where), project(orelse, i, where)) for i in range(count)]
    return MakeTuple(tuple(select(condition, a, b, where) for a, b in pairs), kind, where)


def branch_type(then: object, orelse: object, where: Where | None, name: str) -> ElementType:
    """The type that two branches share; a `nothing()` in one takes its type from the other."""
    nodes = [node for node in (then, orelse) if is_node(node)]
    if not nodes and not isinstance(then, tuple):
        return common_type(name, (then, orelse), where)
    if not nodes:
        return untyped(then, f"a branch of {name}", where).type
    if len(nodes) == 2:
        both_ways = joined(nodes[0].type, nodes[1].type)
        if both_ways is not None:
            return both_ways
    return common_type(name, tuple(nodes), where)


def project(source: ScalarNode, position: int, where: Where | None) -> ScalarNode:
    """Item `position` of a tuple, part `position` of a maybe or complex number; of one just made, the item itself."""
    kind = source.type
    assert not isinstance(kind, ScalarType)
    if isinstance(source, MakeTuple):
        return source.items[position]
    items = (BOOL, kind.value) if isinstance(kind, MaybeType) else kind.items
    return Project(source, position, items[position], where)


def item(source: ScalarNode, position: object, where: Where | None) -> ScalarNode:
    """Item `position` of a tuple, counted from its end if negative. Raises `AccelTypeError` if there is none."""
    kind = source.type
    if not isinstance(kind, TupleType):
        hint = "only tuples have items; an array is indexed before it becomes a scalar: `xs[i]`"
        if isinstance(kind, ComplexType):
            hint = "only tuples have items; a complex number has parts: `A.real(z)`, `A.imag(z)`"
        raise AccelTypeError(f"an Exp of type {kind} has no items", where, hint=hint)
    if is_node(position):
        raise AccelTypeError("the item of a tuple is chosen by a Python int, not by an Exp", where, hint="see `A.cond`")
    if not isinstance(position, int | np.integer):
        hint = "several items: `a, b = A.unlift(p)`"
        raise AccelTypeError(f"the item of a tuple is chosen by an int, got {describe(position)}", where, hint=hint)
    if not -len(kind.items) <= position < len(kind.items):
        raise AccelTypeError(f"an Exp of type {kind} has no item {position}", where)
    return project(source, int(position) % len(kind.items), where)


@cache
def _result_type(operator: Operator, kind: ScalarType) -> ScalarType | None:
    """What an operator gives at a type; None if it does not take that."""
    return result_type(operator, kind) if accepts(operator, kind) else None


def _not_taken(operator: Operator, name: str, kind: ElementType, where: Where | None) -> AccelTypeError:
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
        return f"complex numbers have no order; {parts}" if operator in _ANY_SCALAR else _PARTS_HINT
    if kind is BOOL:
        return "use `&`, `|`, `~` on bools, or count them: `A.boolToInt(b)`"
    if kind.is_integer and operator in FLOATS:
        return "convert first: `A.toFloating(e, np.float64)`"
    return "convert first: `A.floor(e)` or `A.truncate(e)`" if kind.is_float else None


def _conversion_hint(left: ElementType, right: ElementType) -> str | None:
    if TupleType((I64,)) in (left, right):
        return _INDEX_HINT
    if isinstance(left, ComplexType) and isinstance(right, ScalarType | ComplexType):
        return f"convert one of them, such as `A.cast(e, np.{left.dtype})`"
    if isinstance(right, ComplexType) and isinstance(left, ScalarType):
        return f"convert one of them, such as `A.cast(e, np.{right.dtype})`"
    if not isinstance(left, ScalarType) or not isinstance(right, ScalarType):
        return None
    target = max(left, right, key=lambda kind: (kind.is_float, kind.bits))
    return f"convert one of them, such as `A.cast(e, np.{target.dtype})`"
