"""A device's memory: buffers by size class, kept for reuse when they are no longer used.

All work of a device goes through one queue that runs in order, so a buffer may be handed out again while the kernels that
read it still wait there.

Buffers come back wherever the last reference is dropped, also in the middle of `take`, so there is no lock: every change is one
operation of a list, a heap or a dictionary, which Python does whole or not at all. Of those that are free the oldest one is
taken: calls that take the same get the same, in whatever order it came back, and kernels know most of their arguments.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.opencl.machine.devices import check_process
from accel.backends.opencl.machine.failures import failure, new_buffer
from accel.backends.opencl.machine.features import shares_memory
from accel.backends.opencl.machine.host_memory import LITTLE, Fetched, Places, plain, queue_of_the_caller, reaches
from accel.backends.opencl.machine.sizes import Leaving, Lots, size_class
from accel.backends.opencl.machine.staging import Staging
from accel.backends.protocol import HostArray
from accel.backends.residence import DeviceMemory
from accel.support.forks import FORKS
from accel.support.lazy import lazy

if TYPE_CHECKING:
    import pyopencl

T = TypeVar("T")

FAR = 128
"""As many results may wait in the queue, and half as many at least, before their caller does."""


class Held:
    """A buffer in use. It goes back to its memory when nothing refers to it any more, or for good if it lies in a host array.

    address: where it lies there, else 0. known: what the first element is, if the host knows or has begun to fetch it."""

    __slots__ = ("_memory", "_number", "address", "buffer", "known", "size")

    def __init__(
        self, memory: Memory, buffer: pyopencl.Buffer, size: int, number: int | None = None, address: int = 0
    ) -> None:
        """`size`: the bytes that the buffer has. `number`: its memory's name for it; None: it lies in a host array."""
        self._memory, self._number = memory, number
        self.buffer, self.size, self.address = buffer, size, address
        self.known: bool | Fetched | None = None

    def __del__(self) -> None:
        if not hasattr(self, "known"):  # Ctrl-C came before it was a buffer
            return
        if self._number is None:
            self._memory.leave(self.buffer)
        else:
            self._memory.give(self.buffer, self.size, self._number)

    @property
    def stays(self) -> bool:
        """Whether the buffer is still there when this is gone, and nobody else writes to it: it is no array of the caller's."""
        return self._number is not None


class Memory:
    """The buffers of one device. Safe to use from several threads."""

    _FEW: Final = 64
    """Small buffers of one size that are kept for reuse without a look at what else is. No names of the module: when Python
    ends, those are None before the last buffers come back."""
    _push: Final = staticmethod(heappush)

    def __init__(self, device: pyopencl.Device, number: int = 0, unified: bool | None = None) -> None:
        """`number`: the device's in `devices()`. `unified`: whether its memory is the host's; None: as it says."""
        import pyopencl

        self.number = number
        self.context = pyopencl.Context([device])
        self.queue = pyopencl.CommandQueue(self.context, device)
        self.name = device.name.strip()
        self.unified = bool(device.host_unified_memory) if unified is None else unified
        """Whether the host can read and write the device's memory where it lies."""
        self._places = Places(self.context, device, self.unified)
        self._staging = None if self.unified else Staging(self.context, device, self.queue)
        self._flags = pyopencl.mem_flags.READ_WRITE | (pyopencl.mem_flags.ALLOC_HOST_PTR if self.unified else 0)
        self._total = int(device.global_mem_size)
        self._free: dict[int, list[tuple[int, pyopencl.Buffer]]] = {}
        self.lots: Lots[Held] = Lots()
        self._numbers = count()
        self._own: dict[int, pyopencl.Buffer] = {}
        """All buffers, by number: what Ctrl-C loses between a list and its holder stays here, and nothing else has its `id`."""
        self._used: dict[int, int] = {}
        self._calls, self._pieces = count(), count(1)
        self._marks: list[pyopencl.Event] = []
        """Of every so many results, which the device has not come to yet."""
        self._leaving = Leaving()
        self._enqueued = self._done = 0
        """The numbers of the last piece of work, and of the last that is known to be done."""
        self._epochs = count(1)
        self.epoch = 0
        """Until it is another number, no buffer is let go of that was used: what has its `id` is the same one."""
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
        used, lots = sum(self._used.copy().values()), self.lots.unused
        return DeviceMemory(used - lots, self._unused + lots, self._total)

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
        return queue_of_the_caller(self.context, self.queue.device)

    def take(self, size: int) -> Held:
        """A buffer of at least `size` bytes with any contents. Raises `MemoryError`."""
        return self.take_all((size_class(size),))[0]

    def take_all(self, sizes: Iterable[int]) -> list[Held]:
        """One of each of these sizes, which buffers have. Raises `MemoryError`."""
        check_process(self.generation)
        taken = []
        for size in sizes:
            try:
                number, buffer = heappop(self._free[size])
            except LookupError:  # there is none
                number = next(self._numbers)
                buffer = self._own[number] = self._new(size)
            self._used[number] = size
            taken.append(Held(self, buffer, size, number))
        return taken

    def _new(self, size: int) -> pyopencl.Buffer:
        """A new buffer, in the place of those that are unused if there is no room otherwise."""
        try:
            return new_buffer(self.context, self._flags, size, self.name)
        except MemoryError:
            self.finish()
            self.empty()
            return new_buffer(self.context, self._flags, size, self.name)

    def give(self, buffer: pyopencl.Buffer, size: int, number: int) -> None:
        """Take a buffer back, for reuse up to a quarter of the device's memory.

        A few small ones are kept in any case: to count costs more than they do. There are eight sizes in an octave, so all
        these together are less than 1,024 times the largest of them, a sixteenth of the memory."""
        self._used.pop(number, None)
        free = self._free.get(size)
        if free is not None and size <= self._total >> 14 and len(free) < self._FEW:
            self._push(free, (number, buffer))
            if self._free.get(size) is not free:  # it was emptied just now
                self._forget([number])
        elif self._unused + size <= self._total // 4 - self._total // 16:
            self._push(self._free.setdefault(size, []), (number, buffer))
        else:
            self._forget([number])
            self.leave(buffer)

    def empty(self) -> None:
        """Let go of the buffers that are unused."""
        self.lots.clear()
        unused, self._free = self._free, {}
        self._forget([number for buffers in unused.values() for number, _ in buffers])
        self.leave(unused)

    def _forget(self, numbers: Iterable[int]) -> None:
        """These buffers are let go of."""
        self.epoch = next(self._epochs)
        for number in numbers:
            self._own.pop(number, None)

    def leave(self, what: object) -> None:
        """Let go of buffers once kernels that wait have run: one that is told where a buffer lies does not keep it, nor does a
        driver keep the array in which one lies."""
        if self.busy:
            self._leaving.add(self._enqueued, what)

    def enqueued(self, what: str, enqueue: Callable[[], T]) -> T:
        """What `enqueue` gives, which hands one piece of work to the queue, or waits for it. `what` it is, errors say.

        If the device finds out only now that it has no memory, unused buffers are let go of, and it is tried once more. Raises
        `MemoryError`, and `AccelDeviceError` for whatever else the driver says.
        """
        self._enqueued = next(self._pieces)  # also before: Ctrl-C may keep it from being said afterwards
        try:
            return self._tried(what, enqueue)
        finally:
            self._enqueued = next(self._pieces)

    def _tried(self, what: str, enqueue: Callable[[], T]) -> T:
        import pyopencl

        try:
            try:
                return enqueue()
            except pyopencl.MemoryError:
                self._make_room()
                return enqueue()
        except pyopencl.Error as error:
            raise failure(error, self.name, what) from error

    def enqueue_all(self, what: str, pieces: Iterable[Callable[[], object]], queue: pyopencl.CommandQueue) -> None:
        """The same for pieces of work in order, in this queue or the `near` one."""
        import pyopencl

        if queue is self.queue:
            self._enqueued = next(self._pieces)
        try:
            for enqueue in pieces:
                try:
                    enqueue()
                except pyopencl.MemoryError:
                    self._make_room()
                    self._tried(what, enqueue)
                except pyopencl.Error as error:
                    raise failure(error, self.name, what) from error
        finally:
            if queue is self.queue:
                self._enqueued = next(self._pieces)

    def finish(self) -> None:
        """Wait for all that was enqueued."""
        check_process(self.generation)
        self._waited("its work", self.queue.finish)

    def _waited(self, what: str, wait: Callable[[], T]) -> T:
        """What `wait` gives, which comes back when all is done that was enqueued before."""
        last, result = self._enqueued, self._tried(what, wait)
        self._has_done(last)
        return result

    def _has_done(self, last: int) -> None:
        self._done = last
        self._leaving.done(last)

    def _make_room(self) -> None:
        """Let go of buffers that are unused. What waits may use such as were given back."""
        last = self._enqueued
        self.queue.finish()
        self._has_done(last)
        self.empty()

    @property
    def busy(self) -> bool:
        """Whether something was `enqueued` that is not known to be done. Who has a buffer knows so whether something may still
        use it: numbers are given when work has been enqueued, and its buffers come back later."""
        return self._done != self._enqueued

    @lazy
    def alone(self) -> bool:
        """Whether one unit of the device does all the work."""
        return int(self.queue.device.max_compute_units) == 1

    @lazy
    def reaches(self) -> bool:
        """Whether the host reads and writes buffers by itself."""
        return self.unified and reaches(self.context, self.queue, self._flags)

    @lazy
    def addresses(self) -> bool:
        """Whether kernels may be told where buffers lie."""
        return shares_memory(self.queue.device) and self.reaches

    def address(self, held: Held) -> int:
        """Where a buffer lies in the host's memory, on devices where that serves kernels."""
        return held.address or self._places.of(self.epoch, held.buffer, held.size)[1]

    def reached_bytes(self, held: Held) -> HostArray | None:
        """The bytes of a buffer that came from `take`, once all is done that was enqueued before, if the host reaches them."""
        if not (self.reaches and held.stays):
            return None
        if self.busy:
            self.finish()
        return self._places.of(self.epoch, held.buffer, held.size)[0]

    def reached(self, buffers: Sequence[Held]) -> list[HostArray]:
        """The bytes of several such, where the host reaches them."""
        if self.busy:
            self.finish()
        return [self._places.of(self.epoch, held.buffer, held.size)[0] for held in buffers]

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
        check_process(self.generation)
        made = plain(array)
        if np.may_share_memory(made, array) and (buffer := self._places.around(made)) is not None:
            return Held(self, buffer, made.nbytes, address=made.ctypes.data)
        return self._filled(made)

    def filled(self, array: HostArray) -> Held:
        """A buffer of the device's own with the array's elements."""
        check_process(self.generation)
        return self._filled(plain(array))

    def _filled(self, made: HostArray) -> Held:
        size, staging = made.nbytes, self._staging
        held = self.take(size)
        if not size:
            return held
        host = self.reached_bytes(held) if size <= LITTLE else None
        if host is not None:
            np.ndarray(made.shape, made.dtype, host)[...] = made
        elif staging is None:
            import pyopencl

            self._waited("a copy to it", lambda: pyopencl.enqueue_copy(self.queue, held.buffer, made, is_blocking=True))
        else:
            self.enqueued("a copy to it", lambda: staging.upload(held.buffer, made))
        return held

    @property
    def words(self) -> list[HostArray]:
        """Bytes that the device reaches by itself, if that is not all of the host's memory; who takes one brings it back."""
        return [] if self._staging is None else self._staging.words

    def first_byte(self, held: Held, queue: pyopencl.CommandQueue) -> int:
        """The first byte of a buffer, once what was enqueued before in that queue, the `near` one, is done."""
        import pyopencl

        host = self.reached_bytes(held)
        if host is None:
            host = np.empty(1, np.uint8)
            self._tried("a copy from it", partial(pyopencl.enqueue_copy, queue, host, held.buffer, is_blocking=True))
        return int(host[0])

    def settled(self, held: Held, size: int) -> Held:
        """A buffer with the same first `size` bytes, to be kept: a copy of what the caller may write to, or of little in a
        large buffer."""
        import pyopencl

        if held.stays and held.size <= 2 * size_class(size):
            return held
        copy = self.take(size)
        if size:
            fill = partial(pyopencl.enqueue_copy, self.queue, copy.buffer, held.buffer, byte_count=size)
            self.enqueued("a copy", fill)
        return copy

    def download(self, held: Held, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """The buffer's first elements. Waits for all that was enqueued before."""
        check_process(self.generation)
        result, staging = np.empty(shape, element.dtype), self._staging
        size = result.nbytes
        if not size:
            return result
        host = self.reached_bytes(held) if size <= LITTLE else None
        if host is not None:
            result[...] = np.ndarray(shape, element.dtype, host)
            return result
        import pyopencl

        bare = result.view(np.uint8) if element is BOOL else result
        if staging is None:
            copy = partial(pyopencl.enqueue_copy, self.queue, bare, held.buffer, is_blocking=True)
            self._waited("a copy from it", copy)
        else:
            self.enqueued("a copy from it", lambda: staging.download(bare, held.buffer))
        return result
