"""`nothing()` takes its type from what it meets, also within tuples and other maybes.

A type may hold `NOTHING_YET` where a `nothing()` has met nothing. In: two types that meet, or a node and the type that is due.
Out: the more definite type, the node with that type. Only types are recursed on, never the depth of an expression.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from accel.ast.tree.nodes import Conditional, Literal, MakeTuple, ScalarNode
from accel.ast.tree.types import BOOL, ComplexType, ElementType, MaybeType, ScalarType, TupleType
from accel.errors import Where

NOTHING_YET = MaybeType(TupleType(()))
"""The type of a `nothing()` that has met nothing: a maybe of the empty tuple."""

Due: TypeAlias = tuple[ScalarNode, ElementType]
"""A node, and the type that it shall have."""


def zero(element: ElementType, where: Where | None) -> ScalarNode:
    """The zero of a type: 0, False, tuples of zeros, nothing."""
    match element:
        case ScalarType():
            value = False if element is BOOL else (0.0 if element.is_float else 0)
            return Literal(element, value, where)
        case TupleType(items):
            return MakeTuple(tuple(zero(item, where) for item in items), element, where)
        case ComplexType():
            return MakeTuple((zero(element.part, where), zero(element.part, where)), element, where)
        case MaybeType(value_type):
            return MakeTuple((zero(BOOL, where), zero(value_type, where)), element, where)
        case _:
            assert_never(element)


def joined(left: ElementType, right: ElementType) -> ElementType | None:
    """The type of both but for what is `NOTHING_YET` in one of them; None if they differ elsewhere."""
    match left, right:
        case MaybeType(), MaybeType() if NOTHING_YET in (left, right):
            return left if right == NOTHING_YET else right
        case MaybeType(a), MaybeType(b):
            value = joined(a, b)
            return None if value is None else MaybeType(value)
        case TupleType(these), TupleType(those) if len(these) == len(those):
            items = tuple(item for pair in zip(these, those, strict=True) if (item := joined(*pair)) is not None)
            met = TupleType(items)
            return left if met == left else met if len(items) == len(these) else None
        case _:
            return left if left == right else None


def has_met_nothing(node: ScalarNode) -> bool:
    """Whether there is a `nothing()` in a value that could be a maybe of anything."""
    kind = node.type
    if isinstance(kind, ScalarType):
        return False
    definite = _definite(kind)
    return definite != kind and filled(node, definite) is not None


def _definite(kind: ElementType) -> ElementType:
    """A type with some other maybe for each that a `nothing()` may have."""
    match kind:
        case MaybeType(value):
            return MaybeType(BOOL if kind == NOTHING_YET else _definite(value))
        case TupleType(items):
            made = tuple(map(_definite, items))
            return kind if made == items else TupleType(made)
        case ScalarType() | ComplexType():
            return kind
        case _:
            assert_never(kind)


def filled(node: ScalarNode, expected: ElementType) -> ScalarNode | None:
    """`node` with type `expected`, if they differ only in a `nothing()`; None if they differ elsewhere."""
    done: dict[Due, ScalarNode] = {}
    todo: list[Due] = [(node, expected)]
    while todo:
        top, kind = todo[-1]
        parts = _parts(top, kind)
        if parts is None:
            return None
        missing = [part for part in parts if part not in done]
        todo += missing
        if not missing:
            done[todo.pop()] = _with_parts(top, kind, [done[part] for part in parts])
    return done[node, expected]


def _parts(node: ScalarNode, kind: ElementType) -> list[Due] | None:
    """What must be filled before `node` can have type `kind`; None if it cannot."""
    if node.type == kind:
        return []
    if joined(node.type, kind) != kind:
        return None
    match node:
        case MakeTuple((Literal(ScalarType.BOOL, False), _), MaybeType()):
            return []
        case Conditional(_, then, orelse):
            return [(then, kind), (orelse, kind)]
        case MakeTuple(items):
            return list(zip(items, _items(kind), strict=True))
        case _:
            return None


def _items(kind: ElementType) -> tuple[ElementType, ...]:
    match kind:
        case TupleType(items):
            return items
        case MaybeType(value):
            return (BOOL, value)
        case ScalarType() | ComplexType():
            return ()
        case _:
            assert_never(kind)


def _with_parts(node: ScalarNode, kind: ElementType, parts: list[ScalarNode]) -> ScalarNode:
    if node.type == kind:
        return node
    match node:
        case Conditional(condition):
            then, orelse = parts
            return Conditional(condition, then, orelse, kind, node.where)
        case MakeTuple() if parts:
            assert not isinstance(kind, ScalarType)
            return MakeTuple(tuple(parts), kind, node.where)
        case _:
            return zero(kind, node.where)
