"""Elementwise nests: any rank, any strides, rows of any length, values and mixed element types."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I8, I16, I32, I64, U8, ScalarType
from accel.ir.nodes import LoopDirection
from accel.labelled.array import Array
from tests.llvm import nests
from tests.marks import long, one_in

Row: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]
Cube: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[np.float32]]


@pytest.mark.parametrize("kind", one_in(3, [F32, F64, I8, I16, I32, I64, U8]))
@pytest.mark.parametrize("order", LoopDirection)
def test_products(kind: ScalarType, order: LoopDirection) -> None:
    inputs = [Array(k, 0, kind, (nests.N,)) for k in range(2)]
    program = nests.mapped(nests.binary(Operator.MUL, kind), inputs, kind, order)
    for size in (0, 1, 15, 16, 17, 33, 1000, 70_001):
        left, right = nests.numbers(kind, size, 1), nests.numbers(kind, size, 2)
        for threads in (1, 3):
            (result,) = nests.run(program, [left, right], threads)
            assert result.tobytes() == np.multiply(left, right).tobytes()


@pytest.mark.parametrize("kind", [F32, F64])
@pytest.mark.parametrize("operator", [Operator.MIN, Operator.MAX])
def test_extremes_of_zeros_and_nans_in_lanes(operator: Operator, kind: ScalarType) -> None:
    """NumPy's, but that of two zeros the negative one is the lesser."""
    ends = np.array([0.0, -0.0, 1, -1, 5e-324, np.inf, -np.inf, np.nan, -np.nan], kind.dtype)
    left, right = (np.tile(side.ravel(), 3) for side in np.meshgrid(ends, ends))
    program = nests.mapped(nests.binary(operator, kind), [Array(k, 0, kind, (nests.N,)) for k in range(2)], kind)
    (result,) = nests.run(program, [left, right], 1)
    signs = np.logical_or if operator is Operator.MIN else np.logical_and
    expected = (np.minimum if operator is Operator.MIN else np.maximum)(left, right)
    zero = (left == 0) & (right == 0)
    expected[zero] = np.where(signs(np.signbit(left), np.signbit(right)), -0.0, 0.0)[zero]
    there = ~np.isnan(expected)
    assert (np.isnan(result) == ~there).all()
    assert result[there].tobytes() == expected[there].tobytes()


@long
def test_large_results_are_stored_past_the_caches() -> None:
    inputs = [Array(k, 0, F32, (nests.N,)) for k in range(2)]
    program = nests.mapped(nests.binary(Operator.ADD, F32), inputs, F32)
    left = nests.numbers(F32, 9_000_003, 1)
    for start in (0, 1):
        (result,) = nests.run(program, [left[start:], left[start:]], 2)
        np.testing.assert_array_equal(result, np.add(left[start:], left[start:]))


def test_comparisons_are_bools() -> None:
    inputs = [Array(k, 0, F64, (nests.N,)) for k in range(2)]
    program = nests.mapped(nests.binary(Operator.LT, F64, BOOL), inputs, BOOL)
    left, right = nests.numbers(F64, 101, 1), nests.numbers(F64, 101, 2)
    assert nests.run(program, [left, right])[0].tolist() == np.less(left, right).tolist()


MATRICES = {
    "contiguous": lambda x: x,
    "rows apart": lambda x: x[:, ::2],
    "rows reversed": lambda x: x[:, ::-1],
    "rows of another": lambda x: x[..., 3:-4],
    "transposed": lambda x: x.transpose(1, 0, 2),
    "inner strided": lambda x: x[..., ::3],
    "broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
}


@pytest.mark.parametrize("view", MATRICES.values(), ids=MATRICES.keys())
@pytest.mark.parametrize("shape", [(3, 5, 7), (1, 4, 40), (40, 30, 100), (2, 0, 9), (5000, 2, 8)])
def test_rank_three(shape: tuple[int, int, int], view: object) -> None:
    assert callable(view)
    x: Cube = view(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    y: Cube = np.ascontiguousarray(x)
    for threads in (1, 3):
        result = A.run(A.zipWith(A.add, A.use(x), A.map(lambda e: e * 2, A.use(y))), threads=threads)
        np.testing.assert_array_equal(result, x + y * 2)


def test_rows_and_columns_are_repeated() -> None:
    rows: Row = np.arange(30, dtype=np.float32)
    columns: Row = np.arange(1000, dtype=np.float32)
    outer = A.zipWith(
        lambda a, b: a * 1000 + b, A.replicate((A.All, 1000), A.use(rows)), A.replicate((30, A.All), A.use(columns))
    )
    np.testing.assert_array_equal(A.run(outer), rows[:, None] * 1000 + columns)
