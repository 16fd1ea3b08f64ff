"""Memory for arrays: aligned, and large blocks used again while their pages are warm.

Fresh pages cost more than what most kernels do with them. A block of 512 KB or more that no array refers to any more goes to a
free list, by its size; the next array of about that size gets it. Blocks belong to leases: an array holds its lease as its
base, so views of it, which users may keep, hold it too.

Leases end wherever the last reference is dropped, also in the middle of `take`, and programs run in signal handlers and forked
children. So there is no lock: every change is one operation of a list or a dictionary, which Python does whole or not at all.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from math import prod

import numpy as np

from accel.ast.tree.types import ScalarType
from accel.backends.protocol import HostArray
from accel.support.forks import Once

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""

SMALL = 4096
"""Bytes below which a buffer is not aligned: it would cost more than it gives."""

PAGED = 1 << 15
"""Bytes from which on arrays begin with a page."""

PAGE = 4096
"""Bytes. At first, processors tell loads from earlier stores by their place in a page only, and loads wait for stores that
seem to be in their way: scans took 2.5 times as long where the result lay 48 bytes further in its page than what was read.
NumPy's large arrays lie 16 bytes behind the beginning of a page. Results lie at the beginning, so that loops that go forward
store behind their loads.
"""

LARGE = 1 << 19
"""Bytes from which on blocks are kept."""

KEPT = 1 << 30
"""The most bytes that wait in the free list."""


class _Block:
    """Memory, and how NumPy is told of it: an attribute that takes a microsecond to make."""

    __slots__ = ("__array_interface__", "_memory", "size")

    def __init__(self, size: int) -> None:
        self._memory = np.empty(size, np.uint8)
        self.__array_interface__ = self._memory.__array_interface__
        self.size = size


class _Lease:
    """A block in use, as NumPy sees it. Once nothing refers to it, the block is given back."""

    __slots__ = ("__array_interface__", "_block", "_give")

    def __init__(self, block: _Block, give: Callable[[_Block], None]) -> None:
        self.__array_interface__ = block.__array_interface__
        self._block, self._give = block, give

    def __del__(self) -> None:
        self._give(self._block)


class Buffers:
    """The process's free list."""

    def __init__(self) -> None:
        self._free: dict[int, list[_Block]] = {}

    def take(self, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """An uninitialised C-contiguous array. Raises `MemoryError`."""
        size = prod(shape) * element.bytes
        if size < SMALL:
            return np.empty(shape, element.dtype)
        if size < LARGE:
            start = PAGE if size >= PAGED else ALIGNMENT
            return _within(np.empty(size + start, np.uint8), start, element, shape)
        lease = _Lease(self._block(_rounded(size + PAGE)), self._give)
        return _within(np.asarray(lease), PAGE, element, shape)

    def _block(self, size: int) -> _Block:
        free = self._free.get(size)
        if free is not None:
            with contextlib.suppress(IndexError):  # it is empty
                return free.pop()
        try:
            return _Block(size)
        except MemoryError:
            self.clear()
            return _Block(size)

    def _give(self, block: _Block, most: int = KEPT) -> None:
        # `most` is a default because names of modules may be gone when the last results go, at exit.
        if self._kept() + block.size <= most:
            self._free.setdefault(block.size, []).append(block)

    def _kept(self) -> int:
        """The bytes that wait. There are but a few sizes, see `_rounded`."""
        return sum(size * len(blocks) for size, blocks in self._free.copy().items())

    def clear(self) -> None:
        """Gives all free blocks back to the system."""
        self._free.clear()


def _rounded(size: int) -> int:
    """At most an eighth more, so that arrays of about the same size share blocks."""
    unit = 1 << max(12, size.bit_length() - 4)
    return -(-size // unit) * unit


def _within(memory: HostArray, unit: int, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
    """The array in a block, from a multiple of `unit` bytes on."""
    # The first word behind the head of an array object says where its elements lie: `check_array_layout` has looked. Asking
    # NumPy takes eight times as long.
    address = ctypes.c_int64.from_address(id(memory) + 16).value
    return np.ndarray(shape, element.dtype, memory, -address % unit)


buffers = Once(Buffers)
"""The free list, made on first demand."""
