"""Schedules as text, and what verifying them finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from accel.errors import AccelInternalError
from accel.ir.text import text as loops_text
from accel.schedule.machine import PROCESSOR
from accel.schedule.nodes import Kind, Pack, Schedule
from accel.schedule.rules import flip, original, pack, subdivide
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.ways import text as program_text
from accel.schedule.text import schedule_text
from accel.schedule.verify import verify
from tests.schedule import programs
from tests.schedule.programs import EXAMPLES, Example


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_schedules(example: Callable[[], Example], golden: Callable[[str], None]) -> None:
    made = example()
    golden(f"{loops_text(made.loops)}\n\n{program_text(program_schedules(made.loops, PROCESSOR))}")


def test_packs(golden: Callable[[str], None]) -> None:
    (nest,) = programs.matmul().nests
    cut = subdivide(subdivide(original(nest), 2, 32), 1, 16)
    golden(schedule_text(pack(flip(cut, 2), ["e1_l3"], 0)))


def product() -> Schedule:
    """A schedule with something of everything."""
    (nest,) = programs.matmul().nests
    return pack(subdivide(original(nest), 0, 6), ["e0_l2"], 0)


def broken(schedule: Schedule) -> list[tuple[str, Schedule]]:
    """Schedules that are none, and what is wrong."""
    first, *others = schedule.pieces
    return [
        ("make something else", replace(schedule, pieces=(*others, first))),
        ("make something else", replace(schedule, pieces=schedule.pieces[1:])),
        ("make something else", replace(schedule, pieces=(replace(first, kind=Kind.PARALLEL), *others))),
        ("make something else", replace(schedule, axes=schedule.axes[1:])),
        ("make something else", replace(schedule, packs=(Pack(schedule.packs[0].streams, 9, ()),))),
        ("packs come last", replace(schedule, steps=(*schedule.steps, *schedule.steps))),
    ]


@pytest.mark.parametrize("number", range(6))
def test_what_no_rules_make(number: int) -> None:
    what, schedule = broken(product())[number]
    verify(product())
    with pytest.raises(AccelInternalError, match=what):
        verify(schedule)
