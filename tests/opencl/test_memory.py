"""A device's memory: what is kept and let go of, what drivers say only at a launch, and devices with memory of their own.

There is no such device where tests run: a CPU is told that it is one, and its driver's errors are made up.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel import settings
from accel.ast.tree.types import F32, ScalarType
from accel.backends.opencl import backend
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.machine import mapping, staging
from accel.backends.opencl.machine import memory as machine_memory
from accel.backends.opencl.machine.buffer_array import BufferArray
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.records import Records
from accel.backends.opencl.machine.sizes import size_class
from accel.backends.protocol import compiled
from accel.errors import AccelDeviceError
from accel.explanation.explain import subject
from accel.support.cache import Cache
from tests.opencl.check import on_device
from tests.opencl.platforms import ROWS, each_platform
from tests.opencl.programs import ALL

pyopencl = pytest.importorskip("pyopencl")


def memory(platform: str, unified: bool | None = None) -> Memory:
    """Memory of its own on the platform's first device."""
    return Memory(OpenCLBackend(ROWS[platform]).device, ROWS[platform], unified)


class Refusing:
    """A driver that refuses the first so many pieces of work."""

    def __init__(self, times: int, error: Exception) -> None:
        self.times = times
        self.error = error
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if self.asked <= self.times:
            raise self.error
        return "done"


@each_platform
def test_the_host_reads_what_was_enqueued_before(platform: str) -> None:
    """What fills the buffer begins only a moment after the host has asked for it."""
    on = memory(platform)
    held = on.take(64)
    before = on.reached_bytes(held)
    if before is None:
        pytest.skip("the host does not reach the device's memory")
    before[:64] = 1
    begin = pyopencl.UserEvent(on.context)

    def fill() -> object:
        return pyopencl.enqueue_fill_buffer(on.queue, held.buffer, np.uint8(7), 0, 64, wait_for=[begin])

    on.enqueued("its work", fill)
    threading.Timer(0.1, begin.set_status, [pyopencl.command_execution_status.COMPLETE]).start()
    found = on.reached_bytes(held)
    assert found is not None
    np.testing.assert_array_equal(found[:64], 7)


@each_platform
def test_buffers_are_used_again(platform: str) -> None:
    on = memory(platform)
    first = on.take(1000)
    place = first.buffer.int_ptr
    assert on.use.used == size_class(1000)
    del first
    assert (on.use.used, on.use.unused) == (0, size_class(1000))
    assert on.take(900 if size_class(900) == size_class(1000) else 1000).buffer.int_ptr == place
    gc.collect()
    on.empty()
    assert on.use.unused == 0


@each_platform
def test_buffers_and_arrays_may_outlive_the_names_of_their_modules(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Python ends it sets the names of modules to None, in an order that nobody knows."""
    on = memory(platform)
    held = [on.take(1000), on.take(1000)]
    result = [mapping.mapped(on, on.take(1000), F32, (10,))]
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    with monkeypatch.context() as ending:
        for module in (mapping, machine_memory):
            for name in vars(module):
                if not name.startswith("__"):
                    ending.setattr(module, name, None)
        held.clear()
        result.clear()
    assert said == []
    assert on.use.used == 0


@each_platform
def test_work_that_has_no_memory_is_tried_once_more_without_the_pool(platform: str) -> None:
    on = memory(platform)
    del (held := [on.take(1 << 16)])[:]
    assert on.use.unused
    work = Refusing(1, pyopencl.MemoryError("MEM_OBJECT_ALLOCATION_FAILURE"))
    assert on.enqueued("a loop nest", work) == "done"
    assert work.asked == 2
    assert on.use.unused == 0
    work = Refusing(2, pyopencl.MemoryError("OUT_OF_RESOURCES"))
    with pytest.raises(MemoryError, match="no memory left for a loop nest"):
        on.enqueued("a loop nest", work)
    assert work.asked == 2
    assert not held


class _Lost(pyopencl.RuntimeError):  # type: ignore[misc,name-defined]  # a class that the module makes
    code = -2
    """`DEVICE_NOT_AVAILABLE`."""


@each_platform
@pytest.mark.parametrize(
    ("error", "message"),
    [(_Lost("clFinish"), "was lost during its work"), (pyopencl.LogicError("INVALID_VALUE"), "refused its work")],
)
def test_what_else_drivers_say_is_an_error_of_the_device(platform: str, error: Exception, message: str) -> None:
    work = Refusing(9, error)
    with pytest.raises(AccelDeviceError, match=message):
        memory(platform).enqueued("its work", work)
    assert work.asked == 1


@each_platform
def test_a_program_survives_a_launch_without_memory(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool filled by hand; every kernel is refused once."""
    on = OpenCLBackend(ROWS[platform])
    del (filled := [on.memory.take(1 << size) for size in range(10, 22)])[:]
    assert on.memory.use.unused >= 1 << 21
    original: Callable[..., Any] = pyopencl.Kernel.__call__  # Any: passed on
    met: set[int] = set()

    def refusing(kernel: Any, *arguments: Any) -> Any:
        if id(kernel) not in met:
            met.add(id(kernel))
            raise pyopencl.MemoryError("MEM_OBJECT_ALLOCATION_FAILURE")
        return original(kernel, *arguments)

    monkeypatch.setattr(pyopencl.Kernel, "__call__", refusing)

    def scaled(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        return A.map(lambda x: x * A.the(A.sum(xs)), xs)

    program = A.runN(scaled, backend=on.memory.place)
    np.testing.assert_array_equal(program(np.arange(1000)), np.arange(1000) * 499500)
    assert met
    assert on.memory.use.unused < 1 << 21
    assert not filled


@each_platform
def test_arrays_of_another_memory_are_refused(platform: str) -> None:
    on, other = OpenCLBackend(ROWS[platform]), memory(platform)
    array = BufferArray(other, other.filled(np.arange(6.0)), ScalarType.F64, (6,))
    program = subject(A.sum, [np.arange(6.0)], settings.changed({})).staged.loops
    with pytest.raises(AccelDeviceError, match="lies on opencl"):
        compiled(on, program)([array])


@each_platform
def test_what_stays_does_not_lie_in_an_array_of_the_callers(platform: str) -> None:
    on = memory(platform)
    whole = np.zeros(2048, np.int64)
    start = -whole.ctypes.data % 1024 // 8
    given = whole[start : start + 1024]
    borrowed = on.upload(given)
    kept = on.settled(borrowed, given.nbytes)
    on.finish()
    given[:] = 1
    assert not on.download(kept, ScalarType.I64, (1024,)).any()


@each_platform
def test_devices_may_give_more_at_once_than_they_promise(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on = memory(platform)
    asked: list[int] = []

    def small(context: object, flags: int, size: int) -> Any:  # Any: stands for a buffer
        asked.append(size)
        raise pyopencl.MemoryError("MEM_OBJECT_ALLOCATION_FAILURE")

    monkeypatch.setattr(pyopencl, "Buffer", small)
    with pytest.raises(MemoryError, match="bytes left"):
        on.take(int(OpenCLBackend(ROWS[platform]).device.max_mem_alloc_size) + 1)
    assert len(asked) == 2, "the driver is asked, and again when the pool is empty"


SIZES = [0, 1, 63, 64, 1000, 4096, 10_000]


@each_platform
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", [np.uint8, np.float64, np.bool_])
def test_staged_copies_are_copies(platform: str, size: int, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "PIECE", 4096)
    on = memory(platform, unified=False)
    given: np.ndarray[tuple[int], np.dtype[Any]] = np.arange(size).astype(kind)  # Any: of each kind
    element = {1: ScalarType.U8, 8: ScalarType.F64}[given.itemsize] if kind is not np.bool_ else ScalarType.BOOL
    held = on.upload(given)
    expected = given.copy()
    given[:] = 0
    np.testing.assert_array_equal(on.download(held, element, (size,)), expected)


@each_platform
def test_staged_copies_wait_for_buffers_that_are_used_again(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "PIECE", 4096)
    on = memory(platform, unified=False)
    for number in range(50):
        one = on.upload(np.full(5000, number))
        other = on.settled(Held(on, one.buffer, one.size), 40_000)  # as one that the caller may write to
        del one
        again = on.upload(np.zeros(5000, np.int64))
        np.testing.assert_array_equal(on.download(other, ScalarType.I64, (5000,)), np.full(5000, number))
        del again


@each_platform
def test_copies_without_pieces_are_copies(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "PAIRS", 0)
    on = memory(platform, unified=False)
    held = on.upload(np.arange(100))
    np.testing.assert_array_equal(on.download(held, ScalarType.I64, (100,)), np.arange(100))


@each_platform
@pytest.mark.parametrize("name", list(ALL)[::12])
def test_programs_run_on_a_device_with_memory_of_its_own(platform: str, name: str) -> None:
    on = OpenCLBackend(ROWS[platform])
    on.memory = memory(platform, unified=False)
    on.records = Records(on.memory)
    on_device(on, name)


@each_platform
def test_arrays_in_the_devices_own_memory_are_exported_as_opencls(platform: str) -> None:
    on = memory(platform, unified=False)
    array = BufferArray(on, on.filled(np.arange(6.0)), ScalarType.F64, (2, 3))
    assert array.device() == (4, ROWS[platform])
    assert array.shared() is None
    held = on.use.used
    capsule = array.capsule({})
    assert 'capsule object "dltensor"' in repr(capsule)
    del array
    gc.collect()
    assert on.use.used == held, "who has the capsule has the memory"
    del capsule
    gc.collect()
    assert on.use.used == 0


def test_threads_that_use_a_device_first_have_one_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the arrays of one thread lie on another device than the programs of the other."""
    together = threading.Barrier(2, timeout=20)
    known: Cache[int, Memory] = Cache(4)

    class Met(Memory):
        def __init__(self, device: object, number: int) -> None:
            together.wait()

    monkeypatch.setattr(backend, "_MEMORIES", known)
    monkeypatch.setattr(backend, "Memory", Met)
    monkeypatch.setattr(backend, "device", lambda number: None)
    found: list[Memory] = []
    threads = [threading.Thread(target=lambda: found.append(backend.memory(7))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert found[0] is found[1] is backend.memory(7)
