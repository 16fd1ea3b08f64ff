"""Combinators that put arrays together, and those that move elements where a mask says so."""

from __future__ import annotations

from math import prod

import numpy as np

from tests.differential.oracle.arrays import Array, Function, Shape, index_parts, known, tree
from tests.differential.oracle.folding import Combine
from tests.differential.oracle.movement import scattered
from tests.differential.oracle.values import Fault, Maybe, Nothing, Tree, Tuple, Value, choose


def concatenated(axis: int, first: Array, second: Array) -> Array:
    """One array behind the other along an axis."""

    def extents() -> Shape:
        one, other = list(first.extents), list(second.extents)
        one[axis], other[axis] = 0, 0
        if one != other:
            raise Fault("append: shapes differ")
        one[axis] = first.extents[axis] + second.extents[axis]
        return tuple(one)

    def elements() -> Tree:
        return _joined(axis, first, first.element, second, second.element)

    return known(extents, elements, "append")


def _joined(axis: int, first: Array, one: Tree, second: Array, other: Tree) -> Tree:
    if isinstance(one, Tuple):
        assert isinstance(other, Tuple)
        return type(one)(_joined(axis, first, a, second, b) for a, b in zip(one, other, strict=True))
    assert isinstance(one, Value)
    assert isinstance(other, Value)
    data, bad = [], []
    for array, value in ((first, one), (second, other)):
        count = prod(array.extents)
        data.append(np.broadcast_to(value.data, (count,)).reshape(array.extents))
        bad.append(np.broadcast_to(np.asarray(value.bad, bool), (count,)).reshape(array.extents))
    return Value(np.concatenate(data, axis).reshape(-1), np.concatenate(bad, axis).reshape(-1))


def gather_if(indices: Array, mask: Array, p: Function, defaults: Array, array: Array) -> Array:
    """The elements at an array of indices where a mask says so, others elsewhere."""

    def elements() -> Tree:
        if not indices.extents == mask.extents == defaults.extents:
            raise Fault("gatherIf: shapes differ")
        flag = tree(p(mask.element))
        assert isinstance(flag, Value)
        return choose(flag, array.at(index_parts(indices.element)), defaults.element)

    return known(lambda: indices.extents, elements, "gatherIf")


def scatter_if(to: Array, mask: Array, p: Function, defaults: Array, values: Array) -> Array:
    """Values at indices, where a mask says so; the last one stays."""

    def elements() -> Tree:
        if not to.extents == mask.extents == values.extents:
            raise Fault("scatterIf: shapes differ")
        flag = tree(p(mask.element))
        assert isinstance(flag, Value)
        target = Maybe((flag, to.element))
        return scattered(lambda new, old: new, defaults, target, values.element, prod(values.extents))

    return known(lambda: defaults.extents, elements, "scatterIf")


def permute_with(combine: Combine, defaults: Array, pairs: Array) -> Array:
    """Values at the indices beside them, where there is a pair."""

    def elements() -> Tree:
        return _placed(combine, defaults, pairs.element, prod(pairs.extents))

    return known(lambda: defaults.extents, elements, "permuteWith")


def _placed(combine: Combine, defaults: Array, pair: object, count: int) -> Tree:
    if isinstance(pair, Nothing):
        return defaults.element
    assert isinstance(pair, Maybe)
    assert isinstance(pair.item, Tuple)
    place, value = pair.item
    return scattered(combine, defaults, Maybe((pair.flag, place)), value, count)
