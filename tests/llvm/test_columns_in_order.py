"""Folds down columns that do not commute: a lane for each column, whose runs of the order join in pairs: the bits of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.labelled.meaning import order
from tests.llvm.test_columns import SHAPES, gives, numbers
from tests.llvm.test_columns import program as lowered
from tests.untyped import run, runN

Program = Callable[[Any], Any]
COLUMNS = (1, 5, 8, 16, 33, 300)
ROWS = (1, 2, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 4097, 9000)


def affine(xs: Any) -> Any:
    """What maps of x to a x + b come to, one after the other."""
    pairs = A.map(lambda x: A.lift(1 - x / 64, x), xs)
    return A.unzip(A.fold1(lambda f, g: A.lift(f[0] * g[0], f[1] * g[0] + g[1]), pairs))


def seeded(xs: Any) -> Any:
    return (A.fold(lambda x, y: x - y / 3, 2, xs),)


def beside(xs: Any) -> Any:
    """In the same loop as a fold in any order, and what becomes of both."""
    last = A.fold1(lambda x, y: A.cond(y > 0.5, y, x * 0.75), xs)
    return A.zipWith(A.mul, last, A.maximum(xs)), last


def mixed(xs: Any) -> Any:
    """Components of several widths, the place of one of them."""
    pairs = A.imap(lambda ix, x: A.lift(x, ix[1], x > 0.3), xs)
    joined = A.fold1(lambda f, g: A.cond(f[2] & (f[0] * 0.9 >= g[0]), A.lift(f[0] * 0.9, f[1], g[2]), g), pairs)
    return A.unzip3(joined)


PROGRAMS: tuple[Program, ...] = (affine, seeded, beside, mixed)


def folds(program: Program, threads: int = 1) -> tuple[Any, Any]:
    """Of the columns of a matrix, and of the rows of its transpose."""
    return runN(lambda xs: program(A.transpose(xs)), threads=threads), runN(program, threads=1)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_the_order_of_whole_rows(kind: str) -> None:
    """Strips and parts of all kinds have the bits of the order: all elements of a run are combined one after the other."""
    sets = [numbers(shape, kind) for shape in SHAPES]
    width = order.lanes([ScalarType.F64 if kind == "f8" else ScalarType.F32])
    folded = [order.fold(list(m), lambda a, b: a - b / 2, False, width) if len(m) else 0 for m in sets]
    expected = [np.zeros(m.shape[1:], kind) - f / 2 for m, f in zip(sets, folded, strict=True)]
    given = A.fold(lambda a, b: a - b / 2, 0, A.transpose(A.use(numbers((2, 2), kind))))
    gives(lowered(given), [[m] for m in sets], [[e] for e in expected])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
def test_columns_have_the_bits_of_rows(program: Program, kind: type[np.floating], threads: int) -> None:
    down, along = folds(program, threads)
    for columns in COLUMNS:
        for rows in ROWS:
            xs = np.random.default_rng(rows).random((rows, columns)).astype(kind)
            for found, wanted in zip(down(xs), along(np.ascontiguousarray(xs.T)), strict=True):
                assert found.tobytes() == wanted.tobytes(), (rows, columns)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_interpreter_agrees(program: Program) -> None:
    down, _ = folds(program)
    for rows in (1, 64, 130, 300):
        xs = np.random.default_rng(rows).random((rows, 9))
        wanted = run(program(A.transpose(A.use(xs))), backend="interpreter")
        for found, other in zip(down(xs), wanted, strict=True):
            assert found.tobytes() == other.tobytes(), rows


def test_windows_are_left_to_rows() -> None:
    def last(xs: Any) -> Any:
        windows = A.generate((300, 7), lambda ix: xs[ix[0] + ix[1]])
        return A.fold(lambda x, y: A.cond(y > 0.7, y, x - y), 0, windows)

    xs = np.random.default_rng(1).random(306)
    wanted = run(last(A.use(xs)), backend="interpreter")
    assert runN(last)(xs).tobytes() == wanted.tobytes()


def test_the_best_way_into_each_state() -> None:
    """A step of Viterbi's: of all states before the first that leads best into each one, whose matrix is read down columns."""

    def step(v: Any, weights: Any) -> Any:
        pairs = A.imap(lambda ix, w: A.lift(v[ix[1]] + w, ix[1]), A.transpose(weights))
        return A.unzip(A.fold1(lambda a, b: A.cond(a[0] >= b[0], a, b), pairs))

    random = np.random.default_rng(2)
    v, weights = random.integers(0, 5, 48).astype(float), random.integers(0, 5, (48, 48)).astype(float)
    value, place = runN(step)(v, weights)
    ways = v[:, None] + weights
    assert np.array_equal(value, ways.max(axis=0))
    assert np.array_equal(place, ways.argmax(axis=0))
    assert ": columns" in A.explain(step, v, weights).stages["schedule"]


def test_parts_of_several_widths() -> None:
    """What parts of columns come to stands on the stack, components behind each other: processors ended there."""

    def both(xs: Any) -> Any:
        return A.unzip(
            A.fold1(
                lambda f, g: A.lift(f[0] + g[0], f[1] + g[1]), A.map(lambda x: A.lift(A.cast(x, np.float32), x), xs)
            )
        )

    down, along = runN(lambda xs: both(A.transpose(xs)), threads=3), runN(both, threads=1)
    for columns in COLUMNS:
        xs = np.random.default_rng(columns).random((9000, columns))
        for found, wanted in zip(down(xs), along(np.ascontiguousarray(xs.T)), strict=True):
            assert found.tobytes() == wanted.tobytes(), columns


def test_columns_of_nothing() -> None:
    down, _ = folds(seeded)
    assert down(np.zeros((0, 5)))[0].tolist() == [2.0] * 5
    down, _ = folds(affine)
    with pytest.raises(A.AccelValueError):
        down(np.zeros((0, 5)))
