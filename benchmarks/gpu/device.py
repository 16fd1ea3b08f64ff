"""The clock of a device: what it copies, and when the kernels of a call began and ended, by OpenCL's events.

A call takes from the start of its first kernel to the end of its last one: copies of arguments and results are not counted,
what Python does between kernels is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from accel.backends.opencl import scores
from accel.backends.opencl.backend import OpenCLBackend

if TYPE_CHECKING:
    import pyopencl

_COPY: Final = """
kernel void copied(global const float4 *from, global float4 *to) { size_t i = get_global_id(0); to[i] = from[i]; }
"""

_GROUP: Final = 256
_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class Span:
    """The kernels of one call: how many were launched, seconds from the first one's start to the last one's end, and those that
    the launches of each took, by its name."""

    kernels: int
    seconds: float
    each: dict[str, float]


def copied(on: OpenCLBackend, size: int) -> float:
    """Bytes that the device reads and writes in a second: the better of a kernel of its own and the driver's copy."""
    import pyopencl

    memory = on.memory
    size -= size % (16 * _GROUP)
    source, target = memory.take(size), memory.take(size)
    kernel = pyopencl.Kernel(on.build(_COPY), "copied")
    ways: tuple[Callable[[], pyopencl.Event], ...] = (
        lambda: kernel(memory.queue, (size // 16,), (_GROUP,), source.buffer, target.buffer),
        lambda: pyopencl.enqueue_copy(memory.queue, target.buffer, source.buffer),
    )
    return 2 * size / min(_seconds([way()]) for _ in range(_ROUNDS) for way in ways)


def fastest(call: Callable[[], object], rounds: int) -> Span:
    """The quickest of some calls."""
    return min((_span(call) for _ in range(rounds)), key=lambda span: span.seconds)


def _span(call: Callable[[], object]) -> Span:
    with _launches() as events:
        call()
    each = dict.fromkeys((name for name, _ in events), 0.0)
    for name, event in events:
        event.wait()
        each[name] += (event.profile.end - event.profile.start) * 1e-9
    return Span(len(events), _seconds([event for _, event in events]), each)


@contextmanager
def _launches() -> Iterator[list[tuple[str, pyopencl.Event]]]:
    """The names and events of all kernels that are launched meanwhile, each by its instruction."""
    import pyopencl

    events: list[tuple[str, pyopencl.Event]] = []
    original = pyopencl.Kernel.__call__

    def launched(kernel: pyopencl.Kernel, *given: object, **named: object) -> pyopencl.Event:
        event: pyopencl.Event = original(kernel, *given, **named)  # type: ignore[arg-type]  # what the caller gave
        events.append((str(kernel.function_name), event))
        return event

    with patch.object(pyopencl.Kernel, "__call__", launched), patch.object(scores, "MOST", -1):
        yield events


def _seconds(events: list[pyopencl.Event]) -> float:
    for event in events:
        event.wait()
    return (max(e.profile.end for e in events) - min(e.profile.start for e in events)) * 1e-9
