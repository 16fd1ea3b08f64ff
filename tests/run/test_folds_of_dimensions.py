"""Folds of a whole array: one loop nest, nothing stored, and the bits of the fold of the flattened array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.choose import backend as choose
from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.protocol import compiled
from accel.errors import AccelValueError
from accel.fusedast.build import build
from accel.ir.lowering.lower import lower
from accel.labelled.meaning import order
from accel.labelled.meaning.interpret import interpret
from tests import untyped
from tests.fusedast.examples import folds_of_dimensions
from tests.untyped import accel as U

Matrix: TypeAlias = A.Acc[A.Matrix[np.float64]]
Program: TypeAlias = Callable[[Matrix, A.Acc[A.Vector[np.float64]]], Matrix]
BACKENDS = ["interpreter", "llvm", "opencl"]
SHAPES = [(3, 4), (0, 4), (3, 0), (1, 1), (70, 3), (2, 5000), (65, 64)]


def rows_of(m: Matrix) -> A.Exp[np.int64]:
    return A.unindex(m.shape)[0]


def replicated(m: Matrix, ys: A.Acc[A.Vector[np.float64]]) -> Matrix:
    xs = A.fold(A.add, 0, m)
    return A.zipWith(lambda x, y: x * y, A.replicate((A.All, A.length(ys)), xs), A.replicate((rows_of(m), A.All), ys))


def indexed(m: Matrix, ys: A.Acc[A.Vector[np.float64]]) -> Matrix:
    return A.generate(m.shape, lambda ix: A.cast(A.unindex(ix)[0] * 1000 + A.unindex(ix)[1], np.float64) / 3)


def gathered(m: Matrix, ys: A.Acc[A.Vector[np.float64]]) -> Matrix:
    places = A.imap(lambda ix, x: A.unindex(ix)[1], m)
    return A.zipWith(A.mul, m, A.gather(places, ys))


PROGRAMS: dict[str, tuple[Program, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "in memory": (lambda m, ys: m, lambda m, ys: m),
    "a map": (lambda m, ys: A.map(lambda x: x / 3, m), lambda m, ys: m / 3),
    "with its index": (indexed, lambda m, ys: np.indices(m.shape).T.dot([1000, 1]).T / 3),
    "a row for each": (
        lambda m, ys: A.zipWith(A.mul, m, A.replicate((rows_of(m), A.All), ys)),
        lambda m, ys: m * ys,
    ),
    "a gather": (gathered, lambda m, ys: m * ys),
    "running maxima": (
        lambda m, ys: A.scanl1(A.max, m),
        lambda m, ys: np.maximum.accumulate(m, axis=1) if m.size else m,
    ),
    "transposed": (lambda m, ys: A.transpose(m), lambda m, ys: m.T),
}

OPERATORS: dict[str, Callable[[A.Exp[np.float64], A.Exp[np.float64]], A.Exp[np.float64]]] = {
    "exact": A.max,
    "commuting": A.add,
    "ordered": lambda a, b: a - b,
}


COMBINE: dict[str, Callable[[float, float], float]] = {
    "exact": max,
    "commuting": lambda a, b: a + b,
    "ordered": lambda a, b: a - b,
}


def reference(elements: np.ndarray, operator: str) -> float:
    combine = COMBINE[operator]
    flat = elements.ravel().tolist()
    if not flat:
        return 0.5
    return float(combine(0.5, order.fold(flat, combine, operator != "ordered", 32)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_order_is_that_of_the_flattened_array(name: str, operator: str, backend: str) -> None:
    make, expected = PROGRAMS[name]

    def program(m: Matrix, ys: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Scalar[np.float64]]:
        return A.foldAll(OPERATORS[operator], 0.5, make(m, ys))

    run = untyped.runN(program, backend=backend)
    for shape in SHAPES:
        m = np.sin(np.arange(shape[0] * shape[1], dtype=np.float64)).reshape(shape)
        ys = np.cos(np.arange(shape[1], dtype=np.float64))
        assert run(m, ys) == reference(expected(m, ys), operator), shape


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_any_number_of_threads_gives_the_same_bits(name: str, threads: int) -> None:
    make, expected = PROGRAMS[name]
    run = untyped.runN(
        lambda m, ys: A.foldAll(A.add, 0.5, make(m, ys)), backend="llvm", threads=threads, products="rounded"
    )
    for shape in ((700, 300), (3, 70001), (70001, 3)):
        m = np.sin(np.arange(shape[0] * shape[1], dtype=np.float64)).reshape(shape)
        ys = np.cos(np.arange(shape[1], dtype=np.float64))
        assert run(m, ys) == reference(expected(m, ys), "commuting")


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_do_not_lie_together(threads: int) -> None:
    """Every row of a part of a matrix begins elsewhere in memory, and in the middle of a block of the order."""
    whole = np.sin(np.arange(600 * 500, dtype=np.float64)).reshape(600, 500)
    run = untyped.runN(lambda m: A.foldAll(A.add, 0.5, m), backend="llvm", threads=threads)
    for part in (whole[:, :499], whole[::2], whole[:, ::-1], whole.T, whole[::-1, 3:]):
        assert run(part) == reference(part, "commuting")


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_one_loop_that_stores_nothing(name: str) -> None:
    make, _ = PROGRAMS[name]
    m, ys = A.use(np.ones((3, 4))), A.use(np.ones(4))
    explanation = A.explain(A.foldAll(A.add, 0.0, make(m, ys)))
    assert explanation.loops == 1
    assert dict(explanation.writes) == {"1": 1}
    assert "reshape" not in explanation.stages["labelled"]


def test_what_sums_of_rows_are_multiplied_with_needs_them_first() -> None:
    """The sums of rows are a vector that is stored; the product of two replicates is not."""
    m, ys = A.use(np.ones((3, 4))), A.use(np.ones(4))
    explanation = A.explain(A.foldAll(A.add, 0.0, replicated(m, ys)))
    assert dict(explanation.writes) == {"n0": 1, "1": 1}


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_folds_share_a_nest(backend: str) -> None:
    """A fold of everything, folds of rows and a fold of what they give are one nest of two loops."""
    m = A.use(np.sin(np.arange(30.0)).reshape(6, 5))
    rows = A.fold(A.max, -1.0, m)
    results = A.foldAll(A.add, 0.0, m), rows, A.fold(A.add, 0.0, rows)
    assert A.explain(results).loops == 1
    total, maxima, sum_of_maxima = untyped.run(results, backend=backend)
    values = np.sin(np.arange(30.0)).reshape(6, 5)
    assert total == order.fold(values.ravel().tolist(), lambda a, b: a + b, True, 32)
    np.testing.assert_array_equal(maxima, values.max(axis=1))
    assert sum_of_maxima == order.fold(values.max(axis=1).tolist(), lambda a, b: a + b, True, 32)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_fold_of_everything_behind_folds_of_rows(backend: str) -> None:
    cube = np.sin(np.arange(4 * 3 * 5.0)).reshape(4, 3, 5)
    found = untyped.run(A.foldAll(A.add, 0.0, A.fold(A.max, -1.0, A.use(cube))), backend=backend)
    assert found == order.fold(cube.max(axis=2).ravel().tolist(), lambda a, b: a + b, True, 32)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 1, 4100), (1030, 2, 3)])
def test_folds_of_everything_beside_scans_of_rows(shape: tuple[int, int, int], backend: str) -> None:
    """A row of the scan has an element more than one of what is scanned, and both are folded in one nest."""
    cube = np.sin(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape)
    source = A.use(cube)
    scan = A.scanl(A.max, -9.0, source)
    folds = (
        A.foldAll(A.add, 0.5, scan),
        A.fold1All(A.max, scan),
        A.foldAll(A.add, 0.5, source),
        A.fold1All(A.min, source),
    )
    assert A.explain(folds).loops == 1
    first = np.full((*shape[:2], 1), -9.0)
    running = np.concatenate([first, np.maximum.accumulate(cube, axis=2)], axis=2)
    expected = [reference(running, "commuting"), running.max(), reference(cube, "commuting"), cube.min()]
    assert [float(found) for found in untyped.run(folds, backend=backend)] == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_scan_from_the_right_is_folded_while_it_runs(backend: str) -> None:
    """An exact fold of everything may visit rows from their ends."""
    m = np.arange(12).reshape(3, 4) * 7919 % 101
    results = A.fold1All(A.max, A.scanr1(A.add, A.use(m)))
    assert A.explain(results).loops == 1
    assert untyped.run(results, backend=backend) == m.sum(axis=1).max()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (2, 0, 3)])
def test_nothing_to_fold(shape: tuple[int, ...], backend: str) -> None:
    nothing = A.use(np.zeros(shape))
    assert untyped.run(A.foldAll(A.add, 3.0, nothing), backend=backend) == 3.0
    with pytest.raises(AccelValueError, match=r"^fold1All of an empty row: the array has shape \(0,\)"):
        untyped.run(A.fold1All(A.add, nothing), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_single_element_is_folded(backend: str) -> None:
    element = A.use(np.array(2.0))
    assert untyped.run(A.foldAll(lambda a, b: a - b, 3.0, element), backend=backend) == 1.0
    assert untyped.run(A.fold1All(lambda a, b: a - b, element), backend=backend) == 2.0


@pytest.mark.parametrize("backend", ["llvm", "opencl"])
def test_some_of_the_dimensions(backend: str) -> None:
    """No combinator folds two dimensions of three, but the core fold may."""
    example = folds_of_dimensions()
    chosen = choose(backend, 2)
    assert not isinstance(chosen, InterpreterBackend)
    executable = compiled(chosen, lower(build(example.program, example.fused)))
    expected = interpret(example.program, example.arguments)
    for found, wanted in zip(executable(example.arguments), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.llvm
@pytest.mark.solver
@pytest.mark.opencl
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 0, 2), (0, 2, 2), (2, 40, 3)])
def test_the_innermost_two_as_one_row(shape: tuple[int, int, int], backend: str) -> None:
    """Bit for bit the fold of the reshaped array, in one nest with what makes the elements."""
    x = np.random.default_rng(3).normal(size=shape)

    def two(xs: A.Acc[A.Array[A.DIM3, np.float64]]) -> Any:
        return U.fold(lambda a, b: a * 0.5 + b, 0.25, U.map(lambda v: v * v, xs), dims=2)

    def reshaped(xs: A.Acc[A.Array[A.DIM3, np.float64]]) -> Any:
        rows = U.reshape((shape[0], shape[1] * shape[2]), U.map(lambda v: v * v, xs))
        return U.fold(lambda a, b: a * 0.5 + b, 0.25, rows)

    found = untyped.run(two(A.use(x)), backend=backend)
    np.testing.assert_array_equal(found, untyped.run(reshaped(A.use(x)), backend="interpreter"))
    assert A.explain(two, x).loops == 1
    every = untyped.run(A.fold(A.add, 0, A.use(x), dims=3), backend=backend)
    np.testing.assert_array_equal(every, untyped.run(A.foldAll(A.add, 0, A.use(x)), backend="interpreter"))


def test_a_number_of_dimensions() -> None:
    matrix = A.use(np.ones((2, 3)))
    for dims in (0, 3, True, 1.5, None):
        with pytest.raises(A.AccelTypeError, match="fold takes a number of dimensions as `dims`"):
            A.fold(A.add, 0, matrix, dims=dims)  # type: ignore[call-overload]  # what is tested
