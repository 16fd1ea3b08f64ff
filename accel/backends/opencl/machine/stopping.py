"""Waits for kernels that may never end, and has them stop where their caller ends before them: by Ctrl-C.

OpenCL cannot end a kernel, and its own ways to wait do not let Python look for signals. But kernels see what is written
meanwhile: by the host itself to a processor's memory, by a queue beside their own to a GPU's. So whoever launches scalar loops
has another thread wait for them, and raises the flag for which they look (`accel/backends/opencl/code/checks.py`) when a
signal's handler raises an exception. A GPU whose queues wait for each other goes on; an NVIDIA H100 stops within a millisecond.
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

LOOKS = 0.02
"""Seconds between two looks for signals."""

_GIVE_WAY: Callable[[], object] = getattr(os, "sched_yield", partial(time.sleep, 0))
"""Lets others have the core, where the device's threads may wait for one."""


def stopped_with_the_caller(records: Records, record: Held, launch: Callable[[], None]) -> None:
    """`launch`, which enqueues kernels that look at that record, and wait until they are done. What is raised meanwhile stops
    them first: their results are none then."""
    memory, stop = records.memory, records.raiser(record)
    waiter: _Waiter | None = None
    try:
        launch()
        if not _done_soon(memory):
            waiter = _started(memory)
            while not waiter.done.wait(LOOKS):
                pass  # Python looks for signals, which may have come to any thread
    except BaseException:
        stop()
        waiter = waiter or _started(memory)
        while not waiter.done.wait(LOOKS):
            stop()  # once more: what was enqueued before may have cleared the record since
        raise
    finally:
        memory.finish()
        if waiter is not None:
            waiter.end()


def _done_soon(memory: Memory) -> bool:
    """Whether the device is soon done with what was enqueued, or cannot be."""
    import pyopencl

    mark = memory.enqueued("its work", lambda: pyopencl.enqueue_marker(memory.queue))
    memory.enqueued("its work", memory.queue.flush)
    start, complete = time.perf_counter(), pyopencl.command_execution_status.COMPLETE
    while mark.command_execution_status > complete:
        if time.perf_counter() - start > SOON:
            return False
        _GIVE_WAY()
    return True


def _started(memory: Memory) -> _Waiter:
    """One that waits."""
    waiter = _Waiter(memory.queue)
    waiter.start()
    return waiter


class _Waiter:
    """A thread that waits by OpenCL until a queue's work is `done`. On Intel's runtime it does its share of that: workers are
    one less than there are cores."""

    def __init__(self, queue: pyopencl.CommandQueue) -> None:
        self._queue = queue
        self._thread: threading.Thread | None = None
        self.done = threading.Event()

    def start(self) -> None:
        """Have it wait."""
        # No daemon: when Python ends, those are ended in the midst of the driver, which ends the process.
        thread = threading.Thread(target=self._finish, name="accel-opencl-wait")
        try:
            thread.start()
        except RuntimeError:  # Python ends, and begins no thread
            self.done.set()
        else:
            self._thread = thread

    def end(self) -> None:
        """Once the work is done, wait for the thread to end."""
        if self._thread is not None:
            self._thread.join()

    def _finish(self) -> None:
        import pyopencl

        with contextlib.suppress(pyopencl.Error):  # whoever asks next is told
            self._queue.finish()
        self.done.set()
