"""On a GPU no nest with loops runs in one work-item, whatever it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from accel.ast.combinators.host.arrays import use
from accel.compile import stages
from accel.errors import AccelShapeError
from accel.ilp.problem.options import Options
from accel.ir.nodes import Program
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Template
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.ways import NestSchedules, Parts, nest_text
from tests.differential.check import loaded
from tests.differential.data import inputs
from tests.differential.generate import generate
from tests.differential.subjects import case
from tests.marks import one_in
from tests.opencl.check import loops
from tests.opencl.programs import ALL
from tests.run.test_segments_together import PROGRAMS

GPU = WorkItems(gpu=True)


def in_one_item(made: Sequence[NestSchedules]) -> Iterator[NestSchedules]:
    """The nests, and parts of nests, that have loops and one work-item for all of them."""
    pending = list(made)
    while pending:
        each = pending.pop()
        for way in each.ways:
            if isinstance(way.finding, Parts):
                pending += [part for part in way.finding.parts if isinstance(part, NestSchedules)]
            elif any(schedule.template is Template.LITERAL and schedule.pieces for schedule in way.schedules):
                yield each


def shared_out(program: Program) -> None:
    """Fails unless work-items share all loops."""
    found = [nest_text(each) for each in in_one_item(program_schedules(program, GPU).nests)]
    assert not found, found[0]


def test_a_device_that_is_no_gpu_has_some() -> None:
    """What is looked for is found where it is."""
    planned, _ = loops("greedy", ALL["scatter-sums_f32"].program(*map(use, ALL["scatter-sums_f32"].data(65))))
    assert len(list(in_one_item(program_schedules(planned, WorkItems()).nests))) == 1


@pytest.mark.parametrize("name", one_in(4, ALL))
def test_programs_of_the_vocabulary(name: str) -> None:
    shared_out(loops("greedy", ALL[name].program(*map(use, ALL[name].data(65))))[0])


@pytest.mark.parametrize("name", one_in(4, PROGRAMS))
def test_segments_together(name: str) -> None:
    _, program = PROGRAMS[name]
    found = program(use(np.ones(9)), use(np.array([3, 4, 2])))
    shared_out(loops("greedy", found if isinstance(found, tuple) else (found,))[0])


@pytest.mark.parametrize("first", one_in(4, range(0, 400, 10), kept=4))
def test_random_programs(first: int) -> None:
    """Number 288 scatters what it scans in segments."""
    for seed in range(first, first + 10):
        random = generate(seed)
        try:
            given = case(loaded(random), inputs(random))
        except AccelShapeError:  # it has an extent that cannot be
            continue
        shared_out(stages(given.program, Options(strategy="greedy")).loops)
