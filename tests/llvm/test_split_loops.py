"""Loops that are split into an inside and edges, in lanes: the interpreter's bits, whatever the extents, folds and threads."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest

import accel as A
from tests.marks import one_in

Matrix: TypeAlias = A.Acc[A.Matrix[np.float32]]
COLUMNS = [1, 2, 3, 15, 16, 17, 31, 33, 64, 65, 66, 130, 4095, 4096, 4097, 9000]


def relaxed(xs: Matrix) -> Matrix:
    """With a branch that depends on both indices."""
    rows, columns = A.unlift(xs.shape)

    def point(place: A.Exp[tuple[int, int]]) -> A.Exp[np.float32]:
        i, j = A.unindex(place)
        inner = (i > 0) & (i < rows - 1) & (j > 0) & (j < columns - 1)
        return A.cond(inner, (xs[i - 1, j] + xs[i + 1, j] + xs[i, j - 1] + xs[i, j + 1]) * 0.25, xs[place])

    return A.generate(xs.shape, point)


def blurred(xs: Matrix) -> Matrix:
    return A.stencil(lambda n: n(-1, 0) + n(0, 1) + n(2, -1), A.boundary.clamp, xs)


def folded(xs: Matrix) -> tuple[A.Acc[A.Vector[np.float32]], A.Acc[A.Scalar[np.float32]], Matrix]:
    """Folds in an order, in any order, and a scan, of stencils."""
    ys = relaxed(xs)
    return A.sum(blurred(xs)), A.foldAll(A.max, 0, ys), A.scanl1(A.add, blurred(ys))


def wide(xs: Matrix) -> Matrix:
    """Edges that are wider than a register."""
    return A.stencil(lambda n: n(0, -20) * n(-2, 35) - n(0, 1), A.boundary.mirror, xs)


@pytest.mark.parametrize("program", [relaxed, blurred, folded, wide])
@pytest.mark.parametrize("columns", one_in(4, COLUMNS))
def test_bits(program: object, columns: int) -> None:
    assert callable(program)
    x = np.random.default_rng(columns).standard_normal((5, columns)).astype(np.float32)
    expected = A.runN(program, backend="interpreter")(x)
    for threads in (1, 2):
        found = A.runN(program, threads=threads)(x)
        several = isinstance(expected, tuple)
        for got, want in zip(found if several else [found], expected if several else [expected], strict=True):
            np.testing.assert_array_equal(got, want)


def test_on_all_threads() -> None:
    """Enough work for several chunks, which begin within rows."""
    x = np.random.default_rng(0).standard_normal((300, 1001)).astype(np.float32)
    want = x.copy()
    want[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * np.float32(0.25)
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(A.runN(relaxed, threads=threads)(x), want)
