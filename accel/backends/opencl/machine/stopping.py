"""Waits for kernels that may never end, and has them stop where their caller ends before them: by Ctrl-C.

OpenCL cannot end a kernel, and its own ways to wait do not let Python look for signals. But kernels see what is written
meanwhile: by the host itself to a processor's memory, by a queue beside their own to a GPU's. So whoever launches scalar loops
looks for signals while another thread waits for a processor, or asks a GPU, and raises the flag for which kernels look
(`accel/backends/opencl/code/checks.py`) when a signal's handler raises an exception. A GPU whose queues wait for each other
goes on; an NVIDIA H100 stops within a millisecond.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.records import Records

if TYPE_CHECKING:
    import pyopencl

SOON = 100e-6
"""Seconds in which the host asks the device again and again. Another thread takes as long to begin."""

SLEEPS = 1e-3
"""The same where the device needs no other thread: who sleeps gives away a tenth of that at least."""

LOOKS = 0.02
"""Seconds between two looks for signals."""

_GIVE_WAY: Callable[[], object] = getattr(os, "sched_yield", partial(time.sleep, 0))
"""Lets others have the core, where the device's threads may wait for one."""


def stopped_with_the_caller(records: Records, record: Held, launch: Callable[[], None]) -> None:
    """`launch`, which enqueues kernels that look at that record, and wait until they are done. What is raised meanwhile stops
    them first: their results are none then."""
    memory, stop = records.memory, records.raiser(record)
    waiter: _Waiter | _Mark | None = None
    try:
        launch()
        mark = _Mark(memory)
        if not mark.comes_in(SOON if memory.reaches else SLEEPS):
            waiter = _started(memory) if memory.reaches else mark
            while not waiter.wait(LOOKS):
                pass  # Python looks for signals, which may have come to any thread
    except BaseException:
        stop()
        waiter = waiter or _started(memory)
        while not waiter.wait(LOOKS):
            stop()  # once more: what was enqueued before may have cleared the record since
        raise
    finally:
        memory.finish()
        records.settle()
        if isinstance(waiter, _Waiter):
            waiter.end()


class _Mark:
    """The end of a queue's work so far. A GPU comes there by itself, so it is only asked now and then."""

    def __init__(self, memory: Memory) -> None:
        import pyopencl

        self._event = memory.enqueued("its work", lambda: pyopencl.enqueue_marker(memory.queue))
        memory.enqueued("its work", memory.queue.flush)
        self._complete = pyopencl.command_execution_status.COMPLETE
        self._start = time.perf_counter()

    def comes_in(self, seconds: float) -> bool:
        """Whether it is reached in so many seconds, or cannot be."""
        while not self._is_reached:
            if time.perf_counter() - self._start > seconds:
                return False
            _GIVE_WAY()
        return True

    def wait(self, seconds: float) -> bool:
        """Whether it is reached in so many seconds, or an eighth of the time that was waited so far."""
        time.sleep(min(seconds, (time.perf_counter() - self._start) / 8))
        return self._is_reached

    @property
    def _is_reached(self) -> bool:
        return bool(self._event.command_execution_status <= self._complete)


def _started(memory: Memory) -> _Waiter:
    """One that waits."""
    waiter = _Waiter(memory.queue)
    waiter.start()
    return waiter


class _Waiter:
    """A thread that waits by OpenCL until a queue's work is done. On Intel's runtime it does its share of that: workers are
    one less than there are cores."""

    def __init__(self, queue: pyopencl.CommandQueue) -> None:
        self._queue = queue
        self._thread: threading.Thread | None = None
        self._done = threading.Event()

    def start(self) -> None:
        """Have it wait."""
        # No daemon: when Python ends, those are ended in the midst of the driver, which ends the process.
        thread = threading.Thread(target=self._finish, name="accel-opencl-wait")
        try:
            thread.start()
        except RuntimeError:  # Python ends, and begins no thread
            self._done.set()
        else:
            self._thread = thread

    def wait(self, seconds: float) -> bool:
        """Whether it is done in so many seconds."""
        return self._done.wait(seconds)

    def end(self) -> None:
        """Once the work is done, wait for the thread to end."""
        if self._thread is not None:
            self._thread.join()

    def _finish(self) -> None:
        import pyopencl

        with contextlib.suppress(pyopencl.Error):  # whoever asks next is told
            self._queue.finish()
        self._done.set()
