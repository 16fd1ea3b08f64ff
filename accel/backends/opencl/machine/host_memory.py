"""The host's side of a device's memory: arrays as kernels read them, and buffers that the host reads and writes by itself.

A processor that is a device has the host's memory, and maps a buffer where it is. So whoever knows where that is needs no copy
by the driver, which takes longer than a small array: reading and writing take turns with kernels as copies would, by waiting.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from accel.backends.opencl.machine.binaries import POCL
from accel.backends.protocol import HostArray
from accel.support.lazy import lazy

if TYPE_CHECKING:
    import pyopencl

PAGE = 4096
"""Bytes."""

LITTLE = 1 << 20
"""Bytes up to which the host copies by itself. Drivers have more threads for more."""

FEW = 1 << 12
"""Bytes up to which an array is copied where it could be used as it lies: that is quicker than a buffer around it."""

_BY_THE_CALLER = 1 << 31
"""Intel's property of a queue, `CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL`."""

TRIED = 64
"""Bytes of the buffer by which it is found out whether the host reaches a device's memory."""


def plain(array: HostArray) -> HostArray:
    """The elements as kernels read them: contiguous, and bools as bytes of 0 and 1."""
    flags = array.flags
    made: HostArray = array
    if not (flags.c_contiguous and flags.aligned):
        made = np.require(array, requirements=["C", "ALIGNED"])
    if made.dtype == np.bool_ and made.size and made.view(np.uint8).max() > 1:  # a view of other bytes
        made = made.view(np.uint8) != 0
    return made


def alignment(device: pyopencl.Device) -> int:
    """What the address of an array must be a multiple of for the device to use it where it lies; 0 if it never does.

    CPU runtimes do. Intel's silently copies arrays that are less aligned, more slowly than we do. PoCL's takes them, but
    kernels for GPUs, which tests give it, fetch vectors of up to 16 bytes. GPUs that share the host's memory use whole pages.
    """
    import pyopencl

    if not device.type & pyopencl.device_type.CPU:
        return PAGE
    return 16 if device.platform.name == POCL else max(device.mem_base_addr_align // 8, 1)


def reached(queue: pyopencl.CommandQueue, buffer: pyopencl.Buffer, size: int) -> HostArray:
    """The bytes of a buffer where the device has them, if it is one whose memory the host reaches. They are there as long as
    the buffer is."""
    import pyopencl

    flags = pyopencl.map_flags.READ | pyopencl.map_flags.WRITE
    mapped, _ = pyopencl.enqueue_map_buffer(queue, buffer, flags, 0, (size,), np.dtype(np.uint8))
    host: HostArray = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(mapped.ctypes.data))
    return host


def reaches(context: pyopencl.Context, queue: pyopencl.CommandQueue, flags: int) -> bool:
    """Whether the host reads and writes buffers with these flags by itself: on a processor, if that is seen to be so."""
    import pyopencl

    if not queue.device.type & pyopencl.device_type.CPU:
        return False
    buffer = pyopencl.Buffer(context, flags, TRIED)
    host, wanted = reached(queue, buffer, TRIED), np.arange(TRIED, dtype=np.uint8)
    host[:] = wanted
    found = np.zeros(TRIED, np.uint8)
    pyopencl.enqueue_copy(queue, found, buffer, is_blocking=True)
    pyopencl.enqueue_copy(queue, buffer, wanted[::-1].copy(), is_blocking=True)
    return bool((found == wanted).all() and (host == wanted[::-1]).all())


def queue_of_the_caller(context: pyopencl.Context, device: pyopencl.Device) -> pyopencl.CommandQueue | None:
    """A queue whose work is done before whoever hands it over goes on, by the same thread. None if the device has none."""
    import pyopencl

    if "cl_intel_exec_by_local_thread" not in device.extensions.split():
        return None
    return pyopencl.CommandQueue(context, device, _BY_THE_CALLER)


class Places:
    """Where one device's buffers lie in the host's memory, and the host's arrays that it can use there."""

    def __init__(self, context: pyopencl.Context, device: pyopencl.Device, unified: bool) -> None:
        self._context, self._device = context, device
        self._alignment = alignment(device) if unified else 0
        self._known: tuple[int, dict[int, tuple[HostArray, int]]] = (0, {})
        """An epoch, and where buffers lie in it."""

    def around(self, array: HostArray) -> pyopencl.Buffer | None:
        """A buffer that is only read, in the array's own memory, if the device can use that and it is worth while."""
        if array.nbytes <= FEW or not self._alignment or array.ctypes.data % self._alignment:
            return None
        import pyopencl

        flags = pyopencl.mem_flags
        with contextlib.suppress(pyopencl.Error):  # a copy may find room, or says that there is none
            return pyopencl.Buffer(self._context, flags.READ_ONLY | flags.USE_HOST_PTR, hostbuf=array)
        return None

    @lazy
    def _queue(self) -> pyopencl.CommandQueue:
        """One of its own: to ask where a buffer lies nobody waits for what is under way."""
        import pyopencl

        return pyopencl.CommandQueue(self._context, self._device)

    def of(self, epoch: int, buffer: pyopencl.Buffer, size: int) -> tuple[HostArray, int]:
        """The bytes of a buffer, and their address. Until the epoch is another number, no buffer is let go of."""
        known = self._known
        if known[0] != epoch:
            known = self._known = (epoch, {})
        found = known[1].get(id(buffer))
        if found is None:
            host = reached(self._queue, buffer, size)
            found = known[1][id(buffer)] = host, host.ctypes.data
        return found


class Fetched:
    """One byte on its way to the host, which is there when the `copy` is done. It goes to one of `words`, which gets it back:
    copies come in order, so another one may use it from then on."""

    __slots__ = ("_words", "copy", "host")

    def __init__(self, words: list[HostArray], enqueue: Callable[[HostArray], pyopencl.Event]) -> None:
        self._words = words
        self.host = _word(words)
        self.copy = enqueue(self.host)

    def __del__(self) -> None:
        self._words.append(self.host)


def _word(words: list[HostArray]) -> HostArray:
    try:
        return words.pop()
    except IndexError:  # there are none, or another thread was quicker
        return np.empty(1, np.uint8)
