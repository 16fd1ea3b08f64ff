"""A device's memory: buffers by size class, kept for reuse when they are no longer used.

All work of a device goes through one queue that runs in order, so a buffer may be handed out again while the kernels that
read it still wait there.

Buffers come back wherever the last reference is dropped, also in the middle of `take`, so there is no lock: every change is one
operation of a list or a dictionary, which Python does whole or not at all.
"""

from __future__ import annotations

import contextlib
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.opencl.machine.binaries import POCL
from accel.backends.opencl.machine.devices import check_process
from accel.backends.protocol import HostArray
from accel.support.forks import FORKS

if TYPE_CHECKING:
    import pyopencl

LEAST = 64
"""Bytes of the smallest buffer: OpenCL has no empty ones, and atomics on small elements touch whole words."""


def size_class(size: int) -> int:
    """The least of the sizes that buffers have: steps of an eighth, so that similar sizes share buffers."""
    size = max(size, LEAST)
    step = max(1 << max(size.bit_length() - 4, 0), LEAST)
    return -(-size // step) * step


class Held:
    """A buffer in use. It goes back to its memory when nothing refers to it any more, or for good if it lies in a host array.

    borrowed: that array is the caller's, who may write to it.
    """

    __slots__ = ("_memory", "borrowed", "buffer")

    def __init__(self, memory: Memory | None, buffer: pyopencl.Buffer, borrowed: bool = False) -> None:
        self._memory = memory
        self.buffer = buffer
        self.borrowed = borrowed

    def __del__(self) -> None:
        if self._memory is not None:
            self._memory.give(self.buffer)


class Memory:
    """The buffers of one device. Safe to use from several threads."""

    def __init__(self, device: pyopencl.Device) -> None:
        import pyopencl

        self.context = pyopencl.Context([device])
        self.queue = pyopencl.CommandQueue(self.context, device)
        self._alignment = _alignment(device)
        self._largest = int(device.max_mem_alloc_size)
        self._limit = int(device.global_mem_size) // 4
        self._free: dict[int, list[pyopencl.Buffer]] = {}
        self.generation = FORKS.generation
        """Of the process that may use the device: see `check_process`."""

    def take(self, size: int) -> Held:
        """A buffer of at least `size` bytes with any contents. Raises `MemoryError`."""
        check_process(self.generation)
        rounded = size_class(size)
        if (free := self._free.get(rounded)) is not None:
            with contextlib.suppress(IndexError):  # it is empty
                return Held(self, free.pop())
        try:
            return Held(self, self._new(rounded))
        except MemoryError:
            self.empty()
            return Held(self, self._new(rounded))

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
        pooled = sum(size * len(buffers) for size, buffers in self._free.copy().items())
        if pooled + buffer.size <= self._limit:
            self._free.setdefault(buffer.size, []).append(buffer)

    def empty(self) -> None:
        """Let go of the buffers that are unused."""
        self._free.clear()

    def upload(self, array: HostArray) -> Held:
        """A buffer with the array's elements, only to be read: the array's own memory where the device can use that."""
        import pyopencl

        check_process(self.generation)
        if array.size == 0:
            return self.take(0)
        plain = np.require(array, requirements=["C", "ALIGNED"])
        if (
            plain.dtype == np.bool_ and plain.view(np.uint8).max() > 1
        ):  # a view of other bytes; kernels count on 0 and 1
            plain = plain.view(np.uint8) != 0
        if self._alignment and plain.ctypes.data % self._alignment == 0:
            flags = pyopencl.mem_flags
            buffer = pyopencl.Buffer(self.context, flags.READ_ONLY | flags.USE_HOST_PTR, hostbuf=plain)
            return Held(None, buffer, borrowed=np.may_share_memory(plain, array))
        held = self.take(array.nbytes)
        pyopencl.enqueue_copy(self.queue, held.buffer, plain, is_blocking=True)
        return held

    def filled(self, array: HostArray) -> Held:
        """A buffer of the device's own with the array's elements."""
        import pyopencl

        held = self.take(array.nbytes)
        if array.size:
            pyopencl.enqueue_copy(self.queue, held.buffer, array, is_blocking=True)
        return held

    def download(self, held: Held, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """The buffer's first elements. Waits for all that was enqueued before."""
        import pyopencl

        check_process(self.generation)
        result = np.empty(shape, element.dtype)
        if prod(shape):
            plain = result.view(np.uint8) if element is BOOL else result
            pyopencl.enqueue_copy(self.queue, plain, held.buffer, is_blocking=True)
        return result


def _alignment(device: pyopencl.Device) -> int:
    """What the address of an array must be a multiple of for the device to use it where it lies; 0 if it never does.

    CPU runtimes do. Intel's silently copies arrays that are less aligned, more slowly than we do. PoCL's takes them, but
    kernels may fetch vectors of up to 16 bytes.
    """
    import pyopencl

    if not device.type & pyopencl.device_type.CPU:
        return 0
    return 16 if device.platform.name == POCL else max(device.mem_base_addr_align // 8, 1)
