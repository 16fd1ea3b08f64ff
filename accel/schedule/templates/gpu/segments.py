"""Folds of segments in groups of work-items: of loops whose length the loops around them find out, as that of a sparse row.

In: a nest, and what the device can. Out: the way to run it, if its innermost loop folds segments in lanes. Some neighbouring
segments are a group's. How long they are only the group finds out: elements of short ones are shared out to its work-items one
after the other, and lanes of blocks of long ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from accel.ir import mentions
from accel.ir.mentions import loops
from accel.ir.nodes import For, LoopDirection, ManyToOne, Nest, Remap, Stream
from accel.schedule.legality import is_repeatable, stands_alone
from accel.schedule.machine import WorkItems, struct_bytes
from accel.schedule.nodes import Carried, Kind, Parameter, Schedule, Template
from accel.schedule.rules import kind, named, original, subdivide
from accel.schedule.templates.work_items import flattened, in_lanes, is_shared_out, lanes_of, own_states, sliced

SEGMENTS = Parameter("segments")
"""Segments of a group: so many that all of them have groups enough."""

MOST_BYTES = 24
"""Of the structs of what a segment comes to: local memory has room for many of these."""


def segments(nest: Nest, machine: WorkItems) -> Iterator[tuple[Schedule, ...]]:
    """The way to fold the nest's segments in groups; none if it has no such folds, or folds of several kinds of lanes."""
    whole = flattened(original(nest), 0)
    if not is_shared_out(whole, machine) or own_states(whole, 0) or not stands_alone(nest.body):
        return
    if len(whole.pieces) != 2 or not has_segments(nest):
        return
    parts, states = sliced(whole, 1), own_states(whole, 1)
    if (
        parts is None
        or len(parts) > 1
        or not all(map(_joins, states))
        or sum(struct_bytes(each.state.types) for each in states) > MOST_BYTES
    ):
        return
    schedule = subdivide(in_lanes(parts[0], whole.axes, 1), 0, SEGMENTS)
    schedule = kind(kind(schedule, 0, Kind.PARALLEL), 1, Kind.ITEM)
    yield (named(kind(schedule, lanes_of(schedule, 2), Kind.ITEM), Template.SEGMENTS),)


def has_segments(nest: Nest) -> bool:
    """Whether the innermost loop of a nest runs over segments that are within an array, and does nothing but fold them."""
    *_, innermost = loops(nest)
    inside = (*innermost.body.before, *innermost.body.after)
    pure = all(is_repeatable(each) or isinstance(each, ManyToOne) for each in inside)
    return pure and _is_segment(nest, innermost)


def _is_segment(nest: Nest, loop: For) -> bool:
    checked = {out.name for each in mentions.statements(nest) if isinstance(each, Remap) for out in each.outs}
    return isinstance(loop.extent, Stream) and loop.extent.name in checked and loop.direction is LoopDirection.UP


def _joins(each: Carried) -> bool:
    """Whether lanes of a fold join as those that commute do, and every iteration makes one of its elements."""
    state = each.state
    return (state.monoid.exact or state.monoid.commutes) and each.step.when is None and state.when is None
