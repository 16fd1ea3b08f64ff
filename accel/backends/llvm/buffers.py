"""Memory for arrays: aligned, and large blocks used again while their pages are warm.

Fresh pages cost more than what most kernels do with them. A block of 1 MB or more that no array refers to any more goes to a
free list, by its size; the next array of about that size gets it. Blocks belong to leases: an array holds its lease as its
base, so views of it, which users may keep, hold it too.
"""

from __future__ import annotations

import os
import threading
import weakref
from functools import cache
from math import prod

import numpy as np

from accel.ast.types import ScalarType
from accel.backends.protocol import HostArray

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""

SMALL = 4096
"""Bytes below which a buffer is not aligned: it would cost more than it gives."""

LARGE = 1 << 20
"""Bytes from which on blocks are kept."""

KEPT = 1 << 30
"""The most bytes that wait in the free list."""

Block = np.ndarray[tuple[int], np.dtype[np.uint8]]


class _Lease:
    """A block in use, as NumPy sees it."""

    def __init__(self, block: Block) -> None:
        self.__array_interface__ = block.__array_interface__


class Buffers:
    """The process's free list."""

    def __init__(self) -> None:
        # Leases end wherever the last reference is dropped, also inside of `take`: the lock must let its holder in again.
        self._lock = threading.RLock()
        self._free: dict[int, list[Block]] = {}
        self._bytes = 0

    def take(self, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """An uninitialised C-contiguous array. Raises `MemoryError`."""
        size = prod(shape) * element.bytes
        if size < SMALL:
            return np.empty(shape, element.dtype)
        if size < LARGE:
            return _within(np.empty(size + ALIGNMENT, np.uint8), size, element, shape)
        block = self._block(_rounded(size + ALIGNMENT))
        lease = _Lease(block)
        # Not at exit: there is nobody to use the block again.
        weakref.finalize(lease, self._give, block).atexit = False
        return _within(np.asarray(lease), size, element, shape)

    def _block(self, size: int) -> Block:
        with self._lock:
            free = self._free.get(size)
            if free:
                self._bytes -= size
                return free.pop()
        try:
            return np.empty(size, np.uint8)
        except MemoryError:
            self.clear()
            return np.empty(size, np.uint8)

    def _give(self, block: Block) -> None:
        with self._lock:
            if self._bytes + block.size <= KEPT:
                self._free.setdefault(block.size, []).append(block)
                self._bytes += block.size

    def renew_lock(self) -> None:
        """In a forked child: another thread may have held the lock."""
        self._lock = threading.RLock()

    def clear(self) -> None:
        """Gives all free blocks back to the system."""
        with self._lock:
            self._free.clear()
            self._bytes = 0


def _rounded(size: int) -> int:
    """At most an eighth more, so that arrays of about the same size share blocks."""
    unit = 1 << max(12, size.bit_length() - 4)
    return -(-size // unit) * unit


def _within(memory: HostArray, size: int, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
    """The array in a block, from a cache line's start on."""
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(element.dtype).reshape(shape)


@cache
def buffers() -> Buffers:
    """The free list, made on first demand."""
    made = Buffers()
    os.register_at_fork(after_in_child=made.renew_lock)
    return made
