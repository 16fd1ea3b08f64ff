"""Stencils: what stands at an index plus offsets, by the words that define each boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from tests.differential.oracle.arrays import Array, Function, Shape, every_index, tree
from tests.differential.oracle.values import Data, Fault, Tree, Tuple, Value, choose, leaves, number

Moved: TypeAlias = Callable[[Data, int], Data]
"""Coordinates moved into an extent."""


class Boundaries:
    """`A.boundary`: coordinates that are moved, or what is outside as a function of the index."""

    @staticmethod
    def clamp(at: Data, extent: int) -> Data:
        """The nearest inside."""
        return np.clip(at, 0, extent - 1)

    @staticmethod
    def wrap(at: Data, extent: int) -> Data:
        """Around."""
        return at % extent

    @staticmethod
    def mirror(at: Data, extent: int) -> Data:
        """There and back again."""
        there = [*range(extent), *range(extent - 2, 0, -1)]
        found: Data = np.array(there)[at % len(there)]
        return found

    @staticmethod
    def constant(value: object) -> Function:
        """The same everywhere."""
        return lambda ix: value

    @staticmethod
    def function(f: Function) -> Function:
        """What the function gives."""
        return lambda ix: f(ix)


MOVED = (Boundaries.clamp, Boundaries.wrap, Boundaries.mirror)


def _neighbour(array: Array, boundary: Function, offsets: Sequence[int]) -> Tree:
    extents = array.extents
    own = [part.data for part in leaves(every_index(extents))]
    at = [part + offset for part, offset in zip(own, offsets, strict=True)]
    if boundary in MOVED:
        if 0 in extents:
            return array.element
        moved = [boundary(part, extent) for part, extent in zip(at, extents, strict=True)]
        return array.at([Value(part) for part in moved])
    outside = np.logical_or.reduce([(part < 0) | (part >= extent) for part, extent in zip(at, extents, strict=True)])
    found = array.at([Value(part) for part in at])
    value = boundary(Tuple(Value(part) for part in at))
    return choose(Value(outside), _typed(value, found), found)


def _typed(value: object, like: Tree) -> Tree:
    if isinstance(value, (bool, int, float)):
        assert isinstance(like, Value)
        return number(value, like.dtype)
    return tree(value)


def stencil(f: Function, *pairs: object) -> Array:
    """`stencil` and `stencil2`: boundaries and arrays in turn."""
    boundaries, arrays = pairs[::2], pairs[1::2]

    def make() -> tuple[Shape, Callable[[], Tree]]:
        extents = [array.extents for array in arrays if isinstance(array, Array)]
        if any(each != extents[0] for each in extents):
            raise Fault("stencil: shapes differ")
        return extents[0], elements

    def elements() -> Tree:
        return tree(f(*(_neighbourhood(*each) for each in zip(arrays, boundaries, strict=True))))

    return Array(make, "stencil")


def _neighbourhood(array: object, boundary: object) -> Function:
    assert isinstance(array, Array)
    assert callable(boundary)
    return lambda *offsets: _neighbour(array, boundary, offsets)
