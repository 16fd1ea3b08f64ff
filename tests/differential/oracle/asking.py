"""Elements by their position, folds of rows in scalar code, assertions."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from tests.differential.oracle.arrays import Array, Function, Shape, index_parts, known, tree, typed
from tests.differential.oracle.values import Fault, Tree, Tuple, Value, integer, one


def linear(array: Array, position: object) -> Tree:
    """The element at a position in row-major order."""
    flat = known(lambda: (prod(array.extents),), lambda: array.element, "linearIndex")
    return flat.at(index_parts(position))


def row_fold(f: Function, seed: object, ix: Tuple, array: Array) -> Tree:
    """A row of the array, from left to right, for every index."""
    found = tree(seed) if isinstance(seed, (Value, Tuple)) else typed(seed, array)
    for position in range(array.extents[-1]):
        found = tree(f(found, array.at([*index_parts(ix), integer(position)])))
    return found


def asserted(condition: Value, message: str, array: Array) -> Array:
    """The array; whoever asks for it needs the condition to hold."""

    def make() -> tuple[Shape, Callable[[], Tree]]:
        if not one(condition):
            raise Fault(message)
        return array.extents, lambda: array.element

    return Array(make, "assert_")
