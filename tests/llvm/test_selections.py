"""The first few places of rows, against NumPy's stable sort: all types, both orders, ties, NaNs, zeros of both signs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.sorting.selection import select_into, suits
from accel.backends.llvm.sorting.selection_frame import MOST
from accel.backends.llvm.sorting.selection_text import BLOCK_BYTES, GROUPS
from accel.backends.sorting import FEW, are_few
from tests import untyped
from tests.guard_pages import guarded_copy

pytestmark = pytest.mark.llvm

Host = np.ndarray[Any, np.dtype[Any]]
KINDS = [np.bool_, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64]


def selected(rows: Host, descending: bool, first: int, threads: int = 1) -> Host:
    """The first places of each row, of which the result has room for no more than there must be."""
    assert first <= MOST
    assert are_few(rows.shape, first)
    result = guarded_copy(True, np.full(rows.shape, -1))
    kind = next(kind for kind in ScalarType if kind.dtype == rows.dtype)
    select_into(result, guarded_copy(True, rows), kind, descending, first, threads)
    return result[..., :first]


def meant(rows: Host, descending: bool, first: int) -> Host:
    """The same by a stable sort of all; NaNs are the greatest, and equal to each other."""
    last = rows.shape[-1] - 1
    order = np.argsort(rows[..., ::-1] if descending else rows, -1, kind="stable")
    places: Host = last - order[..., ::-1] if descending else order
    return places[..., :first]


def lengths(kind: Any) -> list[int]:
    block = BLOCK_BYTES // np.dtype(np.float32 if kind is np.float16 else kind).itemsize
    return [FEW, 3 * FEW + 1, GROUPS - 1, GROUPS, GROUPS + 5, 4 * GROUPS + 17, block, block + 3, 2 * block + GROUPS]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_first_places_of_rows(kind: Any, descending: bool) -> None:
    for length, most in product(lengths(kind), (3, 120)):
        random = np.random.default_rng(length)
        rows = random.integers(0, most, (6, length)).astype(kind)
        if np.issubdtype(kind, np.floating):
            rows[1:4] -= most // 2
            rows[2][random.random(length) < 0.5] = -0.0
            rows[3][random.random(length) < 0.3] = np.nan
            rows[4] = np.nan
            rows[5, 1::2] = -np.inf
        else:
            rows[4] = rows.max()
            rows[5] = np.sort(rows[5])
        for first in {1, 2, 7, MOST}:
            if first * FEW <= length:
                assert np.array_equal(selected(rows, descending, first), meant(rows, descending, first))


@pytest.mark.parametrize("descending", [False, True])
def test_rows_that_rise_and_fall_and_threads(descending: bool) -> None:
    rising = np.arange(10_000.0, dtype=np.float32) // 3
    rows = np.stack([rising, rising[::-1], np.random.default_rng(0).permutation(rising)] * 20)
    for first, threads in product((1, 5, 31), (1, 3)):
        assert np.array_equal(selected(rows, descending, first, threads), meant(rows, descending, first))


def test_short_rows_are_the_hosts() -> None:
    """Unless keys have eight bytes, or threads share the rows."""
    assert suits((4000, 1000), ScalarType.F32, 10, 1)
    assert not suits((4000, 100), ScalarType.F32, 10, 1)
    assert suits((4000, 100), ScalarType.F64, 10, 1)
    assert suits((4000, 100), ScalarType.F32, 10, 4)
    assert not suits((4000, 1000), ScalarType.F32, MOST + 1, 4)


def test_programs_select_where_few_are_wanted() -> None:
    rows = np.random.default_rng(1).normal(size=(3, 5, 400)).astype(np.float32)
    for count in (1, MOST, MOST + 1, 50, 51):
        values, places = untyped.run(A.topK(count, A.use(rows)))
        assert np.array_equal(places, meant(rows, True, count))
        assert np.array_equal(values, np.take_along_axis(rows, places, -1))
        assert np.array_equal(untyped.run(A.take(count, A.argsort(A.use(rows)))), meant(rows, False, count))
    nothing = untyped.run(A.topK(0, A.use(rows)))[0]
    assert nothing.shape == (3, 5, 0)
