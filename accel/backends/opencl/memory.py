"""A device's memory: buffers by size class, kept for reuse when nobody uses them.

All work of a device goes through one queue that runs in order, so a buffer may be handed out again while the kernels that
read it still wait there.
"""

from __future__ import annotations

import threading
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.types import BOOL, ScalarType
from accel.backends.protocol import HostArray

if TYPE_CHECKING:
    import pyopencl

LEAST = 64
"""Bytes of the smallest buffer: OpenCL has no empty ones, and atomics on small elements touch whole words."""


def size_class(size: int) -> int:
    """The least of the sizes that buffers have: steps of an eighth, so that similar sizes share buffers."""
    size = max(size, LEAST)
    step = max(1 << max(size.bit_length() - 4, 0), LEAST)
    return -(-size // step) * step


class Memory:
    """The buffers of one device. Safe to use from several threads."""

    def __init__(self, device: pyopencl.Device) -> None:
        import pyopencl

        self.context = pyopencl.Context([device])
        self.queue = pyopencl.CommandQueue(self.context, device)
        self._largest = int(device.max_mem_alloc_size)
        self._limit = int(device.global_mem_size) // 4
        self._free: dict[int, list[pyopencl.Buffer]] = {}
        self._pooled = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> pyopencl.Buffer:
        """A buffer of at least `size` bytes with any contents. Raises `MemoryError`."""
        rounded = size_class(size)
        with self._lock:
            if free := self._free.get(rounded):
                self._pooled -= rounded
                return free.pop()
        try:
            return self._new(rounded)
        except MemoryError:
            self.empty()
            return self._new(rounded)

    def _new(self, size: int) -> pyopencl.Buffer:
        import pyopencl

        if size > self._largest:
            raise MemoryError(f"the device allocates at most {self._largest} bytes at once, not {size}")
        try:
            return pyopencl.Buffer(self.context, pyopencl.mem_flags.READ_WRITE, size)
        except pyopencl.Error as error:
            raise MemoryError(f"the device has no {size} bytes left: {error}") from error

    def give(self, buffer: pyopencl.Buffer) -> None:
        """Take a buffer back, for reuse up to a quarter of the device's memory."""
        with self._lock:
            if self._pooled + buffer.size <= self._limit:
                self._free.setdefault(buffer.size, []).append(buffer)
                self._pooled += buffer.size

    def empty(self) -> None:
        """Let go of the buffers that nobody uses."""
        with self._lock:
            self._free.clear()
            self._pooled = 0

    def upload(self, array: HostArray) -> pyopencl.Buffer:
        """A buffer with the array's elements."""
        import pyopencl

        if array.size == 0:
            return self.take(0)
        buffer = self.take(array.nbytes)
        pyopencl.enqueue_copy(self.queue, buffer, np.ascontiguousarray(array), is_blocking=True)
        return buffer

    def download(self, buffer: pyopencl.Buffer, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """The buffer's first elements. Waits for all that was enqueued before."""
        import pyopencl

        result = np.empty(shape, element.dtype)
        if prod(shape):
            plain = result.view(np.uint8) if element is BOOL else result
            pyopencl.enqueue_copy(self.queue, plain, buffer, is_blocking=True)
        return result
