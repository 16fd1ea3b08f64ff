"""Nested tuples of arrays: how what the user writes and what programs work on correspond.

The user passes and gets nested tuples; a program has a flat list of arrays, one per leaf of each element type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, TypeVar, Union, assert_never

from accel.ast.tree.types import ElementType, MaybeType, ScalarType, TupleType

T = TypeVar("T")

Nested: TypeAlias = Union[T, tuple["Nested[T]", ...]]


def flatten(nested: Nested[T]) -> list[T]:
    """The parts that are not tuples, left to right."""
    flat: list[T] = []
    work: list[Nested[T]] = [nested]
    while work:
        part = work.pop()
        if isinstance(part, tuple):
            work.extend(reversed(part))
        else:
            flat.append(part)
    return flat


def element_arrays(element: ElementType, leaves: Iterator[T]) -> Nested[T]:
    """The arrays of one array of elements: a tuple for a tuple, (flags, values) for a maybe, else the next leaf."""
    match element:
        case ScalarType():
            return next(leaves)
        case TupleType(items):
            return tuple([element_arrays(item, leaves) for item in items])
        case MaybeType(value):
            return (next(leaves), element_arrays(value, leaves))
        case _:
            assert_never(element)
