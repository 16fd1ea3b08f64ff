"""Buffers are aligned, and large ones are used again once nothing refers to them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from accel.ast.tree.types import F32, F64, U8
from accel.backends.llvm.machine.blocks_text import ALIGNMENT, KEPT, LARGE, MOST, PAGE, PAGED
from accel.backends.llvm.machine.buffers import Buffers


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (7, 5), (5000,), (300_000,), (1000, 1001)])
def test_shape_and_alignment(shape: tuple[int, ...]) -> None:
    array = Buffers().take(F64, shape)
    assert array.shape == shape
    assert array.dtype == np.float64
    assert array.flags.c_contiguous
    assert array.flags.writeable
    if array.nbytes >= 4096:
        assert array.ctypes.data % (PAGE if array.nbytes >= PAGED else ALIGNMENT) == 0


def test_blocks_are_used_again() -> None:
    buffers = Buffers()
    first = buffers.take(F32, (1_000_000,))
    address = first.ctypes.data
    del first
    assert buffers.take(F32, (1000, 1000)).ctypes.data == address


def test_a_view_keeps_its_block() -> None:
    buffers = Buffers()
    first = buffers.take(F32, (1_000_000,))
    view = first[10:20]
    view[:] = 7
    address = first.ctypes.data
    del first
    other = buffers.take(F32, (1_000_000,))
    assert other.ctypes.data != address
    other[:] = 0
    assert view.tolist() == [7] * 10


def test_what_is_kept_has_a_bound() -> None:
    buffers = Buffers()
    tracemalloc.start()
    try:
        arrays = [buffers.take(U8, (KEPT // 4,)) for _ in range(6)]
        assert tracemalloc.get_traced_memory()[0] > KEPT
        arrays.clear()
        assert KEPT // 2 < tracemalloc.get_traced_memory()[0] <= KEPT
        # What is listed is counted rightly also once some of it was taken again.
        arrays = [buffers.take(U8, (KEPT // 4,)) for _ in range(6)]
        arrays.clear()
        assert KEPT // 2 < tracemalloc.get_traced_memory()[0] <= KEPT
        buffers.clear()
        assert tracemalloc.get_traced_memory()[0] < KEPT // 8
    finally:
        tracemalloc.stop()


def test_the_newest_blocks_are_kept() -> None:
    buffers = Buffers()
    quarter = KEPT // 4 + 1
    arrays = [buffers.take(U8, (quarter,)) for _ in range(5)]
    addresses = [array.ctypes.data for array in arrays]
    assert len(set(addresses)) == 5
    arrays.clear()
    kept = [buffers.take(U8, (quarter,)) for _ in range(3)]
    assert [array.ctypes.data for array in kept] == addresses[2:]
    buffers.clear()


def test_more_arrays_than_are_listed_are_apart() -> None:
    buffers = Buffers()
    arrays = [buffers.take(U8, (LARGE,)) for _ in range(2 * MOST)]
    for number, array in enumerate(arrays):
        array[:] = number
    assert all((array == number).all() for number, array in enumerate(arrays))
    assert len({array.ctypes.data for array in arrays}) == 2 * MOST


@pytest.mark.parametrize("shape", [(1 << 62, 4), (1 << 64,), (1 << 40, 1 << 40), (0, 1 << 63)])
def test_what_no_address_counts_is_no_memory(shape: tuple[int, ...]) -> None:
    with pytest.raises(MemoryError):
        Buffers().take(F64, shape)
