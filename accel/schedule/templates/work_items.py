"""Nests on a device of many work-items (docs/opencl.md): outer loops without states, folds of all, running states, all else.

In: a nest, and what the device can. Out: the ways to run it, the best first; the schedules say all that there is to find. Loops
that stand directly inside of each other run as one axis, whose iterations, or blocks of them, work-items and groups share out.
"""

from __future__ import annotations

from collections.abc import Iterator

from accel.ir import mentions
from accel.ir.nodes import Nest, Scatter, Stream
from accel.labelled.meaning.order import BLOCK
from accel.schedule.legality import ORDERS, against_carrying, against_flattening, against_subdividing, most_lanes
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Accumulation, Axis, Carried, Kind, Parameter, Part, Role, Schedule, Template
from accel.schedule.rules import carry, flatten, keep, kind, named, original, subdivide
from accel.schedule.templates.slices import slices

ANY_LANES = 64
"""Lanes of a block of folds in which no order shows."""

CHUNK = Parameter("chunk")
"""Iterations that a work-item carries a state through, where no order shows."""


def by_work_items(nest: Nest, machine: WorkItems) -> Iterator[tuple[Schedule, ...]]:
    """Each way as one schedule, or as those of slices of the nest."""
    one_item = original(nest)
    shared_out = _flattened(one_item, 0)
    if not _is_shared_out(shared_out, machine):
        yield (one_item,)
    elif _own_states(shared_out, 0):
        yield _in_groups(shared_out, 0) or (_in_chain(shared_out) or one_item,)
    else:
        rows = _in_groups(_flattened(shared_out, 1), 1) if machine.groups_fold_rows else None
        yield from () if rows is None else (rows,)
        yield (named(kind(shared_out, 0, Kind.PARALLEL), Template.ITEMS),)


def _flattened(schedule: Schedule, at: int) -> Schedule:
    """With piece `at` and as many of the following ones as may be as one axis."""
    while at + 1 < len(schedule.pieces) and not against_flattening(schedule, *schedule.pieces[at : at + 2]):
        schedule = flatten(schedule, at)
    return schedule


def _is_shared_out(schedule: Schedule, machine: WorkItems) -> bool:
    """Whether how often the outermost axis runs is known at launch, and work-items may scatter in any order."""
    scatters = [s for s in mentions.statements(schedule.nest) if isinstance(s, Scatter)]
    atomic = all(s.monoid.exact and a.element.bytes <= machine.atomic_bytes for s in scatters for a in s.arrays)
    return bool(schedule.pieces) and atomic and _is_known(schedule.pieces[0].axis)


def _is_known(axis: Axis) -> bool:
    return not any(isinstance(loop.extent, Stream) for loop in axis.loops)


def _own_states(schedule: Schedule, at: int) -> list[Carried]:
    """The states that begin with piece `at`, a whole axis."""
    first = schedule.pieces[at].axis.loops[0].depth
    return [each for each in schedule.carried if each.first == first]


def _in_groups(schedule: Schedule, at: int) -> tuple[Schedule, ...] | None:
    """Folds of all that piece `at` visits, a group for each block and a work-item for each lane; None if they cannot be."""
    if at == len(schedule.pieces):
        return None
    axis, states = schedule.pieces[at].axis, _own_states(schedule, at)
    if not states or not _is_known(axis) or axis.role not in (Role.EXACT, *ORDERS):
        return None
    if against_subdividing(schedule, schedule.pieces[at], 1) is not None:
        return None
    return tuple(_by_lanes(part, schedule.axes, at) for part in slices(schedule.nest, states))


def _by_lanes(part: Nest, axes: tuple[Axis, ...], at: int) -> Schedule:
    """A slice of a nest whose axes have so many loops, piece `at` in blocks and lanes."""
    schedule = original(part)
    for number, axis in enumerate(axes):
        for _ in axis.loops[1:]:
            schedule = flatten(schedule, number)
    if at:
        schedule = kind(schedule, 0, Kind.PARALLEL)
    axis = schedule.pieces[at].axis
    for each in schedule.carried:
        if each.by(axis.depths) and each.role in ORDERS and each.state.monoid.commutes:
            schedule = keep(schedule, each.state.name, Accumulation.BLOCKS)
    if axis.role in ORDERS:
        schedule = subdivide(schedule, at, most_lanes(schedule, axis))
    else:
        schedule = subdivide(subdivide(schedule, at, BLOCK), at + 1, ANY_LANES)
    lanes = at + 1 if schedule.pieces[at + 1].part is Part.LANE else at + 2
    return named(kind(kind(schedule, at, Kind.PARALLEL), lanes, Kind.ITEM), Template.GROUPS)


def _in_chain(schedule: Schedule) -> Schedule | None:
    """Parts of the outermost axis, which carries running states, each in a work-item; None if that cannot be."""
    size = CHUNK if all(each.state.monoid.exact for each in _own_states(schedule, 0)) else BLOCK
    if against_carrying(schedule, schedule.pieces[0], size) is not None:
        return None
    return named(kind(carry(schedule, 0, size), 0, Kind.PARALLEL), Template.CHAIN)
