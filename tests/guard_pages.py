"""Arrays flush against a page that may not be touched: whoever reads or writes beyond them ends the process."""

from __future__ import annotations

import ctypes
import mmap
from math import prod

import numpy as np

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.buffers import Buffers
from accel.backends.protocol import HostArray

PAGE = mmap.PAGESIZE

Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def guarded_bytes(at_end: bool, size: int) -> Bytes:
    """Memory between two pages that may not be touched, flush against the one behind it or the one before it."""
    pages = -(-max(size, 1) // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    for guard in (start, start + (pages + 1) * PAGE):
        assert protect(ctypes.c_void_p(guard), ctypes.c_size_t(PAGE), 0) == 0
    offset = (pages + 1) * PAGE - size if at_end else PAGE
    return np.frombuffer(memory, np.uint8, size, offset)


def guarded(at_end: bool, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
    """An array between such pages."""
    return guarded_bytes(at_end, prod(shape) * element.bytes).view(element.dtype).reshape(shape)


def guarded_copy(at_end: bool, array: HostArray) -> HostArray:
    """The array between such pages, with its strides: what lies between its elements comes along."""
    low, high = np.lib.array_utils.byte_bounds(array)
    memory = guarded_bytes(at_end, high - low if array.size else 0)
    if not array.size:
        return memory.view(array.dtype).reshape(array.shape)
    ctypes.memmove(memory.ctypes.data, low, high - low)
    copy: HostArray = np.ndarray(array.shape, array.dtype, memory, array.ctypes.data - low, array.strides)
    copy.flags.writeable = array.flags.writeable
    return copy


class GuardedBuffers(Buffers):
    """A free list that keeps nothing: each array of a program, small ones too, lies between pages of its own."""

    def __init__(self, at_end: bool) -> None:
        super().__init__()
        self._at_end = at_end

    def take(self, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        return guarded(self._at_end, element, shape)
