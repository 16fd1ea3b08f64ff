"""Kernels of processors that are told where buffers lie, and buffers that nobody lets go of while such kernels wait."""

from __future__ import annotations

import gc
import re
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.code.naming import ADDRESSES
from accel.backends.opencl.machine.memory import Memory
from accel.backends.opencl.machine.sizes import Leaving
from accel.backends.opencl.program import PLAIN, opencl_text
from accel.backends.protocol import HostArray, compiled
from accel.ir.meaning.interpret import interpret
from accel.schedule.templates.choose import program_schedules
from tests.marks import one_in
from tests.opencl.check import STRATEGIES, loops, same
from tests.opencl.platforms import ROWS, each_platform, fresh
from tests.opencl.programs import ALL

pyopencl = pytest.importorskip("pyopencl")

TELLING = replace(PLAIN, addresses=True)


def told(platform: str) -> OpenCLBackend:
    """A backend whose kernels are told addresses, however few."""
    on = fresh(platform)
    if not on.features.addresses:
        pytest.skip("kernels do not reach the host's memory")
    return on


def sums(count: int) -> list[A.Acc[Any]]:
    """A nest of so many arrays and its result: the sum of all."""
    xs = [use(np.full(5, float(k))) for k in range(count)]
    total = xs[0]
    for each in xs[1:]:
        total = A.zipWith(A.add, total, each)
    return [total]


@pytest.mark.parametrize("buffers", [3, ADDRESSES[0] - 1, ADDRESSES[0], ADDRESSES[-1], ADDRESSES[-1] + 1])
def test_as_many_buffers_as_are_worth_while(buffers: int) -> None:
    """A kernel that is told addresses has no pointer among its parameters."""
    planned, _ = loops("greedy", sums(buffers - 1))
    text = opencl_text(program_schedules(planned, TELLING.machine), TELLING)
    (parameters,) = re.findall(r"__kernel .*?\((.*?)\) \{\n", text, re.DOTALL)
    assert ("_told told" in parameters, "*" in parameters) == ((buffers in ADDRESSES), (buffers not in ADDRESSES))


@each_platform
@pytest.mark.parametrize("count", [6, 7, 99, 100])
def test_sums_of_many_arrays(platform: str, count: int) -> None:
    on = told(platform)
    planned, arguments = loops("greedy", sums(count))
    executable = compiled(on, planned)
    for _ in range(3):
        same(executable(arguments), [np.full(5, count * (count - 1) / 2)])


@each_platform
@pytest.mark.parametrize("name", one_in(8, ALL, kept=4))
def test_bits_are_the_references(platform: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of programs with few buffers, in kernels with local memory and without."""
    monkeypatch.setattr("accel.backends.opencl.code.kernel.ADDRESSES", range(1, 101))
    case = ALL[name]
    for strategy in STRATEGIES:
        for size in case.sizes:
            planned, arguments = loops(strategy, case.program(*map(use, case.data(size))))
            same(compiled(told(platform), planned)(arguments), interpret(planned, arguments))


@each_platform
def test_the_check_that_fails_is_found(platform: str) -> None:
    """By a kernel that is told addresses as well."""
    on = told(platform)
    xs, places = use(np.arange(5.0)), use(np.array([0, 4, 5]))
    others = [use(np.full(3, float(k))) for k in range(8)]
    found = A.map(lambda p: xs[A.index(p)], places)
    for each in others:
        found = A.zipWith(A.add, found, each)
    planned, arguments = loops("greedy", [found])
    with pytest.raises(A.AccelIndexError, match="index"):
        compiled(on, planned)(arguments)


def test_what_leaves_stays_until_its_work_is_done() -> None:
    class Thing:
        pass

    leaving, things = Leaving(), [Thing(), Thing(), Thing()]
    there = [weakref.ref(thing) for thing in things]
    for number, thing in enumerate(things):
        leaving.add(number, thing)
    things.clear()
    del thing
    for done in range(3):
        assert [each() is not None for each in there] == [number >= done for number in range(3)]
        leaving.done(done)
    assert not any(each() for each in there)


def _uses(buffer: Any) -> int:  # Any: the stubs do not have what it knows of itself
    return int(buffer.get_info(pyopencl.mem_info.REFERENCE_COUNT))


@each_platform
@pytest.mark.parametrize("kept", [True, False])
def test_buffers_stay_while_work_waits(platform: str, kept: bool) -> None:
    """One that was kept to be used again, and one for which there is no room there."""
    on = Memory(OpenCLBackend(ROWS[platform]).device, ROWS[platform])
    if not kept:
        on._total = 0
    held, other = on.take(1000), on.take(64)
    same_one: Any = pyopencl.Buffer.from_int_ptr(held.buffer.int_ptr, retain=True)
    both = _uses(same_one)
    begin = pyopencl.UserEvent(on.context)
    on.enqueued(
        "its work",
        lambda: pyopencl.enqueue_fill_buffer(on.queue, other.buffer, np.uint8(7), 0, 64, wait_for=[begin]),
    )
    del held
    on.empty()
    gc.collect()
    assert _uses(same_one) == both
    begin.set_status(pyopencl.command_execution_status.COMPLETE)
    on.finish()
    assert _uses(same_one) == both - 1


@each_platform
def test_nobody_waits_to_know_where_a_buffer_lies(platform: str) -> None:
    on = Memory(OpenCLBackend(ROWS[platform]).device, ROWS[platform])
    if not on.addresses:
        pytest.skip("kernels do not reach the host's memory")
    held, other = on.take(1000), on.take(64)
    begin = pyopencl.UserEvent(on.context)
    filled: Any = pyopencl.enqueue_fill_buffer(on.queue, other.buffer, np.uint8(7), 0, 64, wait_for=[begin])
    on.queue.flush()
    assert on.address(held) == on.address(held)
    assert filled.command_execution_status != pyopencl.command_execution_status.COMPLETE
    begin.set_status(pyopencl.command_execution_status.COMPLETE)
    on.finish()
    assert on.address(held) != on.address(other)


@each_platform
def test_copies_of_arguments_lie_in_buffers_of_the_device(platform: str) -> None:
    """A result may be computed when nobody has the copy any more, nor its memory."""
    on = OpenCLBackend(ROWS[platform])
    apart: HostArray = np.arange(200_000.0)[::2]
    memory = np.empty(100_000 * 8 + 4096, np.uint8)
    begin = -memory.ctypes.data % 4096
    near: HostArray = memory[begin : begin + 800_000].view(np.float64)
    assert on.memory.upload(apart).stays
    assert not (on.memory.unified and on.memory.upload(near).stays)
