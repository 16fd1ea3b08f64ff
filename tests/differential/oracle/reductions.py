"""Folds, scans and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np

from tests.differential.oracle import folding
from tests.differential.oracle.arrays import Array, Function, Shape, computed, flat, known, nowhere, rows, tree
from tests.differential.oracle.folding import Combine
from tests.differential.oracle.spare import spare
from tests.differential.oracle.values import BOOL, INT64, Data, Fault, Tree, Value, demanded, joined, leaves, picked


class Orders:
    """Which of the orders each fold takes, where several are allowed: by the fold's place in the text.

    Docs/order.md decides by the operator after simplification and by the components that somebody needs; neither is known
    here, so a fold has one order for each set of components, and two where an operator only acts like one that commutes.
    """

    def __init__(self, chosen: dict[int, int]) -> None:
        self._chosen = chosen
        self.counts: dict[int, int] = {}

    def choose(self, place: int, allowed: list[tuple[bool, int]]) -> tuple[bool, int]:
        """The order of a fold: whether lanes are interleaved, and how many there are."""
        self.counts[place] = max(len(allowed), self.counts.get(place, 1))
        return allowed[min(self._chosen.get(place, 0), len(allowed) - 1)]


def allowed_orders(combine: Combine, element: Tree) -> list[tuple[bool, int]]:
    """The orders that a fold may have, the first for all components together."""
    parts = leaves(element)
    found: list[tuple[bool, int]] = []
    for kept in _subsets(len(parts)):
        wide = folding.lanes([parts[k].dtype for k in kept])
        for commutes in folding.commuting(combine, element, kept):
            found.append((commutes, wide))
    return list(dict.fromkeys(found))


def _subsets(count: int) -> Iterator[tuple[int, ...]]:
    for size in range(count, 0, -1):
        yield from combinations(range(count), size)


def checked(f: Function) -> Combine:
    """An operator all of whose results are demanded."""

    def combine(left: Tree, right: Tree) -> Tree:
        shape = np.broadcast_shapes(leaves(left)[0].data.shape, leaves(right)[0].data.shape)
        return demanded(tree(f(left, right)), shape, "an operator")

    return combine


def place_of(f: Function) -> int:
    """The line of a function."""
    code = getattr(f, "__code__", None)
    return 0 if code is None else int(code.co_firstlineno)


def fold(orders: Orders, f: Function, seed: Tree | None, array: Array, dims: int | None = 1) -> Array:
    """Each row, of that many dimensions or of all, as one element; the seed comes in last, on the left."""

    def row_extents() -> Shape:
        extents = array.extents
        return (prod(extents),) if dims is None else (*extents[:-dims], prod(extents[-dims:]))

    def elements() -> Tree:
        spare(seed)
        extents, combine = row_extents(), checked(f)
        count = prod(extents[:-1])
        if seed is not None:
            first = column(seed, count, "a seed")
        if extents[-1] == 0:
            if seed is None and count:
                raise Fault("a fold of an empty row")
            return flat(first) if seed is not None else each_row(array.element, 0)
        if count == 0:
            return each_row(array.element, 0)
        element = rows(array.element, extents)
        commutes, lanes = orders.choose(place_of(f), allowed_orders(combine, nowhere(element)))
        total = folding.fold(element, combine, commutes, lanes)
        return flat(total if seed is None else combine(first, total))

    return known(lambda: row_extents()[:-1], elements, "fold")


def column(seed: Tree, count: int, what: str) -> Tree:
    """A seed for each row."""
    return picked(demanded(seed, (count,), what), (slice(None), None))


def each_row(element: Tree, count: int) -> Tree:
    """A vector of no elements of this type."""
    return demanded(nowhere(element), (count,), "nothing")


class Scan:
    """The inclusive results of each row, computed once, and what the forms give of them."""

    def __init__(self, f: Function, seed: Tree | None, array: Array, from_right: bool) -> None:
        self._combine = checked(f if not from_right else lambda left, right: f(right, left))
        self._seed = seed
        self._array = array
        self._back = slice(None, None, -1) if from_right else slice(None)

    @property
    def extents(self) -> Shape:
        return self._array.extents

    @cached_property
    def inclusive(self) -> Tree:
        """In the order of visiting, a matrix of rows."""
        spare(self._seed)
        element = picked(rows(self._array.element, self.extents), (slice(None), self._back))
        if 0 in self.extents:
            return element
        return folding.scan(element, self._combine, self.seed)

    @cached_property
    def seed(self) -> Tree | None:
        return None if self._seed is None else column(self._seed, prod(self.extents[:-1]), "a seed")

    @cached_property
    def with_seed(self) -> Tree:
        """The seed, then the inclusive results."""
        assert self.seed is not None
        return joined([self.seed, self.inclusive], -1)

    def given(self, extent: Callable[[int], int], matrix: Callable[[], Tree]) -> Array:
        """Some of the results, in the order of the array."""

        def elements() -> Tree:
            return flat(picked(matrix(), (slice(None), self._back)))

        return known(lambda: (*self.extents[:-1], extent(self.extents[-1])), elements, "scan")

    def every(self) -> Array:
        return self.given(lambda n: n, lambda: self.inclusive)

    def longer(self) -> Array:
        return self.given(lambda n: n + 1, lambda: self.with_seed)

    def exclusive(self) -> Array:
        return self.given(lambda n: n, lambda: picked(self.with_seed, (slice(None), slice(0, self.extents[-1]))))

    def totals(self) -> Array:
        last = (slice(None), slice(-1, None))
        return known(lambda: self.extents[:-1], lambda: flat(picked(self.with_seed, last)), "scan")


def position(find: Callable[..., Data], array: Array) -> Array:
    """Where NumPy finds the least or the greatest of each row."""

    def elements() -> Tree:
        found = demanded(array.element, (prod(array.extents),), "argmin")
        assert isinstance(found, Value)
        if array.extents[-1] == 0 < prod(array.extents[:-1]):
            raise Fault("an empty row")
        matrix = found.data.reshape(-1, max(array.extents[-1], 1))
        return Value(find(matrix, axis=1).astype(INT64))

    return known(lambda: array.extents[:-1], elements, "argmin")


def filter_(predicate: Function, array: Array) -> tuple[Array, Array]:
    """The elements that satisfy a predicate, and how many there are in each row."""

    def kept() -> Value:
        flags = demanded(tree(predicate(array.element)), (prod(array.extents),), "filter")
        assert isinstance(flags, Value)
        assert flags.dtype == BOOL
        return flags

    def found() -> tuple[Shape, Tree]:
        places = np.flatnonzero(kept().data)
        return (len(places),), picked(array.element, places)

    def counts() -> Tree:
        outer = prod(array.extents[:-1])
        matrix = kept().data.reshape(outer, array.extents[-1])
        return Value(matrix.sum(axis=1, dtype=INT64))

    return computed(found, "filter"), known(lambda: array.extents[:-1], counts, "filter")
