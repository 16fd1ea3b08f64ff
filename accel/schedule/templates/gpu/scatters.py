"""Scatters by work-groups: into copies of their targets in local memory.

In: a nest, and what the device can. Out: the ways to run it, the best first; none if groups do not serve.
"""

from __future__ import annotations

from collections.abc import Iterator

from accel.ir.nodes import Nest
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Kind, Parameter, Schedule, Template
from accel.schedule.rules import kind, named, original, subdivide
from accel.schedule.templates.copies import copied_scatters
from accel.schedule.templates.work_items import flattened, is_shared_out, own_states

TURNS = Parameter("turns")
"""Iterations of a group, as many as serve."""


def scatters(nest: Nest, machine: WorkItems) -> Iterator[tuple[Schedule, ...]]:
    """Those of a nest whose outermost loops carry nothing else; copies run where they fit."""
    whole = flattened(original(nest), 0)
    if is_shared_out(whole, machine) and not own_states(whole, 0) and _has_copies(nest):
        yield (named(kind(kind(subdivide(whole, 0, TURNS), 0, Kind.PARALLEL), 1, Kind.ITEM), Template.COPIES),)
        yield (named(kind(whole, 0, Kind.PARALLEL), Template.ITEMS),)


def _has_copies(nest: Nest) -> bool:
    """Whether copies serve. They have one size, which decides whether they fit: so all targets have one shape."""
    return len({array.shape for scatter in copied_scatters(nest) for array in scatter.arrays}) == 1
