"""Folds of several rows at once: the bits of the order for every length, type and operator, and of every group of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F32, F64, I8, I64, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.templates.row_groups import RowsAtOnce
from accel.backends.protocol import compiled
from accel.explanation.explain import subject
from accel.ir.mentions import nests
from accel.labelled.meaning import order
from accel.schedule.templates.row_groups import RowGroups, row_groups
from accel.schedule.templates.ways import Finding
from accel.settings import Settings
from tests import untyped
from tests.llvm.nests import numbers
from tests.marks import one_in

Given: TypeAlias = Any  # one function for arrays of several types
Function: TypeAlias = Callable[..., Given]

LENGTHS = [1, 7, 16, 17, 31, 33, 63, 64, 65, 100, 127, 128, 131, 200]


def forced(text: NestText, found: Finding) -> Sequence[RowsAtOnce]:
    return [RowsAtOnce(text, found, every=True)] if isinstance(found, RowGroups) else []


def check(function: Function, *sets: Sequence[Given]) -> None:
    """The interpreter's bits for each set of arguments, wherever groups can run and where they do."""
    made = subject(function, sets[0], Settings()).staged.loops
    assert any(row_groups(nest) is not None for nest in nests(made))
    for backend in (LLVMBackend(2, forced), LLVMBackend(8)):
        executable = compiled(backend, made)
        for arguments in sets:
            expected = A.run(function(*map(A.use, arguments)), backend="interpreter")
            results = expected if isinstance(expected, tuple) else (expected,)
            for right, got in zip(results, executable(arguments), strict=True):
                assert np.asarray(right).tobytes() == got.tobytes()


def matrix(kind: ScalarType, rows: int, columns: int) -> Given:
    return numbers(kind, rows * columns, rows + columns).reshape(rows, columns)


def times_vector(m: A.Acc[Given], v: A.Acc[Given]) -> A.Acc[Given]:
    rows = A.unindex(m.shape)[0]
    return A.sum(A.zipWith(A.mul, m, A.replicate((rows, A.All), v)))


FOLDS: dict[str, Function] = {
    "sum": lambda m: A.fold(A.add, 3, m),
    "product without a seed": lambda m: A.fold1(A.mul, m),
    "maximum": lambda m: A.fold1(A.max, m),
}


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("kind", one_in(2, [F32, F64, I8, I64]))
def test_rows_of_all_lengths(fold: str, kind: ScalarType) -> None:
    check(FOLDS[fold], *([matrix(kind, rows, length)] for rows, length in zip(range(8, 50, 3), LENGTHS, strict=True)))


@pytest.mark.parametrize("kind", [F32, F64])
def test_matrix_times_vector(kind: ScalarType) -> None:
    shapes = [(16, 20), (35, 33), (17, 64), (70, 131), (16, 3100)]
    check(times_vector, *([matrix(kind, *shape), numbers(kind, shape[1], 1)] for shape in shapes))


def test_rows_of_several_blocks() -> None:
    """The definition of the order, of each row."""
    made = subject(FOLDS["sum"], [np.ones((2, 2), np.float32)], Settings()).staged.loops
    executable = compiled(LLVMBackend(2, forced), made)
    for shape in ((16, 4096), (17, 4097), (18, 12345)):
        m = matrix(F32, *shape)
        expected = [np.float32(3) + order.fold(list(row), np.add, True, 64) for row in m]
        assert executable([m])[0].tolist() == expected


def test_what_is_made_of_rows() -> None:
    """What stands before and after the fold, and several folds at once."""

    def scaled(m: A.Acc[Given], seeds: A.Acc[Given]) -> tuple[A.Acc[Given], ...]:
        total = A.sum(A.map(lambda e: e * e, m))
        return A.zipWith(lambda s, t: s / (t + 1), seeds, total), A.fold1(A.min, m), A.fold(A.add, 0, m)

    check(scaled, *([matrix(F32, 40, length), numbers(F32, 40, 4)] for length in (3, 30, 66)))


@pytest.mark.parametrize("kind", [F32, F64])
def test_sums_of_sums(kind: ScalarType) -> None:
    """Over the first and the last dimension, with something in between."""

    def function(t: A.Acc[Given]) -> tuple[A.Acc[Given], ...]:
        rows = A.transposeOn(-3, -2, t)
        return A.sum(A.map(lambda s: s * s, A.fold(A.add, 1, rows))), A.fold1(A.max, A.fold1(A.min, rows))

    sets = [numbers(kind, m * n * k, 7).reshape(m, n, k) for m, n, k in ((1, 16, 20), (70, 17, 33), (3, 40, 5))]
    check(function, *([each] for each in sets))


def test_bools_and_tuples() -> None:
    def both(m: A.Acc[Given]) -> A.Acc[Given]:
        def added(a: Given, b: Given) -> Given:
            return A.lift(A.fst(a) + A.fst(b), A.snd(a) + A.snd(b))

        return A.map(lambda t: A.fst(t) / A.snd(t), A.fold1(added, A.map(lambda e: A.lift(e, e * 2), m)))

    check(both, [matrix(F32, 33, 21)], [matrix(F32, 16, 70)])
    check(lambda m: A.fold(lambda a, b: a ^ b, True, m), [matrix(BOOL, 37, 45)])


def test_more_dimensions_and_strides() -> None:
    array = numbers(F32, 3 * 40 * 50, 5).reshape(3, 40, 50)
    check(FOLDS["sum"], [array], [array[:, ::2, :]], [array[::-1, ::-1, :]])


def test_an_index_that_is_out_of_bounds_is_the_rows_error() -> None:
    m = A.use(matrix(F32, 40, 30))
    with pytest.raises(A.AccelIndexError, match=r"\(40, 0\)"):
        untyped.run(A.sum(A.backpermute((41, 30), lambda ix: ix, m)), backend="llvm")


@pytest.mark.parametrize(
    "function",
    [
        lambda m: A.sum(A.transpose(m)),
        lambda m: A.fold1(A.sub, m),
        lambda m: A.scanl1(A.add, m),
        lambda m: A.sum(A.flatten(m)),
    ],
    ids=["columns", "does not commute", "a scan", "all"],
)
def test_what_is_left_to_rows(function: Function) -> None:
    made = subject(function, [matrix(F32, 20, 20)], Settings()).staged.loops
    assert all(row_groups(nest) is None for nest in nests(made))
