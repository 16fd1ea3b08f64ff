"""What runs on threads and what on work-items decide the same: roles, lanes and blocks of the order, which scans need which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from accel.ir.nodes import Nest
from accel.labelled.meaning.order import BLOCK
from accel.schedule.machine import PROCESSOR, WorkItems
from accel.schedule.nodes import Kind, Part, Schedule, Template
from accel.schedule.templates.choose import program_schedules, schedules
from accel.schedule.templates.ways import text
from accel.schedule.verify import verify
from tests.schedule import programs
from tests.schedule.programs import EXAMPLES, Example

DEVICE = WorkItems()
GPU = WorkItems(gpu=True)

BY_BLOCKS = (Template.ROWS, Template.GROUPS, Template.BLOCK_GROUPS, Template.LANE_ROWS, Template.COLUMN_GROUPS)
"""Templates that cut ordered axes into blocks, steps and lanes."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_schedules_of_work_items(example: Callable[[], Example], golden: Callable[[str], None]) -> None:
    made = [program_schedules(example().loops, machine) for machine in (DEVICE, GPU)]
    for each in made:
        for nest in each.nests:
            for schedule in nest.schedules:
                verify(schedule)
    golden("\n\n".join(dict.fromkeys(map(text, made))))


def blocks(schedule: Schedule) -> Iterator[tuple[frozenset[int], tuple[object, ...]]]:
    """The axes that are cut into blocks of the order: the loops, and which parts stand inside of each other.

    Strips of steps, in which phases run, are the same steps.
    """
    for axis in schedule.axes:
        pieces = schedule.of(axis)
        if pieces[0].part is Part.BLOCK:
            sizes: dict[Part, int] = {}
            for piece in pieces[1:]:
                assert isinstance(piece.size, int)
                if piece.part is Part.BLOCK:  # some in a group
                    continue
                sizes[piece.part] = sizes.get(piece.part, 1) * piece.size
            yield axis.depths, tuple(sizes.items())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_machines_agree(example: Callable[[], Example]) -> None:
    for nest in example().nests:
        found = [way.schedules for machine in (PROCESSOR, GPU) for way in schedules(nest, machine).ways]
        whole = [schedule for (schedule, *others) in found if not others]
        carried = {(axis.depths, axis.role) for schedule in whole for axis in schedule.axes}
        assert len(carried) == len({depths for depths, _ in carried})
        cut = {each for s in whole if s.template in BY_BLOCKS for each in blocks(s)}
        assert len(cut) == len({depths for depths, _ in cut})
        assert len({schedule.rounds for schedule in whole if schedule.template is Template.CHAIN}) <= 1


def only(example: Example) -> Nest:
    (nest,) = example.nests
    return nest


def test_a_dot_product_has_the_same_lanes() -> None:
    rows, groups = (schedules(only(programs.dot()), machine).last for machine in (PROCESSOR, DEVICE))
    assert dict(blocks(rows)) == dict(blocks(groups)) != {}
    assert rows.accumulations == groups.accumulations
    assert [piece.kind for piece in rows.pieces] == [Kind.PARALLEL, Kind.SERIAL, Kind.VECTOR]
    assert [piece.kind for piece in groups.pieces] == [Kind.PARALLEL, Kind.SERIAL, Kind.ITEM]


def test_loops_of_a_fold_are_one() -> None:
    """Where memory lies as the loops run, threads keep their fold in blocks, as work-items do."""
    rows, items = (schedules(only(programs.whole()), machine) for machine in (PROCESSOR, DEVICE))
    assert [axis.name for axis in rows.last.axes] == [axis.name for axis in items.last.axes] == ["i0*i1"]
    merged = rows.by(Template.MERGED)
    assert merged is not None
    assert merged.accumulations == items.last.accumulations != rows.last.accumulations


def test_scans_of_scans_take_two_rounds() -> None:
    """On work-items; on threads they are no chain."""
    nest = only(programs.totals())
    (way,) = schedules(nest, DEVICE).ways
    assert [len(names) for names in way.schedule.rounds] == [1, 1]
    assert way.schedule.pieces[0].inside == (BLOCK,)
    assert [way.schedule.template for way in schedules(nest, PROCESSOR).ways] == [Template.ROWS]


def test_chains_carry_the_same_states() -> None:
    nest = only(programs.counts())
    threads, items = (schedules(nest, machine).ways[0].schedule for machine in (PROCESSOR, DEVICE))
    assert threads.template is items.template is Template.CHAIN
    assert threads.rounds == items.rounds != ()


def test_folds_that_need_other_lanes_are_in_other_slices() -> None:
    nest = only(programs.choice())
    (way,) = schedules(nest, DEVICE).ways
    folded = [[each.state.name for each in schedule.carried] for schedule in way.schedules]
    assert sorted(name for names in folded for name in names) == sorted(
        s.state.name for s in way.schedules[0].carried + way.schedules[1].carried
    )
    assert [[piece.part for piece in schedule.pieces][1:] for schedule in way.schedules] == [
        [Part.LANE, Part.STEP],
        [Part.STEP, Part.LANE],
    ]


def test_scatters_that_work_items_may_not_share_run_in_one() -> None:
    nest = programs.histogram().nests[1]
    assert schedules(nest, DEVICE).last.template is Template.ITEMS
    assert schedules(nest, replace(DEVICE, atomic_bytes=4)).last.template is Template.LITERAL
