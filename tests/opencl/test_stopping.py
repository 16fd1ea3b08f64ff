"""Ctrl-C ends scalar loops that never end: kernels see what is written meanwhile, by the host or by a queue beside theirs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.machine.records import WORDS
from accel.backends.opencl.machine.stopping import stopped_with_the_caller
from accel.backends.opencl.program import PLAIN, opencl_text
from accel.schedule.templates.choose import program_schedules
from tests.endless import HEAD, end_by_interrupt
from tests.marks import one_in
from tests.opencl.check import loops
from tests.opencl.platforms import ROWS, each_platform, fresh

Floats: TypeAlias = A.Acc[A.Vector[np.float64]]
Function: TypeAlias = Callable[[Floats], Floats]

PROGRAM = (
    HEAD
    + """
def gathered(limits):
    return A.map(turn, A.gather(A.use(np.arange({elements})), limits))

def within(limits):
    return A.map(lambda limit: A.while_(lambda i: i < limit, lambda i: turn(1) + 0 * i, A.constant(0, np.int64)), limits)

limits = np.zeros({elements}, np.int64)
run = A.runN({function}, backend={backend!r})
wanted = run(limits)
limits[{position}] = 2
print("ready", flush=True)
try:
    run(limits)
except KeyboardInterrupt:
    limits[:] = 0
    assert np.array_equal(run(limits), wanted)  # the queue is as before
    print("interrupted", flush=True)
"""
)

CASES = [
    ("each", 1, 0), ("gathered", 100, 50), ("each", 1_000_000, 500_000), ("within", 1_000, 0), ("summed", 3, 1),
    ("summed", 100_000, -1), ("gathered", 1_000_000, -1),
]  # fmt: skip


@each_platform
@pytest.mark.parametrize(("function", "elements", "position"), one_in(7, CASES, kept=2))
def test_an_endless_loop_is_interrupted(platform: str, function: str, elements: int, position: int) -> None:
    name = f"opencl:{ROWS[platform]}"
    end_by_interrupt(PROGRAM.format(function=function, elements=elements, position=position, backend=name))


def counted(xs: Floats) -> Floats:
    """At most 200 turns for each element."""
    return A.map(
        lambda x: A.while_(
            lambda s: (s[1] < 200) & (s[0] < 4), lambda s: A.lift(s[0] * s[0], s[1] + 1), A.lift(x, A.constant(0))
        )[0],
        xs,
    )


def uncounted(xs: Floats) -> Floats:
    return A.map(lambda x: A.while_(lambda y: y < 4, lambda y: y * y, x), xs)


@each_platform
@pytest.mark.parametrize("reached", [True, False])
def test_a_flag_is_raised_by_the_host_or_by_a_queue_beside(
    platform: str, reached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = fresh(platform)
    if not reached:
        monkeypatch.setattr(on.memory, "reaches", False)  # all backends on a device share its memory
    record = on.records.take()
    stop = on.records.raiser(record)
    assert on.records.read(record) == [0] * WORDS
    stop()
    on.records.settle()
    assert on.records.read(record) == [1] + [0] * (WORDS - 1)


@each_platform
def test_a_record_is_used_again_once_no_copy_of_a_flag_is_under_way(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a flag would be raised in what has its buffer by then."""
    import pyopencl

    on = fresh(platform)
    monkeypatch.setattr(on.memory, "reaches", False)
    record = on.records.take()
    stop = on.records.raiser(record)
    later = pyopencl.UserEvent(on.memory.context)
    pyopencl.enqueue_barrier(on.records._beside, wait_for=[later])
    stop()
    timer = threading.Timer(0.3, lambda: later.set_status(pyopencl.command_execution_status.COMPLETE))
    timer.start()
    on.records.settle()
    assert on.records.read(record)[0] == 1
    timer.join()


def test_a_flag_is_raised_until_kernels_see_it() -> None:
    """One that is raised before the device has cleared the record is lost."""
    raised, seen = [], threading.Event()

    def launch() -> None:
        raise KeyboardInterrupt

    def stop() -> None:
        raised.append(True)
        if len(raised) == 3:
            seen.set()

    memory = SimpleNamespace(queue=SimpleNamespace(finish=seen.wait), finish=seen.wait)
    records: Any = SimpleNamespace(
        memory=memory, raiser=lambda record: stop, settle=int
    )  # Any: it stands for a device's records
    with pytest.raises(KeyboardInterrupt):
        stopped_with_the_caller(records, records, launch)
    assert len(raised) == 3


@pytest.mark.parametrize(("function", "looks"), [(counted, False), (uncounted, True)])
@pytest.mark.parametrize(("processor", "gpu"), [(False, False), (True, False), (False, True)])
def test_only_loops_that_may_go_on_for_ever_look(function: Function, looks: bool, processor: bool, gpu: bool) -> None:
    features = replace(PLAIN, together=processor, gpu=gpu)
    planned, _ = loops("greedy", (function(A.use(np.arange(3.0))),))
    text = opencl_text(program_schedules(planned, features.machine), features)
    assert ("error" in text) == (looks and (processor or gpu))
