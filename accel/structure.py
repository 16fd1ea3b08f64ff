"""Nested tuples of arrays: how what the user writes and what programs work on correspond.

The user passes and gets nested tuples; a program has a flat list of arrays, one per leaf of each element type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, TypeVar, Union, assert_never

import numpy as np

from accel.ast.tree.host_functions import HostArray
from accel.ast.tree.types import ComplexType, ElementType, MaybeType, RecordType, ScalarType, TupleType

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


def like(template: tuple[object, ...], parts: Iterable[T]) -> tuple[T, ...]:
    """The parts as a tuple, a named one of the template's class if that is one."""
    if not hasattr(template, "_fields"):
        return tuple(parts)
    return tuple.__new__(type(template), parts)  # type: ignore[arg-type]  # its class says nothing of its parts


def element_arrays(element: ElementType, leaves: Iterator[HostArray]) -> Nested[HostArray]:
    """The arrays of one array of elements: a tuple for a tuple, (flags, values) for a maybe, else the next leaf.

    For a record what it is made of: a named tuple, or one structured array, for which the leaves are copied; they are for a
    complex number, too.
    """
    match element:
        case ScalarType():
            return next(leaves)
        case RecordType(items, record):
            return _record(record, tuple([element_arrays(item, leaves) for item in items]))
        case TupleType(items):
            return tuple([element_arrays(item, leaves) for item in items])
        case MaybeType(value):
            return (next(leaves), element_arrays(value, leaves))
        case ComplexType():
            return _complex(element, next(leaves), next(leaves))
        case _:
            assert_never(element)


def has_leaves(element: ElementType, given: object) -> bool:
    """Whether nested tuples have an array for each leaf of an element; a record is not made of its leaves."""
    match element:
        case ScalarType():
            return not isinstance(given, tuple)
        case RecordType() | ComplexType():
            return False
        case TupleType(items):
            if not isinstance(given, tuple) or len(given) != len(items):
                return False
            return all(has_leaves(item, each) for item, each in zip(items, given, strict=True))
        case MaybeType(value):
            if not isinstance(given, tuple) or len(given) != 2:
                return False
            return not isinstance(given[0], tuple) and has_leaves(value, given[1])
        case _:
            assert_never(element)


def _complex(element: ComplexType, real: HostArray, imaginary: HostArray) -> HostArray:
    found = np.empty(real.shape, element.dtype)
    found.real[...], found.imag[...] = real, imaginary
    return found


def _record(
    record: type[tuple[object, ...]] | tuple[str, ...], parts: tuple[Nested[HostArray], ...]
) -> Nested[HostArray]:
    if isinstance(record, type):
        return tuple.__new__(record, parts)  # type: ignore[return-value]  # a named tuple of arrays
    fields = [_structured(part) for part in parts]
    found = np.empty(fields[0].shape, [(name, field.dtype) for name, field in zip(record, fields, strict=True)])
    for name, field in zip(record, fields, strict=True):
        found[name] = field
    return found


def _structured(part: Nested[HostArray]) -> HostArray:
    """One array of what a field of a record is; the items of a tuple have no names of their own."""
    if not isinstance(part, tuple):
        return part
    found = _record(tuple(f"f{number}" for number in range(len(part))), part)
    assert isinstance(found, np.ndarray)
    return found


def records_of(element: ElementType) -> object:
    """The records of an element, which its type does not compare by; None if there are none."""
    match element:
        case ScalarType() | ComplexType():
            return None
        case MaybeType(value):
            return records_of(value)
        case TupleType(items):
            inner = tuple([records_of(item) for item in items])
            own = element.record if isinstance(element, RecordType) else None
            return (own, inner) if own is not None or any(each is not None for each in inner) else None
        case _:
            assert_never(element)
