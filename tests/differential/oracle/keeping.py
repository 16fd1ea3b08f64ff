"""Combinators of which the data decide how much is left."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from tests.differential.oracle.arrays import Array, Function, Shape, computed, known, tree
from tests.differential.oracle.folding import Combine
from tests.differential.oracle.reductions import Orders, filter_, fold
from tests.differential.oracle.values import INT64, Data, Fault, Maybe, Tree, Tuple, Value, demanded, picked


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


def update(array: Array, view: tuple[slice, ...], values: Array) -> Array:
    """A part replaced."""

    def elements() -> Tree:
        rows = range(array.extents[0])[view[0]]
        if (len(rows), *array.extents[1:]) != values.extents:
            raise Fault("update: shapes differ")
        if not prod(values.extents):
            return array.element
        return _with_rows(array.element, np.array(rows), values.element, array.extents)

    return known(lambda: array.extents, elements, "update")


def _with_rows(held: Tree, at: Data, new: Tree, extents: Shape) -> Tree:
    if isinstance(held, Tuple):
        assert isinstance(new, Tuple)
        return type(held)(_with_rows(one, at, other, extents) for one, other in zip(held, new, strict=True))
    assert isinstance(held, Value)
    demanded(new, (len(at) * prod(extents[1:]),), "update")
    assert isinstance(new, Value)
    part = (len(at), *extents[1:])
    data = np.broadcast_to(held.data, (prod(extents),)).reshape(extents).copy()
    bad = np.broadcast_to(np.asarray(held.bad, bool), (prod(extents),)).reshape(extents).copy()
    data[at], bad[at] = np.broadcast_to(new.data, (prod(part),)).reshape(part), False
    return Value(data.reshape(-1), bad.reshape(-1))


class Fold:
    """A fold that `runFold` runs: what it does to rows, by an order."""

    def __init__(self, element: Function, combine: Combine, seed: int) -> None:
        def run(orders: Orders, array: Array) -> Array:
            elements = known(lambda: array.extents, lambda: tree(element(array.element)), "runFold")
            return fold(orders, combine, Value(np.array(seed, INT64)), elements)

        self.run: Callable[[Orders, Array], Array] = run

    def zipWith(self, f: Callable[[Tree, Tree], object], other: Fold) -> Fold:  # accel's name
        both = Fold.__new__(Fold)

        def run(orders: Orders, array: Array) -> Array:
            one, two = self.run(orders, array), other.run(orders, array)
            return known(lambda: one.extents, lambda: tree(f(one.element, two.element)), "runFold")

        both.run = run
        return both


def run_fold(orders: Orders, recipe: Fold, array: Array) -> Array:
    """What a fold makes of each row."""
    return recipe.run(orders, array)
