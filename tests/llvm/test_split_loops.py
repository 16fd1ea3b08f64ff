"""Loops that are split into an inside and edges, in lanes: the interpreter's bits, whatever the extents, folds and threads."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.loops import schedule
from accel.backends.llvm.loops.vectors import loop as vector_loop
from tests.llvm.processors import changed, compile_again, processor
from tests.marks import numbers_of_threads, one_in

Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
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


def dear(xs: Matrix) -> tuple[Matrix, Matrix]:
    """Two stencils of many operations, and a random read: without neighbours the loop would run in phases."""
    ys = A.stencil(lambda n: (n(0, -1) * 0.25 + n(1, 2)) * n(1, 0) + n(0, 0) * n(-1, 1) - n(2, 0), A.boundary.clamp, xs)
    zs = A.stencil(
        lambda n: (n(-1, 0) + n(0, 1) * 0.5) * n(0, -2) - n(1, 1) * n(1, -1) * n(0, 0), A.boundary.mirror, xs
    )
    last = xs.shape[1] - 1
    return A.zipWith(A.mul, ys, zs), A.map(lambda y: xs[0, A.min(A.truncate(A.abs(y)), last)], ys)


def wide(xs: Matrix) -> Matrix:
    """Edges that are wider than a register."""
    return A.stencil(lambda n: n(0, -20) * n(-2, 35) - n(0, 1), A.boundary.mirror, xs)


@pytest.mark.parametrize("program", [relaxed, blurred, folded, dear, wide])
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
    for threads in numbers_of_threads():
        np.testing.assert_array_equal(A.runN(relaxed, threads=threads)(x), want)


@pytest.fixture(params=[True, False], ids=["by masks", "in scalars"])
def edges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on processors that store under masks as fast as without, and on those that do not."""
    compile_again(monkeypatch)
    monkeypatch.setattr(vector_loop, "host", lambda: SimpleNamespace(processor=changed(has_avx512=request.param)))


def torus(xs: A.Acc[A.Matrix[np.float64]]) -> A.Acc[A.Matrix[np.float64]]:
    return A.stencil(lambda n: n(-1, -1) + n(1, 1) - n(0, -2) * n(-1, 0), A.boundary.wrap, xs)


def inner(xs: A.Acc[A.Matrix[np.float64]]) -> A.Acc[A.Matrix[np.float64]]:
    """Rows at an edge have no inside."""
    rows, columns = A.unlift(xs.shape)

    def point(place: A.Exp[tuple[int, int]]) -> A.Exp[np.float64]:
        i, j = A.unindex(place)
        within = (i > 0) & (i < rows - 1) & (j > 2) & (j < columns - 1)
        return A.cond(within, xs[i - 1, j] - xs[i + 1, j - 3] * xs[i, j + 1], xs[place] * 2)

    return A.generate(xs.shape, point)


def torus_in_numpy(x: Floats) -> Floats:
    def near(row: int, column: int) -> Floats:
        return np.roll(x, (-row, -column), (0, 1))

    return near(-1, -1) + near(1, 1) - near(0, -2) * near(-1, 0)


def inner_in_numpy(x: Floats) -> Floats:
    result = x * 2
    if x.shape[1] > 4:
        result[1:-1, 3:-1] = x[:-2, 3:-1] - x[2:, :-4] * x[1:-1, 4:]
    return result


@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize(("program", "want"), [(torus, torus_in_numpy), (inner, inner_in_numpy)])
@pytest.mark.parametrize("threads", [1, 2])
def test_edges_of_wide_elements(program: object, want: Callable[[Floats], Floats], threads: int) -> None:
    """Edges in scalar code, vectors that get narrower or end with a long row, rows at an edge, and chunks within rows."""
    assert callable(program)
    run = A.runN(program, threads=threads)
    random = np.random.default_rng(8)
    columns = (*range(1, 20), 30, 64, 67, *range(256, 267))
    for shape in [*((4, count) for count in columns), (301, 1003)]:
        x = random.standard_normal(shape)
        np.testing.assert_array_equal(run(x), want(x))


@pytest.mark.usefixtures("edges")
def test_edges_past_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are stored so, as if everything was large, whether they are aligned or not."""
    small = processor(cached_bytes=1)
    monkeypatch.setattr(schedule, "host", lambda: SimpleNamespace(processor=small))
    run = A.runN(torus, threads=1)
    for columns in (8, 9, 24, 30, 64):
        x = np.random.default_rng(columns).standard_normal((6, columns))
        np.testing.assert_array_equal(run(x), torus_in_numpy(x))
