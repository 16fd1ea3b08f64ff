"""What the model predicts for the ways to run a nest: their order is that of every machine; seconds are not looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel import settings
from accel.backends.measure.timing import worth_trying
from accel.backends.protocol import HostArray
from accel.explanation.explain import Subject, subject
from accel.schedule.machine import PROCESSOR, WorkItems
from accel.schedule.prediction.predict import predicted
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.cpu.interleaved import Interleaved
from accel.schedule.templates.ways import Way
from tests.schedule.programs import EXAMPLES, Example

Handle: TypeAlias = A.Acc[Any]  # Any: of every rank and dtype


def column_sums(xs: Handle) -> Handle:
    return A.fold(A.add, 0, A.transpose(xs))


def transposed(xs: Handle) -> Handle:
    return A.map(lambda x: x * 2, A.transpose(xs))


def column_scans(xs: Handle) -> Handle:
    return A.transpose(A.scanl(A.add, 0, A.transpose(xs)))


def zeros(*shape: int) -> HostArray:
    """Of any size: their memory is never touched."""
    return np.zeros(shape, np.float32)


def planned(program: Callable[..., object], *arrays: HostArray) -> tuple[Subject, Sequence[Way]]:
    """A program, and the ways of its first nest."""
    found = subject(program, arrays, settings.changed({}))
    return found, found.staged.schedules.nests[0].ways


@pytest.mark.parametrize(
    ("program", "arrays"),
    [
        (column_sums, [zeros(1000, 300)]),
        (column_sums, [zeros(4096, 4096)]),
        (column_sums, [zeros(200_000, 8)]),
        (transposed, [zeros(1000, 300)]),
        (transposed, [zeros(4096, 1024)]),
        (column_scans, [zeros(2000, 1000)]),
        (A.matmul, [zeros(64, 64), zeros(64, 64)]),
        (A.matmul, [zeros(512, 512), zeros(512, 512)]),
    ],
)
def test_the_templates_are_faster_than_rows(program: Callable[..., object], arrays: Sequence[HostArray]) -> None:
    found, ways = planned(program, *arrays)
    # Of matrices of a few columns a lane has a row, which is the first way, of no use here.
    times = [predicted(way.schedules, found.sizes) for way in ways if not isinstance(way.finding, Interleaved)]
    known = [time for time in times if time is not None]
    assert len(known) == len(times) > 1
    assert known[0] == min(known)
    assert known[-1] == max(known) > 1.5 * known[0]


def test_more_elements_take_longer() -> None:
    for program in (column_sums, transposed, column_scans):
        times = []
        for rows in (0, 100, 1000, 10_000):
            found, ways = planned(program, zeros(rows, 300))
            times.append([predicted(way.schedules, found.sizes) or 0.0 for way in ways])
        for each in zip(*times, strict=True):
            assert list(each) == sorted(set(each))


def test_unknown_extents() -> None:
    _, ways = planned(column_sums, zeros(3, 4))
    assert [predicted(way.schedules, {}) for way in ways] == [None, None]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_every_schedule_has_a_time_or_unknown_extents(example: Callable[[], Example]) -> None:
    made = example()
    sizes = {
        extent.variable: actual - extent.offset
        for parameter, argument in zip(made.loops.parameters, made.arguments, strict=False)
        for extent, actual in zip(parameter[0].shape, argument.shape, strict=False)
        if extent.variable is not None
    }
    for machine in (PROCESSOR, WorkItems(gpu=True)):
        for nest in program_schedules(made.loops, machine).nests:
            for way in nest.ways:
                time = predicted(way.schedules, sizes)
                assert time is None or 0 < time < 10


def test_what_is_hopeless_is_not_tried() -> None:
    found, ways = planned(A.matmul, zeros(4096, 4096), zeros(4096, 4096))
    assert worth_trying(ways, found.sizes) == [
        0,
        1,
    ]  # tiles, with and without what stands before them for a few elements
    found, ways = planned(A.matmul, zeros(64, 64), zeros(64, 64))
    assert worth_trying(ways, found.sizes) == [0, 1, 2]
    assert worth_trying(ways, {}) == [0, 1, 2]
