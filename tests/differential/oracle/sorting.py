"""Sorts of a program, by ranks: every element is compared with every other of its row."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from tests.differential.oracle.arrays import Array, known, tree
from tests.differential.oracle.values import INT64, Data, Tree, Value, demanded, joined, leaves, one, picked


def _codes(leaf: Data) -> Data:
    """Numbers without NaN that are ordered as the elements of a scalar array, equal where these are."""
    if leaf.dtype.kind != "f":
        return np.unique(leaf, return_inverse=True)[1].reshape(leaf.shape)
    if leaf.dtype == np.float16:
        leaf = leaf.astype(np.float32)  # NumPy does not always sort halves right: see `accel/backends/sorting.py`
    numbers = np.unique(leaf[leaf == leaf] + 0.0)
    return np.where(leaf == leaf, np.searchsorted(numbers, leaf), len(numbers))


def _ranks(element: Tree, count: int) -> Data:
    """The same for elements of several leaves."""
    found: Data = np.zeros(count, INT64)
    for leaf in leaves(element):
        code = _codes(leaf.data)
        found = np.unique(found * (int(code.max(initial=0)) + 1) + code, return_inverse=True)[1]
    return found


def _places(array: Array, key: Tree, descending: bool) -> Data:
    """For each row, where its elements stand, in order."""
    inner = array.extents[-1]
    total = prod(array.extents)
    if not total:
        return np.zeros((0, 1), INT64)
    codes = _ranks(key, total).reshape(total // max(inner, 1), inner)
    sign = -1 if descending else 1
    before = sign * codes[:, :, None] < sign * codes[:, None, :]
    ties = (codes[:, :, None] == codes[:, None, :]) & np.triu(np.ones((inner, inner), bool), 1)
    positions = (before | ties).sum(1)  # how many come before each
    found: Data = np.empty_like(positions)
    np.put_along_axis(found, positions, np.broadcast_to(np.arange(inner), positions.shape), 1)
    return found


def _moved(array: Array, places: Data) -> Tree:
    """The elements of each row at places in it."""
    starts = np.arange(len(places))[:, None] * array.extents[-1]
    return picked(array.element, (starts + places).reshape(-1))


def sort(array: Array) -> Array:
    return sort_by(lambda element: element, array)


def sort_by(key: Callable[[Tree], Tree], array: Array) -> Array:
    def elements() -> Tree:
        keys = demanded(tree(key(array.element)), (prod(array.extents),), "sort")
        return _moved(array, _places(array, keys, False))

    return known(lambda: array.extents, elements, "sort")


def argsort(array: Array) -> Array:
    def elements() -> Tree:
        return Value(_places(array, array.element, False).reshape(-1))

    return known(lambda: array.extents, elements, "argsort")


def top(k: object, array: Array) -> tuple[Array, Array]:
    count = int(one(k))

    def extents() -> tuple[int, ...]:
        return (*array.extents[:-1], count)

    def first() -> Data:
        return _places(array, array.element, True)[:, :count]

    values = known(extents, lambda: _moved(array, first()), "topK")
    return values, known(extents, lambda: Value(first().reshape(-1)), "topK")


def search(table: Array, array: Array) -> Array:
    def elements() -> Tree:
        size, count = table.extents[0], int(np.prod(array.extents))
        codes = _ranks(joined([table.element, array.element], 0), size + count)
        return Value((codes[None, :size] < codes[size:, None]).sum(1))

    return known(lambda: array.extents, elements, "searchsorted")


SORTING: dict[str, object] = {
    "sort": sort,
    "argsort": argsort,
    "sortBy": sort_by,
    "topK": top,
    "searchsorted": search,
}
"""The functions by their names."""
