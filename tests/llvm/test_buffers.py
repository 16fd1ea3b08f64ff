"""Memory of large arrays is used again once nobody refers to it, and never before."""

from __future__ import annotations

import threading

import numpy as np

from accel.backends.llvm.buffers import ALIGNMENT, LARGE, Buffers

SIZE = 2 * LARGE


def address(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> int:
    return array.ctypes.data


def test_memory_is_aligned() -> None:
    buffers = Buffers(10 * SIZE)
    for size in (0, 1, 100, LARGE - 1, LARGE, SIZE):
        memory = buffers.take(size)
        assert memory.size == size
        assert address(memory) % ALIGNMENT == 0 or size == 0


def test_dropped_memory_is_taken_again() -> None:
    buffers = Buffers(10 * SIZE)
    first = buffers.take(SIZE)
    place = address(first)
    del first
    assert address(buffers.take(SIZE)) == place


def test_memory_in_use_is_not_taken_again() -> None:
    buffers = Buffers(10 * SIZE)
    typed = buffers.take(SIZE).view(np.float64).reshape(-1, 2)
    part = typed[5:, 1]
    del typed
    other = buffers.take(SIZE)
    assert not np.shares_memory(part, other)


def test_no_more_than_the_capacity_is_kept() -> None:
    buffers = Buffers(2 * SIZE)
    places = set()
    for size in (SIZE, SIZE + 64, SIZE + 128, SIZE + 192):
        places.add(address(buffers.take(size)))
    assert buffers._held <= 2 * SIZE  # the promise itself
    assert len(buffers._kept) <= 2


def test_threads_never_share() -> None:
    buffers = Buffers(100 * SIZE)
    wrong: list[int] = []

    def work(mark: int) -> None:
        for _ in range(50):
            memory = buffers.take(SIZE)
            memory[:1000] = mark
            if (memory[:1000] != mark).any():
                wrong.append(mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
