"""Nests that groups of work-items run row by row, so that a series of them does: some rows at a time, each in local memory.

In: a nest, and how many of its outermost loops number rows. Out: its schedule and how long rows are; None if what follows those
loops is no single map, nor a fold in lanes of one kind. Softmax and normalisations of rows are series of such nests
(`accel/schedule/templates/series.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from accel.ir.mentions import loops
from accel.ir.nodes import Nest
from accel.labelled.array import Extent
from accel.labelled.scalar import Constant
from accel.schedule.legality import against_flattening, stands_alone
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Axis, Kind, Role, Schedule, Template
from accel.schedule.rules import flatten, kind, named, original, subdivide
from accel.schedule.templates.gpu.folds import ROWS, is_down_columns
from accel.schedule.templates.gpu.maps import turned_blocks
from accel.schedule.templates.work_items import (
    flattened,
    folded_parts,
    in_lanes,
    is_shared_out,
    lanes_of,
    own_states,
)


def in_row_groups(nest: Nest, machine: WorkItems, outer: int) -> Schedule | None:
    """Some iterations of the outermost loops, so many, in a group, those inside of them in work-items that are the row's."""
    whole = original(nest)
    for _ in range(outer - 1):
        if len(whole.pieces) < 2 or against_flattening(whole, *whole.pieces[:2]) is not None:
            return None
        whole = flatten(whole, 0)
    whole = flattened(whole, 1)
    if (
        not is_shared_out(whole, machine)
        or own_states(whole, 0)
        or not stands_alone(nest.body)
        or _is_across(nest, whole)
    ):
        return None
    match whole.pieces[1:]:
        case []:
            inside = None
        case [piece] if piece.axis.role is Role.MAP and row_of(piece.axis) is not None:
            inside = 1
        case [_] if (parts := folded_parts(whole, 1)) is not None and len(parts) == 1:
            whole = in_lanes(parts[0], whole.axes, 1)
            inside = lanes_of(whole, 1)
        case _:
            return None
    schedule = kind(subdivide(whole, 0, ROWS), 0, Kind.PARALLEL)
    for at in (1,) if inside is None else (1, inside + 1):
        schedule = kind(schedule, at, Kind.ITEM)
    return named(schedule, Template.LANE_ROWS)


def _is_across(nest: Nest, whole: Schedule) -> bool:
    """Whether neighbours of a row do not read neighbours: other templates visit several rows at once."""
    return turned_blocks(nest) is not None or (len(whole.pieces) == 2 and is_down_columns(whole))


def in_groups(nest: Nest, machine: WorkItems) -> Mapping[int, tuple[Extent, ...]]:
    """How long the rows of a nest are that groups of a GPU's work-items run, by how many outermost loops number them."""
    if not machine.gpu:
        return {}
    every = ((outer, in_row_groups(nest, machine, outer)) for outer in range(1, len(loops(nest)) + 1))
    return {outer: row_extents(schedule) for outer, schedule in every if schedule is not None}


def row_extents(schedule: Schedule) -> tuple[Extent, ...]:
    """How long the rows are, as a product; nothing if there is no loop inside of the outermost ones."""
    every = [row_of(axis) for axis in schedule.axes[1:]]
    return tuple(extent for found in every for extent in found or ())


def row_of(axis: Axis) -> tuple[Extent, ...] | None:
    """The extents of an axis; None if one is found out on the way."""
    found = []
    for loop in axis.loops:
        match loop.extent:
            case Extent():
                found.append(loop.extent)
            case Constant(value=value):
                found.append(Extent(None, int(value)))
            case _:
                return None
    return tuple(found)
