"""Maps on CPU devices of work-items: strips of neighbouring columns, with boundary conditions at the edges only.

In: a nest. Out: its schedule, or None. The columns are the innermost loop, with those around it where arrays lie as they run.
A group has some of them, of one iteration of the loops around, so that compilers for CPUs see work-items that read and write
side by side; within the margins of the nest's inside they have no conditions (`accel/schedule/splitting/inside.py`). Where
columns ask for the same values a work-item has a whole row.
"""

from __future__ import annotations

from accel.ir.mentions import loops
from accel.ir.nodes import LoopDirection, Nest, is_known
from accel.ir.positions import merging
from accel.schedule.legality import stands_alone
from accel.schedule.nodes import Kind, Role, Schedule, Template
from accel.schedule.rules import flatten, kind, named, original, split, subdivide
from accel.schedule.splitting.inside import inside
from accel.schedule.splitting.lines import lined
from accel.schedule.templates.work_items import flattened

STRIP = 256
"""Columns of a group, at most."""


def strips(nest: Nest) -> Schedule | None:
    """A group for some neighbouring columns of a row."""
    if not is_plain_map(nest):
        return None
    every, columns = loops(nest), first_column(nest)
    schedule = original(nest)
    for _ in every[columns + 1 :]:
        schedule = flatten(schedule, columns)
    schedule = subdivide(schedule, columns, STRIP)
    for at in range(columns + 1):
        schedule = kind(schedule, at, Kind.PARALLEL)
    schedule = kind(schedule, columns + 1, Kind.ITEM)
    margins = inside(nest) if columns == len(every) - 1 else ()
    return named(split(schedule, margins) if margins else schedule, Template.STRIPS)


def lines(nest: Nest) -> Schedule | None:
    """A work-item for each row, whose columns share values; None where they do not."""
    found = lined(original(nest)) if is_plain_map(nest) else None
    if found is None:
        return None
    last = len(found.pieces) - 1
    for at in range(last):
        found = kind(found, at, Kind.PARALLEL)
    return named(kind(found, last, Kind.VECTOR), Template.LINES)


def suits_all(schedule: Schedule) -> bool:
    """Whether a map runs in strips whatever its extents: where the columns are all that there is, without edges."""
    return schedule.template is Template.STRIPS and len(schedule.axes) == 1 and not schedule.inside


def is_plain_map(nest: Nest) -> bool:
    """Whether all loops stand directly inside of each other, known at launch, and carry nothing, with nothing outside of them
    that must not be repeated."""
    whole = flattened(original(nest), 0)
    if len(whole.pieces) != 1 or whole.pieces[0].axis.role is not Role.MAP:
        return False
    known = all(is_known(loop.extent) for loop in loops(nest))
    return known and stands_alone(nest.body)


def first_column(nest: Nest) -> int:
    """The first of the loops that are the columns: the innermost one, with those around it that merge with it."""
    every = loops(nest)
    first = merging(nest, every, contiguous=True)
    upwards = all(loop.direction is LoopDirection.UP for loop in every[first:])
    return first if upwards else len(every) - 1
