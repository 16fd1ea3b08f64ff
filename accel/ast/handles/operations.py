"""Applications of scalar operators, checked: which types each operator takes, and what it gives.

In: operators and raw operands (nodes, numbers). Out: scalar nodes. Raises `AccelTypeError` that says what to write
instead. `accel/ast/handles/exp.py` and `accel/ast/scalars/conversions.py` are the user's spellings of what is here.
"""

from __future__ import annotations

from functools import cache
from typing import NoReturn

import numpy as np

from accel.ast.handles.complex_numbers import arithmetic
from accel.ast.handles.literals import (
    describe,
    is_node,
    natural_type,
    typed,
    untyped,
    usual_number,
    whole_typed,
)
from accel.ast.handles.nothings import joined
from accel.ast.handles.real_numbers.operators import floor_quotient, written_power
from accel.ast.handles.refusals import ANY_SCALAR, not_taken, unequal_types
from accel.ast.tree.nodes import Conditional, Literal, MakeTuple, Operation, Project, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.signatures import accepts, result_type
from accel.ast.tree.types import BOOL, F16, F32, ComplexType, ElementType, MaybeType, ScalarType, TupleType
from accel.errors import AccelTypeError, Where

_ORDERS = ANY_SCALAR - {Operator.EQ, Operator.NE}


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
    elif operator in _ORDERS:
        if isinstance(kind, MaybeType):  # a `nothing()` takes its type from the other side
            kind = branch_type(operands[0], operands[1], where, name)
        left, right = _of_type(kind, name, operands, where)
        if operator not in (Operator.MIN, Operator.MAX):
            return _compared(operator, left, right, where, name)
        first = _compared(Operator.LE, left, right, where, name)
        return select(first, *((left, right) if operator is Operator.MIN else (right, left)), where)
    raise not_taken(operator, name, kind, where)


def _compared(operator: Operator, a: ScalarNode, b: ScalarNode, where: Where | None, name: str) -> ScalarNode:
    """A comparison of two of one type: of tuples by the first items that differ, as in Python and Accelerate.

    A tuple of no items is equal to itself. Nothing is less than what holds a value, as in Accelerate and Haskell.
    """
    kind = a.type
    if isinstance(kind, MaybeType):
        low, high = (a, b) if operator in (Operator.LT, Operator.LE) else (b, a)
        absent = apply(Operator.NOT, project(low, 0, where), where=where)
        values = _compared(operator, project(a, 1, where), project(b, 1, where), where, name)
        if operator in (Operator.LT, Operator.GT):
            return both(project(high, 0, where), either(absent, values, where), where)
        return either(absent, both(project(high, 0, where), values, where), where)
    if not isinstance(kind, TupleType):
        return apply(operator, a, b, where=where, name=name)
    result: ScalarNode = Literal(BOOL, operator in (Operator.LE, Operator.GE), where)
    for position in reversed(range(len(kind.items))):
        x, y = project(a, position, where), project(b, position, where)
        if position == len(kind.items) - 1:
            result = _compared(operator, x, y, where, name)
        else:
            strict = Operator.LT if operator in (Operator.LT, Operator.LE) else Operator.GT
            before = _compared(strict, x, y, where, name)
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
        raise not_taken(operator, name, kind, where)
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
        hint = f"a value is converted by `A.cast(e, np.{target.dtype.type.__name__})`; bits remain as many as they are"
        raise AccelTypeError(f"{name} needs types of equal width, got {kind} and {target}", where, hint=hint)
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
                raise unequal_types(name, first, operand, where)
    if first is None:
        return max([natural_type(operand, f"operand of {name}", where) for operand in operands], key=_strength)
    return first.type


def _meet(one: ElementType, other: ElementType) -> bool:
    """Whether operands of these types may stand side by side; of maybes that is found out later."""
    return one == other or MaybeType in (type(one), type(other))


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
        hint = f"the last one is {len(kind.items) - 1}, or -1" if kind.items else "the index of a scalar has none"
        if len(kind.items) == 1 and isinstance(kind.items[0], TupleType):
            hint = "it is a tuple in a tuple, as `A.lift((a, b))` makes; `A.lift(a, b)` makes a tuple of two"
        raise AccelTypeError(f"an Exp of type {kind} has no item {position}", where, hint=hint)
    return project(source, int(position) % len(kind.items), where)


@cache
def _result_type(operator: Operator, kind: ScalarType) -> ScalarType | None:
    """What an operator gives at a type; None if it does not take that."""
    return result_type(operator, kind) if accepts(operator, kind) else None
