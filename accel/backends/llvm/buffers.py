"""Memory for arrays, handed out again once nobody refers to it.

A fresh large array costs a page fault for every page (measured: 1.4 times the time of a loop that only writes it, more with
small pages). So the memory of large arrays is kept, results that the caller has dropped included: an array's memory is free
when the pool holds the only reference to it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque

import numpy as np

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""

LARGE = 1 << 20
"""Bytes from which on memory is kept: below, `malloc` does as well."""

_KEPT_ALONE = 3
"""References to memory that is free: the pool's list, the loop over it, and the argument of `getrefcount`."""


class Buffers:
    """Aligned memory; keeps at most `capacity` bytes of large pieces, the ones made last."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: deque[np.ndarray[tuple[int], np.dtype[np.uint8]]] = deque()
        self._held = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        """`size` bytes, aligned, with anything in them; raises `MemoryError`."""
        if size < LARGE:
            return _aligned(np.empty(size + ALIGNMENT, np.uint8), size)
        with self._lock:
            for memory in self._kept:
                # Another thread cannot take it between the test and the view: both are under the lock.
                if memory.size == size + ALIGNMENT and sys.getrefcount(memory) == _KEPT_ALONE:
                    return _aligned(memory, size)
        memory = np.empty(size + ALIGNMENT, np.uint8)
        with self._lock:
            self._kept.append(memory)
            self._held += memory.size
            while self._held > self._capacity:
                self._held -= self._kept.popleft().size
        return _aligned(memory, size)

    def forget(self) -> None:
        """Keep nothing; memory that is in use goes when its arrays go."""
        with self._lock:
            self._kept.clear()
            self._held = 0


def _aligned(
    memory: np.ndarray[tuple[int], np.dtype[np.uint8]], size: int
) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size]


def default_capacity() -> int:
    """A sixteenth of the machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 16
