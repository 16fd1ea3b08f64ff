"""Combinators of which the data decide how much is left."""

from __future__ import annotations

from math import prod

import numpy as np

from tests.differential.oracle.arrays import Array, Function, Shape, computed, known, tree
from tests.differential.oracle.reductions import filter_
from tests.differential.oracle.values import INT64, Fault, Maybe, Tree, Tuple, Value, demanded, picked


def compact(mask: Array, array: Array) -> tuple[Array, Array]:
    """The elements where a mask is true."""
    both = known(lambda: array.extents, lambda: _beside(mask, array), "compact")
    kept, counts = filter_(_first, both)
    return _second(kept), counts


def _first(pair: object) -> Tree:
    assert isinstance(pair, Tuple)
    return pair[0]


def _beside(mask: Array, array: Array) -> Tree:
    if mask.extents != array.extents:
        raise Fault("compact: shapes differ")
    return Tuple((mask.element, array.element))


def _second(pairs: Array) -> Array:
    def elements() -> Tree:
        assert isinstance(pairs.element, Tuple)
        return pairs.element[1]

    return known(lambda: pairs.extents, elements, "compact")


def partition(predicate: Function, array: Array) -> tuple[Array, Array]:
    """What satisfies a predicate, and what does not."""

    def other(x: Tree) -> Tree:
        held = tree(predicate(x))
        assert isinstance(held, Value)
        return ~held

    return filter_(predicate, array)[0], filter_(other, array)[0]


def justs(array: Array) -> tuple[Array, Array]:
    """The values that there are."""
    maybe = array.element
    assert isinstance(maybe, Maybe)
    assert maybe.item is not None
    mask, values = maybe.flag, maybe.item
    return compact(
        known(lambda: array.extents, lambda: _all(mask, array.extents), "justs"),
        known(lambda: array.extents, lambda: values, "justs"),
    )


def _all(element: Tree, extents: Shape) -> Tree:
    return demanded(element, (prod(extents),), "justs")


def expand(size: Function, f: Function, array: Array) -> Array:
    """Each element as often as it says."""

    def found() -> tuple[Shape, Tree]:
        sizes = demanded(tree(size(array.element)), array.extents, "expand")
        assert isinstance(sizes, Value)
        if (sizes.data < 0).any():
            raise Fault("expand: a negative size")
        owners = np.repeat(np.arange(len(sizes.data)), sizes.data)
        starts = np.cumsum(sizes.data) - sizes.data
        number = Value((np.arange(len(owners), dtype=INT64) - starts[owners]).astype(INT64))
        return (len(owners),), tree(f(picked(array.element, owners), number))

    return computed(found, "expand")
