"""Scatters of what loops over segments make, whose order shows, as on a GPU: each target's own elements in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.program import opencl_text
from accel.backends.protocol import HostArray, compiled
from accel.ir.meaning.interpret import interpret
from accel.schedule.templates.choose import program_schedules
from tests.marks import one_in
from tests.opencl.check import loops, same
from tests.opencl.platforms import as_gpu, each_platform
from tests.opencl.programs import halving

SCANS: dict[str, Callable[[Any, Any], Any]] = {
    "inclusive": lambda xs, lengths: A.scanl1Seg(A.add, xs, lengths),
    "with seeds": lambda xs, lengths: A.scanlSeg(A.add, 1, xs, lengths),
    "in an order of the user's": lambda xs, lengths: A.scanl1Seg(halving, xs, lengths),
}

COMBINATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "neither": lambda new, old: old * 0.5 - new,
    "sum": lambda new, old: new + old,
    "last": lambda new, old: new,
}


def program(
    scan: Callable[[Any, Any], Any], combine: Callable[[Any, Any], Any], targets: int, few: bool
) -> Callable[..., Any]:
    """What targets become of a scan's elements; with `few`, every third comes to none."""

    def scattered(xs: Any, lengths: Any, places: Any) -> Any:
        def target(ix: Any) -> Any:
            place = places[ix]
            there = A.just(A.index(place % targets))
            return A.cond(place % 3 != 0, there, A.nothing()) if few else there

        made = scan(xs, lengths)
        start = A.fill((targets,), A.constant(2, np.float32))
        return (A.permute(combine, start, target, made), A.map(lambda x: x + 1, made))

    return scattered


def runs(on: OpenCLBackend, function: Callable[..., Any], *arrays: HostArray) -> str:
    """Runs it, and compares with the reference; the text."""
    planned, arguments = loops("greedy", function(*map(use, arrays)))
    same(compiled(on, planned)(arguments), interpret(planned, arguments))
    return opencl_text(program_schedules(planned, on.machine), on.features)


def data(rows: tuple[int, ...], segments: int, longest: int) -> tuple[HostArray, HostArray, HostArray]:
    """Elements, more of them than the segments hold; lengths; and a number for each place that a result may have."""
    draw = np.random.default_rng(segments)
    lengths = draw.integers(0, longest + 1, segments)
    count = int(lengths.sum()) + 5
    return (
        draw.standard_normal((*rows, count)).astype(np.float32),
        lengths,
        draw.integers(0, 9999, (*rows, count + segments)),
    )


@each_platform
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("combine", one_in(2, COMBINATIONS))
@pytest.mark.parametrize("scan", one_in(2, SCANS))
def test_elements_come_in_their_order(platform: str, scan: str, combine: str, few: bool) -> None:
    """Of more segments than one work-item takes."""
    given = program(SCANS[scan], COMBINATIONS[combine], 70, few)
    text = runs(as_gpu(platform), given, *data((), 1500, 5))
    assert "runs of equal targets" in text
    assert "one work-item\n" not in text


@each_platform
@pytest.mark.parametrize(("segments", "longest"), one_in(2, [(3, 4000), (1, 0), (0, 0)]))
def test_few_segments(platform: str, segments: int, longest: int) -> None:
    """More elements than one group sorts at a time, or none at all."""
    given = program(SCANS["inclusive"], COMBINATIONS["neither"], 300, True)
    runs(as_gpu(platform), given, *data((), segments, longest))


@each_platform
def test_segments_of_rows(platform: str) -> None:
    """All rows have the same segments: two loops around the one whose length is found out."""
    given = program(SCANS["inclusive"], COMBINATIONS["neither"], 20, True)
    assert "one work-item\n" not in runs(as_gpu(platform), given, *data((4,), 30, 6))


@each_platform
def test_segments_that_are_none(platform: str) -> None:
    """Lengths below zero are an error, before which the elements of the others may be more than there is room for."""
    lengths = np.array([5000, -5000] * 40 + [5000])
    function = program(SCANS["inclusive"], COMBINATIONS["neither"], 20, True)
    planned, arguments = loops("greedy", function(*map(use, (np.ones(5000, np.float32), lengths, np.arange(6000)))))
    with pytest.raises(A.AccelShapeError):
        compiled(as_gpu(platform), planned)(arguments)
