"""Folds of all elements read no views, unless somebody else reads them; reshapes without divisions are no barrier."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import accel as A
from accel.labelled.nodes import Fold, Reshape
from accel.labelled.text import text
from tests import untyped
from tests.labelled.programs import AnyAcc, AnyExp, program, use
from tests.untyped import accel as U

BACKENDS = ["interpreter", "llvm", "opencl"]
M = np.arange(12).reshape(3, 4) * 7919 % 101
V = np.arange(12) * 104729 % 103


def indexed(m: AnyAcc) -> AnyAcc:
    return A.imap(lambda ix, x: x * 3 + A.unindex(ix)[0] * 10 + A.unindex(ix)[1], m)


INDEXED = M * 3 + np.indices(M.shape)[0] * 10 + np.indices(M.shape)[1]

FOLDS: dict[str, tuple[Callable[[AnyAcc], AnyAcc], int]] = {
    "flattened": (lambda m: A.flatten(indexed(m)), 2),
    "flattened twice": (lambda m: A.flatten(A.reshape((A.size(m), 1), indexed(m))), 2),
    "a map of what was flattened": (lambda m: A.map(lambda x: x + 0 * x, A.flatten(indexed(m))), 2),
    "a product of two": (lambda m: A.zipWith(lambda x, y: x + 0 * y, A.flatten(indexed(m)), A.flatten(m)), 2),
    "cut into rows": (lambda m: A.reshape(m.shape, A.scanl1(A.max, A.flatten(indexed(m)))), 1),
}
"""What is folded, and over how many dimensions then."""


@pytest.mark.parametrize("name", FOLDS)
def test_a_fold_of_all_elements_has_no_view(name: str) -> None:
    make, dimensions = FOLDS[name]
    found = program([A.foldAll(lambda a, b: a - b, 0, make(use(M)))]).bindings
    (fold,) = [b.operation for b in found if isinstance(b.operation, Fold)]
    assert fold.dimensions == dimensions
    assert not any(isinstance(b.operation, Reshape) and b.arrays[0] in fold.inputs for b in found)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FOLDS)
def test_the_result_is_that_of_the_view(name: str, backend: str) -> None:
    make, _ = FOLDS[name]
    folded = INDEXED.ravel() if name != "cut into rows" else np.maximum.accumulate(INDEXED.ravel())
    assert untyped.run(A.foldAll(A.add, 5, make(use(M))), backend=backend) == folded.sum() + 5


def test_a_view_that_others_read_stays() -> None:
    view = A.flatten(A.compute(indexed(use(M))))
    found = program([A.fold(A.add, 0, view), A.scanl1(A.add, view)])
    assert [b.operation.dimensions for b in found.bindings if isinstance(b.operation, Fold)] == [1]
    assert text(found).count("reshape") == 1


def test_a_view_whose_size_is_checked_stays() -> None:
    found = program([A.foldAll(A.add, 0, A.reshape((3, 4), use(V)))])
    assert text(found).count("reshape") == 1


def weight(ix: AnyExp) -> AnyExp:
    *_, row, column = A.unindex(ix)
    place: AnyExp = row * 100 + column
    return place


WEIGHTS = np.arange(3)[:, None] * 100 + np.arange(4)

RENAMED: dict[str, tuple[Callable[[AnyAcc, AnyAcc], AnyAcc], NDArray[np.int64]]] = {
    "a generate is cut into rows": (
        lambda m, v: U.reshape(m.shape, U.generate((U.size(m),), lambda ix: U.unindex(ix)[0] * 5)),
        np.arange(12).reshape(3, 4) * 5,
    ),
    "a backpermute is cut into rows": (
        lambda m, v: U.reshape(
            m.shape, U.backpermute((U.size(m),), lambda ix: U.index(U.size(m) - 1 - U.unindex(ix)[0]), v)
        ),
        V[::-1].reshape(3, 4),
    ),
    "a dimension of one element comes": (
        lambda m, v: U.reshape((3, 1, 4), U.generate((3, 4), weight)),
        WEIGHTS[:, None],
    ),
    "a dimension of one element goes": (
        lambda m, v: U.reshape(
            (3, 4),
            U.generate((3, 1, 4), lambda ix: weight(U.index(U.unindex(ix)[0], U.unindex(ix)[2]))),
        ),
        WEIGHTS,
    ),
    "a gather is flattened": (lambda m, v: U.flatten(U.gather(U.map(lambda x: x % 12, m), v)), V[M.ravel() % 12]),
}
"""What is reshaped, and what it is: scans of it are one loop."""


@pytest.mark.parametrize("name", RENAMED)
def test_what_only_renames_extents_is_no_barrier(name: str) -> None:
    make, _ = RENAMED[name]
    assert A.explain(A.scanl1(A.add, make(use(M), use(V)))).loops == 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", RENAMED)
def test_results(name: str, backend: str) -> None:
    make, expected = RENAMED[name]
    found = A.run(A.scanl1(A.add, make(use(M), use(V))), backend=backend)
    np.testing.assert_array_equal(found, np.cumsum(expected, axis=-1))
