"""Records of failed checks: what kernels write when one fails, and how the host reads it.

A record is a small buffer of 64-bit numbers: 0 or 1 + the site that failed, then the offending index. It is zero when it is
taken; one that was read and found so is taken again, so that nothing is written to it but by a check that fails.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from accel.ast.tree.types import I64, ScalarType
from accel.backends.opencl.machine.host_memory import Fetched
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.protocol import HostArray
from accel.backends.sites import Failed
from accel.support.lazy import lazy

if TYPE_CHECKING:
    import pyopencl

WORDS = 16
"""Numbers in a record: a site, and an index of at most 15 dimensions."""

_RAISED: Final = np.ones(1, I64.dtype)
"""What a record begins with whose flag is raised."""


class Records:
    """Those of one device. Safe to use from several threads: every change is one operation of a list."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._clean: list[Held] = []
        self._copied: pyopencl.Event | None = None
        """Of the last copy beside kernels."""

    def take(self) -> Held:
        """A record that is zero."""
        try:
            return self._clean.pop()
        except IndexError:
            return self.memory.filled(np.zeros(WORDS, I64.dtype))

    def look(self, record: Held) -> None:
        """Wait for all that was launched, and raise `Failed` if a check has failed; else the record is here again."""
        if self.read(record)[0]:
            raise Failed
        self._clean.append(record)

    def read(self, record: Held) -> list[int]:
        """What stands in the record, once all that was launched is done."""
        numbers: list[int] = self.memory.download(record, I64, (WORDS,)).tolist()
        return numbers

    @lazy
    def _beside(self) -> pyopencl.CommandQueue:
        """A queue whose copies do not wait for the kernels of the memory's own, on GPUs that do both at once."""
        import pyopencl

        return pyopencl.CommandQueue(self.memory.context, self.memory.queue.device)

    def raiser(self, record: Held) -> Callable[[], None]:
        """What raises the record's flag while kernels run, and waits for none: by the host itself if it reaches the device's
        memory, else by a copy beside them."""
        import pyopencl

        host = self.memory.reached_bytes(record)
        if host is not None:
            return partial(np.copyto, np.ndarray(_RAISED.shape, I64.dtype, host), _RAISED)
        queue = self._beside

        def copied() -> None:
            with contextlib.suppress(pyopencl.Error):  # then the kernels go on
                self._copied = pyopencl.enqueue_copy(queue, record.buffer, _RAISED, is_blocking=False)
                queue.flush()

        return copied

    def settle(self) -> None:
        """Wait until no copy beside kernels is under way: then records may be used again."""
        import pyopencl

        if (copied := self._copied) is not None:
            with contextlib.suppress(pyopencl.Error):  # then there is none
                copied.wait()
            self._copied = None

    def fetch(self, buffer: Held, value: bool | None) -> None:
        """Remember what the first element of the buffer is, or begin to fetch it, and with what was enqueued so far."""
        import pyopencl

        memory = self.memory

        def enqueue(host: HostArray) -> pyopencl.Event:
            copy = pyopencl.enqueue_copy(memory.queue, host, buffer.buffer, is_blocking=False)
            memory.queue.flush()
            return copy

        if value is None:
            buffer.known = Fetched(memory.words, lambda host: memory.enqueued("a copy from it", lambda: enqueue(host)))
        else:
            buffer.known = value

    def _known(self, known: bool | Fetched) -> bool:
        if isinstance(known, bool):
            return known
        self.memory.enqueued("a copy from it", known.copy.wait)
        return bool(known.host[0])

    def scalar(self, buffer: Held, element: ScalarType, record: Held | None) -> bool | int | float:
        """The first element of a buffer; with a record, and in one wait, what `look` does."""
        import pyopencl

        if buffer.known is not None:
            if record is not None:
                self.look(record)
            return self._known(buffer.known)
        if record is not None and self.memory.reaches:
            self.look(record)
            record = None
        if record is None:
            value: bool | int | float = self.memory.download(buffer, element, ()).item()
            return value
        found = np.empty(1, I64.dtype)
        # Whoever lets go of such a copy's event waits for it: it is kept until the next copy, which comes later, is done.
        copy = pyopencl.enqueue_copy(self.memory.queue, found, record.buffer, is_blocking=False)
        value = self.memory.download(buffer, element, ()).item()
        del copy
        if found[0]:
            raise Failed
        self._clean.append(record)
        return value
