"""Folds of short rows with lanes across the rows: the bits of the reference's order for every length, type and operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F32, F64, I8, I64, U8, ScalarType
from tests import untyped
from tests.llvm import nests
from tests.marks import long, numbers_of_threads, one_in, slow

Numbers: TypeAlias = npt.NDArray[Any]  # of any element type and rank
Program: TypeAlias = Callable[..., Any]  # its results' types follow from its arguments'


def runs_across_rows(program: A.Acc[Any]) -> bool:
    return "_short_rows(ptr %frame, i64 %low" in A.explain(program).stages["llvm"]


def check(program: Program, arrays: Sequence[Numbers]) -> None:
    """Bits of the interpreter's, for any number of threads; with lanes across rows."""
    built = program(*map(A.use, arrays))
    assert runs_across_rows(built)
    expected = A.run(built, backend="interpreter")
    for threads in numbers_of_threads():
        result = A.run(built, backend="llvm", threads=threads)
        for each, other in zip(_each(result), _each(expected), strict=True):
            assert each.tobytes() == other.tobytes()


def _each(result: object) -> Sequence[Numbers]:
    return [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]


def matrix(kind: ScalarType, rows: int, columns: int) -> Numbers:
    return nests.numbers(kind, rows * columns, rows + columns).reshape(rows, columns)


def largest_with_place(x: A.Acc[Any]) -> A.Acc[Any]:
    """The greatest element of each row and its place; of equals the first."""
    numbered = A.imap(lambda ix, e: A.lift(e, A.unindex(ix)[1]), x)
    return A.fold1(lambda a, b: A.cond(b[0] > a[0], b, a), numbered)


FOLDS: dict[str, Program] = {
    "a sum": lambda x: A.fold(A.add, 3, x),
    "a product without a seed": lambda x: A.fold1(A.mul, x),
    "a maximum": lambda x: A.fold1(A.max, x),
    "a difference": lambda x: A.fold1(A.sub, x),
    "a difference from a seed": lambda x: A.fold(A.sub, 1, x),
}

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 13, 31, 32, 63, 64, 65, 127, 128, 129, 200, 255, 256]


@pytest.mark.parametrize("fold", one_in(2, FOLDS))
@pytest.mark.parametrize("kind", one_in(2, [F32, F64, I8, I64, U8]))
@pytest.mark.parametrize("length", one_in(3, LENGTHS))
def test_rows_of_all_lengths(fold: str, kind: ScalarType, length: int) -> None:
    for rows in (1, 7, 8, 16, 17, 33):
        check(FOLDS[fold], [matrix(kind, rows, length)])


@pytest.mark.parametrize("length", [1, 3, 9, 40, 64, 150])
def test_bools_and_tuples(length: int) -> None:
    check(lambda x: A.fold(lambda a, b: a & b, True, x), [matrix(BOOL, 37, length)])
    check(largest_with_place, [matrix(F32, 37, length)])
    check(largest_with_place, [matrix(F64, 21, length) * 0])
    check(lambda x: A.fold(lambda a, b: a | b, False, A.map(lambda e: e > 20, x)), [matrix(F32, 37, length)])


@pytest.mark.parametrize("shape", [(3, 20, 5), (2, 3, 17, 4), (20, 1, 16, 2)])
def test_rows_of_rank_three_and_more(shape: tuple[int, ...]) -> None:
    array = nests.numbers(F32, int(np.prod(shape)), 5).reshape(shape)
    check(FOLDS["a sum"], [array])
    check(FOLDS["a difference"], [array])
    check(FOLDS["a sum"], [array[..., ::2, :]])
    check(FOLDS["a sum"], [array[::-1, ..., ::-1, :]])


@pytest.mark.parametrize("length", [2, 3, 8, 50])
def test_what_is_made_of_rows(length: int) -> None:
    rows = matrix(F32, 100, length)
    check(lambda x: A.map(lambda s: s / length, A.fold(A.add, 0, A.map(lambda e: e * e, x))), [rows])
    check(lambda x: (A.fold(A.add, 0, x), A.fold1(A.min, x), A.fold1(A.sub, x)), [rows])
    weights, seeds = nests.numbers(F32, length, 3), nests.numbers(F32, 100, 4)
    check(lambda x, w: A.fold(A.add, 0, A.zipWith(A.mul, x, A.replicate((100, A.All), w))), [rows, weights])
    check(lambda x, s: A.zipWith(A.add, s, A.fold(A.add, 0, x)), [rows, seeds])


@pytest.mark.parametrize("kind", [F32, F64])
@pytest.mark.parametrize("length", [1, 3, 16, 31, 33, 63])
def test_sums_of_products(kind: ScalarType, length: int) -> None:
    left, right = matrix(kind, 35, length), matrix(kind, 35, length)[::-1]
    check(lambda x, y: A.fold(A.add, 0, A.zipWith(A.mul, x, y)), [left, right])
    check(lambda x, y: A.fold(A.add, 1, A.zipWith(lambda a, b: (a - b) * (a - b), x, y)), [left, right])
    check(lambda x, y: (A.fold(A.add, 1, A.zipWith(A.mul, x, y)), A.fold(A.add, 0, x)), [left, right])


@slow
@pytest.mark.parametrize("length", [3, 4, pytest.param(8, marks=long), pytest.param(31, marks=long)])
def test_many_rows(length: int) -> None:
    rows = matrix(F32, 40_001, length)
    check(FOLDS["a sum"], [rows])
    check(FOLDS["a difference"], [rows])


@pytest.mark.parametrize(
    "program",
    [lambda x: A.fold(A.add, 0.0, A.transpose(x)), lambda x: A.foldAll(A.add, 0.0, x), lambda x: A.scanl1(A.add, x)],
    ids=["columns", "all", "a scan"],
)
def test_what_does_not_run_across_rows(program: Program) -> None:
    assert not runs_across_rows(program(A.use(np.ones((50, 5)))))


def test_rows_that_are_empty() -> None:
    empty = A.use(np.ones((50, 0), np.float32))
    assert np.asarray(untyped.run(A.fold(A.add, 2, empty), backend="llvm")).tolist() == [2.0] * 50
    with pytest.raises(A.AccelError, match="fold1"):
        A.run(A.fold1(A.sub, empty), backend="llvm")
