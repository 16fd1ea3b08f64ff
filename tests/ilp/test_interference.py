"""What operations lose to each other is counted: how many loops programs have by default, and by bytes alone (docs/ilp.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A

FLOATS, WHOLE, PLACES = np.ones(50, np.float32), np.ones(50, np.int32), np.zeros(50, np.int64)
MATRIX = np.ones((9, 9), np.float32)
CUBE, WEIGHTS = np.ones((3, 9, 9), np.float32), np.ones((2, 3, 3, 3), np.float32)


def kept(xs: Any) -> Any:
    return A.filter(lambda x: x > 0, xs)[0]


PROGRAMS: dict[str, tuple[int, int, Callable[[], Any]]] = {
    "gathers of two arrays": (2, 1, lambda: (A.gather(places(), floats()), A.gather(places(), whole()))),
    "gathers of one array": (
        1,
        1,
        lambda: (A.gather(places(), floats()), A.gather(A.map(lambda place: place + 1, places()), floats())),
    ),
    "a filter and a scan of what it leaves": (2, 1, lambda: A.scanl1(A.add, kept(floats()))),
    "a filter and an exact scan": (1, 1, lambda: A.scanl1(A.add, kept(whole()))),
    "a filter and a fold of what it stores": (2, 1, lambda: with_sum(kept(floats()))),
    "a filter and a fold of what it leaves": (1, 1, lambda: A.fold(A.add, 0, kept(floats()))),
    "a filter and an exact fold of what it stores": (1, 1, lambda: with_sum(kept(whole()))),
    "a product and a fold of its rows": (2, 1, lambda: A.maximum(matrix() @ matrix())),
    "a product and a scan of its rows": (2, 1, lambda: A.scanl1(A.add, A.einsum("ik,jk->ij", matrix(), matrix()))),
    "a product and a fold of what is made of it": (2, 1, lambda: A.sum(A.map(A.exp, matrix() @ matrix()))),
    "a product by a function of indices and a fold of its rows": (2, 1, lambda: A.minimum(A.sum(of_indices()))),
    "a fold of what a function of indices reads of one array, and a fold of it": (
        1,
        1,
        lambda: A.minimum(A.sum(shifted())),
    ),
    "folds of windows of two dimensions": (1, 1, lambda: A.sum(A.sum(windows()))),
    "folds of windows of which each channel has its own weights": (1, 1, lambda: A.maximum(A.sum(depthwise()))),
    "folds of windows of which each row has its own weights": (1, 1, lambda: A.maximum(A.sum(by_row()))),
    "folds of windows of all channels": (1, 1, lambda: A.sum(A.sum(of_channels()))),
    "a fold of what windows of two dimensions come to as one": (2, 1, lambda: A.sum(of_channels(dims=2))),
    "windows, and a fold of their places": (2, 1, lambda: A.maximum(along_rows())),
    "a product of matrices in parts, and a fold of the parts": (2, 1, lambda: A.sum(in_parts())),
    "a product whose rows begin elsewhere, and a fold of its rows": (2, 1, lambda: A.minimum(A.sum(of_indices(1)))),
    "a product and a map of it": (1, 1, lambda: A.map(A.exp, matrix() @ matrix())),
    "a fold of pairs and a fold of what it makes": (1, 1, lambda: A.sum(A.sum(A.outer(floats(), floats())))),
    "a product of maps": (1, 1, lambda: A.map(A.exp, matrix()) @ matrix()),
    "sums of rows and a scan of these": (2, 1, lambda: A.scanl1(A.add, A.sum(matrix()))),
    "sums of rows and a filter of these": (2, 1, lambda: kept(A.sum(matrix()))),
    "sums of rows and a scatter of what is made of these": (3, 2, lambda: counted(A.sum(matrix()))),
    "sums of rows, a scatter and a scan": (3, 2, lambda: (counted(A.sum(matrix())), A.scanl1(A.max, A.sum(matrix())))),
    "a scan of rows and sums of what it makes": (1, 1, lambda: A.sum(A.scanl1(A.add, matrix()))),
    "a sum of all and a scan of what it was made of": (1, 1, lambda: (A.sum(floats()), A.scanl1(A.add, floats()))),
    "a fold of a fold": (1, 1, lambda: A.maximum(A.sum(A.use(np.ones((3, 4, 5)))))),
    "a fold of a fold of what one array is repeated to": (
        1,
        1,
        lambda: A.maximum(A.sum(A.replicate((4, A.All, A.All), matrix()))),
    ),
}
"""Loops by default, loops by bytes, program."""


def matrix() -> Any:
    return A.use(MATRIX)


def counted(xs: Any) -> Any:
    """How many elements come to each of nine places, into an array that is given."""
    at = A.map(lambda x: A.cast(x, np.int64) % 9, xs)
    return A.permute(
        A.add, A.use(PLACES[:9].copy()), lambda ix: A.just(A.index(at[ix])), A.map(lambda x: A.cast(x, np.int64), xs)
    )


def of_indices(first: int = 0) -> Any:
    xs, ys = matrix(), A.use(MATRIX * 2)
    return A.generate(A.index(9 - first, 9, 9), lambda ix: xs[ix[0] + first, ix[2]] - ys[ix[1], ix[2]])


def windows() -> Any:
    xs, weights = matrix(), A.use(MATRIX[:3, :3].copy())
    return A.generate(A.index(7, 7, 3, 3), lambda ix: xs[ix[0] + ix[2], ix[1] + ix[3]] * weights[ix[2], ix[3]])


def of_channels(dims: int = 1) -> Any:
    """Windows of all channels by the weights of each of two results, for each row and column of these."""
    xs, weights = A.use(CUBE), A.use(WEIGHTS)

    def product(ix: Any) -> Any:
        k, i, j, c, a, b = A.unindex(ix)
        return xs[c, i + a, j + b] * weights[k, c, a, b]

    given: Any = A  # arrays of six dimensions
    return given.fold(A.add, 0, given.generate((2, 7, 7, 3, 3, 3), product), dims=dims)


def along_rows() -> Any:
    """Windows of rows by the weights of each of two results; the places in a row are the innermost dimension."""
    xs, weights = matrix(), A.use(MATRIX[:2, :3].copy())
    return A.sum(A.generate(A.index(2, 9, 7, 3), lambda ix: xs[ix[1], ix[2] + ix[3]] * weights[ix[0], ix[3]]))


def in_parts() -> Any:
    """A product of matrices in parts, over whose numbers nothing is folded yet."""
    xs, ys = A.use(CUBE), A.use(CUBE * 2)
    return A.sum(A.generate(A.index(9, 9, 3, 9), lambda ix: xs[ix[2], ix[0], ix[3]] * ys[ix[2], ix[3], ix[1]]))


def depthwise() -> Any:
    xs, weights = matrix(), A.use(MATRIX[:3].copy())
    return A.generate(A.index(7, 9, 3), lambda ix: xs[ix[0] + ix[2], ix[1]] * weights[ix[2], ix[1]])


def by_row() -> Any:
    """Windows along columns by the weights of each row."""
    xs, weights = matrix(), A.use(MATRIX[:7, :3].copy())
    return A.generate(A.index(7, 9, 3), lambda ix: xs[ix[0] + ix[2], ix[1]] * weights[ix[0], ix[2]])


def shifted() -> Any:
    xs = matrix()
    return A.generate(A.index(9, 9, 9), lambda ix: xs[ix[0], ix[2]] * A.toFloating(ix[1], np.float32))


def floats() -> Any:
    return A.use(FLOATS)


def whole() -> Any:
    return A.use(WHOLE)


def places() -> Any:
    return A.use(PLACES)


def with_sum(xs: Any) -> Any:
    return xs, A.fold(A.add, 0, xs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops(name: str) -> None:
    by_default, by_bytes, program = PROGRAMS[name]
    assert A.explain(program()).loops == by_default
    assert A.explain(program(), cost="memory").loops == by_bytes
