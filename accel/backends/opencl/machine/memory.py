"""A device's memory: buffers by size class, kept for reuse when they are no longer used.

All work of a device goes through one queue that runs in order, so a buffer may be handed out again while the kernels that
read it still wait there.

Buffers come back wherever the last reference is dropped, also in the middle of `take`, so there is no lock: every change is one
operation of a list or a dictionary, which Python does whole or not at all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import lru_cache
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.opencl.machine.binaries import POCL
from accel.backends.opencl.machine.devices import check_process
from accel.backends.opencl.machine.failures import failure
from accel.backends.opencl.machine.staging import Staging
from accel.backends.protocol import HostArray
from accel.backends.residence import DeviceMemory
from accel.support.forks import FORKS
from accel.support.lazy import lazy

if TYPE_CHECKING:
    import pyopencl

T = TypeVar("T")

LEAST = 64
"""Bytes of the smallest buffer: OpenCL has no empty ones, and atomics on small elements touch whole words."""


PAGE = 4096
"""Bytes."""

FAR = 128
"""As many results may wait in the queue, and half as many at least, before their caller does."""

_BY_THE_CALLER = 1 << 31
"""Intel's property of such a queue, `CL_QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL`."""


@lru_cache(maxsize=1024)
def size_class(size: int) -> int:
    """The least of the sizes that buffers have: steps of an eighth, so that similar sizes share buffers."""
    size = max(size, LEAST)
    step = max(1 << max(size.bit_length() - 4, 0), LEAST)
    return -(-size // step) * step


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


class Held:
    """A buffer in use. It goes back to its memory when nothing refers to it any more, or for good if it lies in a host array.

    borrowed: that array is the caller's, who may write to it. known: what the first element is, if the host knows or has begun
    to fetch it.
    """

    __slots__ = ("_memory", "borrowed", "buffer", "known", "size")

    def __init__(self, memory: Memory | None, buffer: pyopencl.Buffer, size: int, borrowed: bool = False) -> None:
        """`size`: the bytes that the buffer has."""
        self._memory = memory
        self.buffer = buffer
        self.size = size
        self.borrowed = borrowed
        self.known: bool | Fetched | None = None

    def __del__(self) -> None:
        if self._memory is not None:
            self._memory.give(self.buffer, self.size)


class Memory:
    """The buffers of one device. Safe to use from several threads."""

    _FEW: Final = 64
    """Small buffers of one size that are kept for reuse without a look at what else is. Not a name of the module: when Python
    ends, those are None before the last buffers come back."""

    def __init__(self, device: pyopencl.Device, number: int = 0, unified: bool | None = None) -> None:
        """`number`: the device's in `devices()`. `unified`: whether its memory is the host's; None: as it says."""
        import pyopencl

        self.number = number
        self.context = pyopencl.Context([device])
        self.queue = pyopencl.CommandQueue(self.context, device)
        self.name = device.name.strip()
        self.unified = bool(device.host_unified_memory) if unified is None else unified
        """Whether the host can read and write the device's memory where it lies."""
        self._alignment = _alignment(device) if self.unified else 0
        self._staging = None if self.unified else Staging(self.context, device, self.queue)
        shared = pyopencl.mem_flags.ALLOC_HOST_PTR if self.unified else 0
        self._flags = pyopencl.mem_flags.READ_WRITE | shared
        self._total = int(device.global_mem_size)
        self._small = self._total >> 14
        self._free: dict[int, list[pyopencl.Buffer]] = {}
        self._used: dict[int, int] = {}
        self._calls = count()
        self._marks: list[pyopencl.Event] = []
        """Of every so many results, which the device has not come to yet."""
        self.abandoned: list[object] = []
        """What a forked child must not let go of: the driver would be asked."""
        self.generation = FORKS.generation
        """Of the process that may use the device: see `check_process`."""

    @property
    def place(self) -> str:
        """What to write after `backend=` to run programs here."""
        return f"opencl:{self.number}" if self.number else "opencl"

    @property
    def use(self) -> DeviceMemory:
        """What is used now."""
        return DeviceMemory(sum(self._used.copy().values()), self._unused, self._total)

    @property
    def _unused(self) -> int:
        return sum(size * len(buffers) for size, buffers in self._free.copy().items())

    def keep_times(self) -> None:
        """Have the queue know, from now on, when kernels begin and end. Waits for what is under way."""
        import pyopencl

        self.queue.finish()
        device = self.queue.device
        self.queue = pyopencl.CommandQueue(self.context, device, pyopencl.command_queue_properties.PROFILING_ENABLE)
        self._staging = None if self.unified else Staging(self.context, device, self.queue)

    @lazy
    def near(self) -> pyopencl.CommandQueue | None:
        """A queue whose work is done before whoever hands it over goes on, by the same thread. None if the device has none."""
        import pyopencl

        device = self.queue.device
        if "cl_intel_exec_by_local_thread" not in device.extensions.split():
            return None
        return pyopencl.CommandQueue(self.context, device, _BY_THE_CALLER)

    def take(self, size: int) -> Held:
        """A buffer of at least `size` bytes with any contents. Raises `MemoryError`."""
        check_process(self.generation)
        rounded = size_class(size)
        try:
            return self._held(self._free[rounded].pop(), rounded)
        except LookupError:  # there is none
            pass
        try:
            return self._held(self._new(rounded), rounded)
        except MemoryError:
            self.empty()
            return self._held(self._new(rounded), rounded)

    def _held(self, buffer: pyopencl.Buffer, size: int) -> Held:
        self._used[id(buffer)] = size
        return Held(self, buffer, size)

    def _new(self, size: int) -> pyopencl.Buffer:
        """A new buffer. Whether it is too large the driver says: many give more at once than they promise."""
        import pyopencl

        try:
            return pyopencl.Buffer(self.context, self._flags, size)
        except pyopencl.Error as error:
            raise MemoryError(f"{self.name} has no {size} bytes left: {error}") from error

    def give(self, buffer: pyopencl.Buffer, size: int) -> None:
        """Take a buffer back, for reuse up to a quarter of the device's memory.

        A few small ones are kept in any case: to count costs more than they do. There are eight sizes in an octave, so all
        these together are less than 1,024 times the largest of them, a sixteenth of the memory.
        """
        self._used.pop(id(buffer), None)
        free = self._free.get(size)
        if free is not None and size <= self._small and len(free) < self._FEW:
            free.append(buffer)
        elif self._unused + size <= self._total // 4 - self._total // 16:
            self._free.setdefault(size, []).append(buffer)

    def empty(self) -> None:
        """Let go of the buffers that are unused."""
        self._free.clear()

    def enqueued(self, what: str, enqueue: Callable[[], T]) -> T:
        """What `enqueue` gives, which hands one piece of work to the queue, or waits for it. `what` it is, errors say.

        If the device finds out only now that it has no memory, unused buffers are let go of, and it is tried once more. Raises
        `MemoryError`, and `AccelDeviceError` for whatever else the driver says.
        """
        import pyopencl

        try:
            try:
                return enqueue()
            except pyopencl.MemoryError:
                self.queue.finish()  # what waits may use buffers that were given back
                self.empty()
                return enqueue()
        except pyopencl.Error as error:
            raise failure(error, self.name, what) from error

    def finish(self) -> None:
        """Wait for all that was enqueued."""
        check_process(self.generation)
        self.enqueued("its work", self.queue.finish)

    def begin(self) -> None:
        """Have the device begin with what was enqueued, and wait until it is not far behind: a queue has no end by itself."""
        import pyopencl

        if next(self._calls) % FAR:
            self.enqueued("its work", self.queue.flush)
            return
        self._marks.append(self.enqueued("its work", lambda: pyopencl.enqueue_marker(self.queue)))
        with contextlib.suppress(IndexError):  # another thread waits
            while len(self._marks) > 1:
                self.enqueued("its work", self._marks.pop(0).wait)

    def upload(self, array: HostArray) -> Held:
        """A buffer with the array's elements, only to be read: the array's own memory where the device can use that."""
        import pyopencl

        check_process(self.generation)
        plain = _plain(array)
        if self._alignment and plain.size and plain.ctypes.data % self._alignment == 0:
            flags = pyopencl.mem_flags
            buffer = pyopencl.Buffer(self.context, flags.READ_ONLY | flags.USE_HOST_PTR, hostbuf=plain)
            return Held(None, buffer, plain.nbytes, borrowed=np.may_share_memory(plain, array))
        return self._filled(plain)

    def filled(self, array: HostArray) -> Held:
        """A buffer of the device's own with the array's elements."""
        check_process(self.generation)
        return self._filled(_plain(array))

    def _filled(self, plain: HostArray) -> Held:
        import pyopencl

        held, staging = self.take(plain.nbytes), self._staging
        if not plain.size:
            return held

        def enqueue() -> None:
            if staging is None:
                pyopencl.enqueue_copy(self.queue, held.buffer, plain, is_blocking=True)
            else:
                staging.upload(held.buffer, plain)

        self.enqueued("a copy to it", enqueue)
        return held

    def fetch(self, held: Held) -> Fetched:
        """Begin to fetch the first byte of a buffer. The device begins with what was enqueued so far."""
        import pyopencl

        words: list[HostArray] = [] if self._staging is None else self._staging.words

        def enqueue(host: HostArray) -> pyopencl.Event:
            copy = pyopencl.enqueue_copy(self.queue, host, held.buffer, is_blocking=False)
            self.queue.flush()
            return copy

        return Fetched(words, lambda host: self.enqueued("a copy from it", lambda: enqueue(host)))

    def first_byte(self, held: Held, queue: pyopencl.CommandQueue) -> int:
        """The first byte of a buffer, once what was enqueued before in that queue is done."""
        import pyopencl

        host = np.empty(1, np.uint8)
        self.enqueued("a copy from it", lambda: pyopencl.enqueue_copy(queue, host, held.buffer, is_blocking=True))
        return int(host[0])

    def arrived(self, fetched: Fetched) -> int:
        """The byte, once it is there."""
        self.enqueued("a copy from it", fetched.copy.wait)
        return int(fetched.host[0])

    def settled(self, held: Held, size: int) -> Held:
        """A buffer with the same first `size` bytes, to be kept: a copy of what the caller may write to, or of little in a
        large buffer."""
        import pyopencl

        if not held.borrowed and held.size <= 2 * size_class(size):
            return held
        copy = self.take(size)
        if size:
            self.enqueued(
                "a copy", lambda: pyopencl.enqueue_copy(self.queue, copy.buffer, held.buffer, byte_count=size)
            )
        return copy

    def download(self, held: Held, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """The buffer's first elements. Waits for all that was enqueued before."""
        import pyopencl

        check_process(self.generation)
        result, staging = np.empty(shape, element.dtype), self._staging
        if not prod(shape):
            return result
        plain = result.view(np.uint8) if element is BOOL else result

        def enqueue() -> None:
            if staging is None:
                pyopencl.enqueue_copy(self.queue, plain, held.buffer, is_blocking=True)
            else:
                staging.download(plain, held.buffer)

        self.enqueued("a copy from it", enqueue)
        return result


def _plain(array: HostArray) -> HostArray:
    """The elements as kernels read them: contiguous, and bools as bytes of 0 and 1."""
    plain: HostArray = np.require(array, requirements=["C", "ALIGNED"])
    if plain.dtype == np.bool_ and plain.size and plain.view(np.uint8).max() > 1:  # a view of other bytes
        plain = plain.view(np.uint8) != 0
    return plain


def _alignment(device: pyopencl.Device) -> int:
    """What the address of an array must be a multiple of for the device to use it where it lies; 0 if it never does.

    CPU runtimes do. Intel's silently copies arrays that are less aligned, more slowly than we do. PoCL's takes them, but
    kernels may fetch vectors of up to 16 bytes. GPUs that share the host's memory use whole pages.
    """
    import pyopencl

    if not device.type & pyopencl.device_type.CPU:
        return PAGE
    return 16 if device.platform.name == POCL else max(device.mem_base_addr_align // 8, 1)
