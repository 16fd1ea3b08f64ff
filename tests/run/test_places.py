"""Errors name the lines of the program that runs, also where it shares its compiled form with an equal one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accel as A

BACKENDS = ["interpreter", "llvm", "opencl"]
Vector = A.Acc[A.Vector[np.float64]]


def first(xs: Vector, at: A.Acc[A.Vector[np.int64]]) -> Vector:
    return A.gather(at, xs)


def second(xs: Vector, at: A.Acc[A.Vector[np.int64]]) -> Vector:
    return A.gather(at, xs)


def message(call: Callable[[], object]) -> str:
    with pytest.raises(A.AccelError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_programs_have_lines_of_their_own(backend: str) -> None:
    xs, at = A.use(np.arange(4.0)), A.use(np.array([1, 9]))
    assert "in first\n" in message(lambda: A.run(first(xs, at), backend=backend))
    assert "in second\n" in message(lambda: A.run(second(xs, at), backend=backend))
    assert "in first\n" in message(lambda: A.runN(first, backend=backend)(np.arange(4.0), np.array([1, 9])))
    assert "in second\n" in message(lambda: A.runN(second, backend=backend)(np.arange(4.0), np.array([1, 9])))


@pytest.mark.parametrize("backend", BACKENDS)
def test_operands_have_lines_of_their_own(backend: str) -> None:
    def sums(xs: Vector, ys: Vector) -> Vector:
        return A.zipWith(A.add, xs, ys)

    def again(xs: Vector, ys: Vector) -> Vector:
        return A.zipWith(A.add, xs, ys)

    x, y = np.ones(2), np.ones(3)
    earlier = message(lambda: A.runN(sums, backend=backend)(x, y))
    later = message(lambda: A.runN(again, backend=backend)(x, y))
    assert "in sums\n" in earlier
    assert "in again\n" in later
    assert "again" not in earlier
    assert "in sums" not in later


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_programs_have_names_of_their_own(backend: str) -> None:
    """`zip` of two vectors and the sum of its pairs are one loop like `zipWith`'s, and have its text."""

    def by_zip(xs: Vector, ys: Vector) -> Vector:
        return A.map(lambda p: p[0] + p[1], A.zip(xs, ys))

    def by_zipwith(xs: Vector, ys: Vector) -> Vector:
        return A.zipWith(A.add, xs, ys)

    texts = {A.explain(f, np.ones(2), np.ones(2)).stages["labelled"] for f in (by_zip, by_zipwith)}
    assert len(texts) == 1
    assert message(lambda: A.runN(by_zipwith, backend=backend)(np.ones(2), np.ones(3))).startswith("zipWith needs")
    assert message(lambda: A.runN(by_zip, backend=backend)(np.ones(2), np.ones(3))).startswith("zip needs")


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_folds_have_names_of_their_own(backend: str) -> None:
    """`maximum` is a `fold1`, and has its text."""
    rows = A.use(np.ones((2, 0)))
    assert message(lambda: A.run(A.fold1(A.max, rows), backend=backend)).startswith("fold1 of an empty row:")
    assert message(lambda: A.run(A.maximum(rows), backend=backend)).startswith("maximum of an empty row:")
