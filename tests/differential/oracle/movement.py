"""Combinators that move elements: index permutations, gathers, scatters, changes of shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from tests.differential.oracle.arrays import (
    Array,
    Function,
    Shape,
    every_index,
    extents_of,
    index_parts,
    known,
    moved,
    row_major,
    tree,
)
from tests.differential.oracle.folding import Combine
from tests.differential.oracle.scalars import cast
from tests.differential.oracle.values import (
    BOOL,
    Data,
    Fault,
    Maybe,
    Nothing,
    Tree,
    Tuple,
    Value,
    demanded,
    number,
    one,
    picked,
)

ALL = None
"""In a specification, a dimension that the array has and keeps."""


def permuted(array: Array, change: Callable[[Data], Data], what: str) -> Array:
    """A change of axes, the same for the shape as for the elements."""

    def extents(shape: Shape) -> Shape:
        # A view of one element has the shape without having the elements.
        hollow = np.broadcast_to(np.zeros((), np.int8), shape)
        changed = change(hollow)
        return tuple(changed.shape)

    return moved(array, extents, change, what)


def sliced(array: Array, axis: int, bounds: Callable[[int], tuple[int, int]], what: str) -> Array:
    """A range of one axis; `bounds` takes its extent."""

    def change(values: Data) -> Data:
        start, stop = bounds(values.shape[axis])
        return values[(slice(None),) * axis + (slice(start, max(start, stop)),)]

    return permuted(array, change, what)


def take(axis: int, count: object, array: Array) -> Array:
    """The first elements, none if there are to be fewer than that."""
    return sliced(array, axis % len(array.extents), lambda n: (0, clamped(one(count), n)), "take")


def drop(axis: int, count: object, array: Array) -> Array:
    """Without the first elements."""
    return sliced(array, axis % len(array.extents), lambda n: (clamped(one(count), n), n), "drop")


def slit(axis: int, start: object, count: object, array: Array) -> Array:
    """Some elements from a position on."""

    def bounds(n: int) -> tuple[int, int]:
        first = clamped(one(start), n)
        return first, first + clamped(one(count), n - first)

    return sliced(array, axis % len(array.extents), bounds, "slit")


def clamped(count: float, extent: int) -> int:
    """A number of elements, from 0 to all."""
    return max(0, min(int(count), extent))


def reshape(shape: object, array: Array) -> Array:
    """The same elements in another shape."""

    def extents() -> Shape:
        found = extents_of(shape)
        if prod(found) != prod(array.extents):
            raise Fault("reshape: another size")
        return found

    return known(extents, lambda: array.element, "reshape")


def replicate(specification: Sequence[object], array: Array) -> Array:
    """New dimensions, along which the array repeats."""

    def extents(shape: Shape) -> Shape:
        own = iter(shape)
        return tuple(next(own) if entry is ALL else extents_of(entry)[0] for entry in specification)

    def positions(own: Data) -> Data:
        at = tuple(slice(None) if entry is ALL else None for entry in specification)
        return np.broadcast_to(own[at], extents(own.shape))

    return moved(array, extents, positions, "replicate")


def slice_(array: Array, specification: Sequence[object]) -> Array:
    """One index of some dimensions."""

    def extents(shape: Shape) -> Shape:
        kept = []
        for extent, entry in zip(shape, specification, strict=True):
            if entry is ALL:
                kept.append(extent)
            elif not 0 <= one(entry) < extent:
                raise Fault("slice: out of bounds")
        return tuple(kept)

    def positions(own: Data) -> Data:
        return own[tuple(slice(None) if entry is ALL else int(one(entry)) for entry in specification)]

    return moved(array, extents, positions, "slice")


def gather(indices: Array, array: Array) -> Array:
    """The elements at an array of indices."""
    return known(lambda: indices.extents, lambda: array.at(index_parts(indices.element)), "gather")


def backpermute(shape: object, f: Function, array: Array) -> Array:
    """The elements at the indices that a function gives."""

    def elements() -> Tree:
        return array.at(index_parts(tree(f(every_index(extents_of(shape))))))

    return known(lambda: extents_of(shape), elements, "backpermute")


def permute(combine: Combine, defaults: Array, f: Function, array: Array) -> Array:
    """Every element to the place that a function gives, or nowhere."""

    def elements() -> Tree:
        target = f(every_index(array.extents))
        if isinstance(target, Nothing):
            return defaults.element
        assert isinstance(target, Maybe)
        return scattered(combine, defaults, target, array.element, prod(array.extents))

    return known(lambda: defaults.extents, elements, "permute")


def scatter_with(combine: Combine, defaults: Array, pairs: Array) -> Array:
    """Values at the indices beside them."""

    def elements() -> Tree:
        pair = pairs.element
        assert isinstance(pair, Tuple)
        everywhere = Maybe((number(True, BOOL), pair[0]))
        return scattered(combine, defaults, everywhere, pair[1], prod(pairs.extents))

    return known(lambda: defaults.extents, elements, "scatterWith")


def scatter(indices: Array, defaults: Array, values: Array) -> Array:
    """Values at indices; the last one stays."""

    def elements() -> Tree:
        if indices.extents != values.extents:
            raise Fault("scatter: shapes differ")
        everywhere = Maybe((number(True, BOOL), indices.element))
        return scattered(lambda new, old: new, defaults, everywhere, values.element, prod(values.extents))

    return known(lambda: defaults.extents, elements, "scatter")


def scattered(combine: Combine, defaults: Array, target: Maybe, new: Tree, count: int) -> Tree:
    """The defaults after all elements came in, in their order: first the first for every place, then the second …"""
    flag = demanded(target.flag, (count,), "the target")
    assert isinstance(flag, Value)
    sources = np.flatnonzero(flag.data)
    if not sources.size:
        return defaults.element
    index = [_chosen(part, count, sources) for part in index_parts(target.item)]
    places, outside = row_major(index, defaults.extents)
    if outside is not False or any(np.any(part.bad) for part in index):
        raise Fault("a target out of bounds, or without a value")
    held = defaults.element
    for chosen in _turns(np.broadcast_to(places, sources.shape)):
        at = np.broadcast_to(places, sources.shape)[chosen]
        combined = demanded(combine(picked(new, sources[chosen]), picked(held, at)), at.shape, "the combination")
        held = _replaced(held, at, combined)
    return held


def _chosen(part: Value, count: int, sources: Data) -> Value:
    bad = part.bad if part.bad is False else np.broadcast_to(part.bad, (count,))[sources]
    return Value(np.broadcast_to(part.data, (count,))[sources], bad)


def _turns(places: Data) -> list[Data]:
    """Which elements come first to their place, which second, and so on."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    first = np.searchsorted(ordered, ordered)
    turn = np.arange(len(order)) - first
    return [order[turn == number] for number in range(int(turn.max()) + 1)]


def _replaced(held: Tree, at: Data, values: Tree) -> Tree:
    if isinstance(held, Tuple):
        assert isinstance(values, Tuple)
        return type(held)(_replaced(item, at, value) for item, value in zip(held, values, strict=True))
    assert isinstance(held, Value)
    assert isinstance(values, Value)
    data = held.data.copy()
    data[at] = values.data
    return Value(data)


def enumerated(shape: object, start: Value, step: Value) -> Array:
    """Numbers that count the elements, in row-major order."""

    def elements() -> Tree:
        counted = np.arange(prod(extents_of(shape)), dtype=np.int64)
        return start + cast(Value(counted), start.dtype) * step

    return known(lambda: extents_of(shape), elements, "enumFromN")
