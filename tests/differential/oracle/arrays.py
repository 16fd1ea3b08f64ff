"""Arrays: a shape, and one element of many values, in row-major order. Both are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np

from tests.differential.oracle.values import (
    INT64,
    Data,
    Fault,
    Nothing,
    Tree,
    Tuple,
    Value,
    demanded,
    either,
    integer,
    number,
    one,
    picked,
)

Shape: TypeAlias = tuple[int, ...]
Function: TypeAlias = Callable[..., object]


LARGEST_EXTENT = 2**47
"""An array with a greater extent is refused by everything, whatever the program does with it."""


class Array:
    """An array of the program; `make` gives its shape and what computes its elements."""

    def __init__(self, make: Callable[[], tuple[Shape, Callable[[], Tree]]], what: str) -> None:
        self._make = make
        self._what = what

    @cached_property
    def _made(self) -> tuple[Shape, Callable[[], Tree]]:
        made = self._make()
        if any(extent > LARGEST_EXTENT for extent in made[0]):
            raise Fault(f"{self._what}: an extent is too large")
        return made

    @property
    def extents(self) -> Shape:
        """The shape, as numbers."""
        return self._made[0]

    @cached_property
    def element(self) -> Tree:
        """All elements. Raises `Fault` if one has no value."""
        return demanded(self._made[1](), (prod(self.extents),), self._what)

    @property
    def shape(self) -> Tuple:
        """The shape, as the program sees it."""
        return Tuple(integer(extent) for extent in self.extents)

    def __getitem__(self, index: object) -> Tree:
        return self.at(index_parts(index))

    def at(self, index: Sequence[Value]) -> Tree:
        """The elements at indices; one out of bounds has no value."""
        position, outside = row_major(index, self.extents)
        bad = either(outside, *(part.bad for part in index))
        if prod(self.extents) == 0:
            found: Tree = nowhere(self.element)
        else:
            found = picked(self.element, np.where(bad, 0, position) if bad is not False else position)
        return with_failures(found, bad)


def nowhere(tree: Tree) -> Tree:
    """Some element, where there are none."""
    match tree:
        case Tuple():
            return type(tree)(nowhere(item) for item in tree)
        case Value():
            return Value(np.zeros((), tree.dtype))
    raise AssertionError("arrays hold no maybes")


def with_failures(tree: Tree, bad: Data | bool) -> Tree:
    """The elements, without values where `bad`."""
    match tree:
        case Tuple():
            return type(tree)(with_failures(item, bad) for item in tree)
        case Value():
            return Value(tree.data, either(tree.bad, bad))
    raise AssertionError("arrays hold no maybes")


def index_parts(index: object) -> list[Value]:
    """An index as int64 values."""
    parts: Sequence[object] = index if isinstance(index, tuple) else (index,)
    return [part if isinstance(part, Value) else integer(int(one(part))) for part in parts]


def row_major(index: Sequence[Value], extents: Shape) -> tuple[Data, Data | bool]:
    """The position of an element, and where the index is out of bounds."""
    if len(index) != len(extents):
        raise Fault("an index of another rank")
    position: Data = np.zeros((), INT64)
    outside: Data | bool = False
    for part, extent in zip(index, extents, strict=True):
        out = np.logical_or(part.data < 0, part.data >= extent)
        outside = either(outside, out) if out.any() else outside
        position = position * extent + np.where(out, 0, part.data)
    return position, outside


def unflattened(positions: Data, extents: Shape) -> Tuple:
    """The index of each position."""
    parts: list[Value] = []
    for extent in reversed(extents):
        parts.insert(0, Value(positions % max(extent, 1)))
        positions = positions // max(extent, 1)
    return Tuple(parts)


def every_index(extents: Shape) -> Tuple:
    """The indices of an array, in row-major order."""
    return unflattened(np.arange(prod(extents), dtype=INT64), extents)


def host(data: Data) -> Array:
    """An argument. Its elements are read when they are needed: it may have more of them than memory holds."""
    return Array(lambda: (data.shape, lambda: Value(np.ascontiguousarray(data).reshape(-1))), "an argument")


def extents_of(shape: object) -> Shape:
    """A shape that must be known now."""
    parts: Sequence[object] = shape if isinstance(shape, tuple) else (shape,)
    found = tuple(int(one(part)) for part in parts)
    if any(extent < 0 for extent in found):
        raise Fault("a negative extent")
    return found


def generated(shape: object, f: Function, what: str) -> Array:
    """A function at each index."""

    def make() -> tuple[Shape, Callable[[], Tree]]:
        extents = extents_of(shape)
        return extents, lambda: tree(f(every_index(extents)))

    return Array(make, what)


def tree(value: object) -> Tree:
    """What a function gave, as an element."""
    assert isinstance(value, (Value, Tuple, Nothing)), f"a function gave {value!r}"
    return value


def mapped(f: Function, arrays: Sequence[Array], indexed: bool, what: str) -> Array:
    """A function at the elements of arrays of equal shape."""

    def make() -> tuple[Shape, Callable[[], Tree]]:
        extents = arrays[0].extents
        if any(array.extents != extents for array in arrays):
            raise Fault(f"{what}: shapes differ")

        def elements() -> Tree:
            first = (every_index(extents),) if indexed else ()
            return tree(f(*first, *(array.element for array in arrays)))

        return extents, elements

    return Array(make, what)


def moved(array: Array, extents: Callable[[Shape], Shape], positions: Callable[[Data], Data], what: str) -> Array:
    """The same elements elsewhere: where each comes from is computed on the array of all positions."""

    def make() -> tuple[Shape, Callable[[], Tree]]:
        shape = extents(array.extents)

        def elements() -> Tree:
            own = np.arange(prod(array.extents), dtype=INT64).reshape(array.extents)
            return picked(array.element, positions(own).reshape(-1))

        return shape, elements

    return Array(make, what)


def known(extents: Callable[[], Shape], elements: Callable[[], Tree], what: str) -> Array:
    """An array of a computed shape."""
    return Array(lambda: (extents(), elements), what)


def computed(both: Callable[[], tuple[Shape, Tree]], what: str) -> Array:
    """An array whose shape is known only with its elements."""

    def make() -> tuple[Shape, Callable[[], Tree]]:
        extents, element = both()
        return extents, lambda: element

    return Array(make, what)


def rows(element: Tree, extents: Shape) -> Tree:
    """All elements as a matrix of rows of the innermost dimension."""
    outer = prod(extents[:-1])

    def reshaped(item: Tree) -> Tree:
        if isinstance(item, Tuple):
            return type(item)(map(reshaped, item))
        assert isinstance(item, Value)
        return Value(item.data.reshape(outer, extents[-1]))

    return reshaped(element)


def flat(element: Tree) -> Tree:
    """A matrix of rows as a vector."""
    if isinstance(element, Tuple):
        return type(element)(map(flat, element))
    assert isinstance(element, Value)
    return Value(element.data.reshape(-1))


def typed(seed: object, array: Array) -> Tree:
    """A seed; a plain Python number has the elements' type."""
    if isinstance(seed, (Value, Tuple)):
        return seed
    assert isinstance(array.element, Value)
    return number(one(seed), array.element.dtype)
