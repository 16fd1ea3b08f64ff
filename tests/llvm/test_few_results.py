"""Folds of windows, and of columns, in rows of fewer results than a vector has lanes: the others are masked, read nothing."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.protocol import compiled
from tests.llvm.test_columns import numbers, program
from tests.llvm.test_guard_pages import flush, survives
from tests.llvm.test_windows import FOLDS, agree

Given: TypeAlias = Any  # one function for arrays of several types


@pytest.mark.parametrize(
    ("kind", "element"),
    [
        ("f4", ScalarType.F32),
        ("f8", ScalarType.F64),
        ("i4", ScalarType.I32),
        ("u1", ScalarType.U8),
        ("i2", ScalarType.I16),
    ],
)
def test_rows_of_few_results(kind: str, element: ScalarType) -> None:
    """Lanes that are no results are masked, and read nothing: of narrow elements by code of their own, or by rows."""

    def pooled(x: Given, w: Given) -> Given:
        (several, high, wide), (rows, columns) = A.unlift(x.shape), A.unlift(w.shape)

        def product(ix: Given) -> Given:
            n, i, j, a, b = A.unindex(ix)
            return x[n, i + a, j + b] * w[a, b]

        shape = A.index(several, high - rows + 1, wide - columns + 1, rows, columns)
        return A.map(lambda e: e + 1, A.sum(A.sum(A.generate(shape, product))))

    given = program(pooled(A.use(numbers((2, 2, 2), kind)), A.use(numbers((2, 2), kind))))
    sets = [
        [numbers((40, 6, wide + 2), kind, wide), numbers((3, 3), kind)]
        for wide in (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 23, 33, 63, 64, 65)
    ]
    agree(given, *sets, [numbers((2, 11, 5), kind), numbers((10, 3), kind)])

    def work() -> None:
        for at_end in (False, True):
            for arguments in sets:
                (got,) = compiled(LLVMBackend(1), given)([flush(at_end, each, element) for each in arguments])
                assert got.tobytes() == compiled(LLVMBackend(1), given)(arguments)[0].tobytes()

    survives(work)


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u1", "i2"])
@pytest.mark.parametrize("fold", ["sum", "greatest", "both"])
def test_folds_over_a_middle_dimension(kind: str, fold: str) -> None:
    """Of few columns the rows that are folded lie together: up to a block of them stay in registers."""

    def folded(x: Given) -> Given:
        return FOLDS[fold](A.transposeOn(1, 2, x))

    given = program(folded(A.use(numbers((2, 2, 2), kind))))
    shapes = [
        (40, 3, 2),
        (9, 40, 7),
        (3, 63, 17),
        (5, 64, 3),
        (2, 100, 64),
        (2, 100, 65),
        (3, 301, 2),
        (2, 4096, 3),
        (1, 4097, 2),
    ]
    agree(given, *[[numbers(shape, kind, shape[1])] for shape in shapes])
