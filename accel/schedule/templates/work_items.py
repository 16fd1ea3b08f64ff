"""Nests on a device of many work-items (docs/opencl.md): outer loops without states, folds of all, running states, all else.

In: a nest, and what the device can. Out: the ways to run it, the best first; the schedules say all that there is to find. Loops
that stand directly inside of each other run as one axis, whose iterations, or blocks of them, work-items and groups share out.
"""

from __future__ import annotations

from collections.abc import Iterator

from accel.ir import mentions
from accel.ir.nodes import Nest, Scatter, is_known
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
    shared_out = flattened(one_item, 0)
    if not is_shared_out(shared_out, machine):
        yield (one_item,)
    elif own_states(shared_out, 0):
        yield _in_groups(shared_out) or (_in_chain(shared_out) or one_item,)
    else:
        yield (named(kind(shared_out, 0, Kind.PARALLEL), Template.ITEMS),)


def flattened(schedule: Schedule, at: int) -> Schedule:
    """With piece `at` and as many of the following ones as may be as one axis."""
    while at + 1 < len(schedule.pieces) and not against_flattening(schedule, *schedule.pieces[at : at + 2]):
        schedule = flatten(schedule, at)
    return schedule


def is_shared_out(schedule: Schedule, machine: WorkItems) -> bool:
    """Whether how often the outermost axis runs is known at launch, and work-items may scatter in any order."""
    scatters = [s for s in mentions.statements(schedule.nest) if isinstance(s, Scatter)]
    atomic = all(s.monoid.exact and a.element.bytes <= machine.atomic_bytes for s in scatters for a in s.arrays)
    return bool(schedule.pieces) and atomic and _has_known_extents(schedule.pieces[0].axis)


def _has_known_extents(axis: Axis) -> bool:
    return all(is_known(loop.extent) for loop in axis.loops)


def own_states(schedule: Schedule, at: int) -> list[Carried]:
    """The states that begin with piece `at`, a whole axis."""
    first = schedule.pieces[at].axis.loops[0].depth
    return [each for each in schedule.carried if each.first == first]


def _in_groups(schedule: Schedule) -> tuple[Schedule, ...] | None:
    """Folds of all that the outermost axis visits, a group for each block and a work-item for each lane; None if they cannot
    be."""
    parts = folded_parts(schedule, 0)
    return None if parts is None else tuple(_by_lanes(in_lanes(part, schedule.axes, 0)) for part in parts)


def folded_parts(schedule: Schedule, at: int) -> tuple[Nest, ...] | None:
    """The same as `sliced`, if how often piece `at` runs is known at launch."""
    if at == len(schedule.pieces) or not _has_known_extents(schedule.pieces[at].axis):
        return None
    return sliced(schedule, at)


def sliced(schedule: Schedule, at: int) -> tuple[Nest, ...] | None:
    """The slices of the nest whose folds of all that piece `at` visits can be cut into blocks and lanes; None if none can."""
    axis, states = schedule.pieces[at].axis, own_states(schedule, at)
    if not states or axis.role not in (Role.EXACT, *ORDERS):
        return None
    if against_subdividing(schedule, schedule.pieces[at], 1) is not None:
        return None
    return slices(schedule.nest, states)


def in_lanes(part: Nest, axes: tuple[Axis, ...], at: int) -> Schedule:
    """A slice of a nest whose axes have so many loops, piece `at` in blocks and lanes."""
    schedule = original(part)
    for number, axis in enumerate(axes):
        for _ in axis.loops[1:]:
            schedule = flatten(schedule, number)
    axis = schedule.pieces[at].axis
    for each in schedule.carried:
        if each.by(axis.depths) and each.role in ORDERS and each.state.monoid.commutes:
            schedule = keep(schedule, each.state.name, Accumulation.BLOCKS)
    if axis.role in ORDERS:
        return subdivide(schedule, at, most_lanes(schedule, axis))
    return subdivide(subdivide(schedule, at, BLOCK), at + 1, ANY_LANES)


def lanes_of(schedule: Schedule, at: int) -> int:
    """Which piece is the lanes of the axis of piece `at`, its blocks."""
    return at + 1 if schedule.pieces[at + 1].part is Part.LANE else at + 2


def _by_lanes(schedule: Schedule) -> Schedule:
    lanes = lanes_of(schedule, 0)
    return named(kind(kind(schedule, 0, Kind.PARALLEL), lanes, Kind.ITEM), Template.GROUPS)


def _in_chain(schedule: Schedule) -> Schedule | None:
    """Parts of the outermost axis, which carries running states, each in a work-item; None if that cannot be."""
    size = CHUNK if all(each.state.monoid.exact for each in own_states(schedule, 0)) else BLOCK
    if against_carrying(schedule, schedule.pieces[0], size) is not None:
        return None
    return named(kind(carry(schedule, 0, size), 0, Kind.PARALLEL), Template.CHAIN)
