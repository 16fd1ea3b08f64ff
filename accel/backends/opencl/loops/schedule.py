"""The kernels of a nest, as its schedules say (accel/schedule/templates/work_items.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from accel.backends.opencl.code.kernel import Choice, NestKernels, Scaffold
from accel.backends.opencl.loops.flat import flat, merged_where_possible
from accel.backends.opencl.loops.folds import blocks_of_lanes
from accel.backends.opencl.loops.maps import one_item_per_index
from accel.backends.opencl.loops.rows import around, inside
from accel.backends.opencl.loops.scans import chained_blocks
from accel.backends.opencl.loops.sequential import sequential
from accel.errors import AccelInternalError
from accel.schedule.nodes import Schedule, Template
from accel.schedule.templates.ways import Way

LONG_ROW = 256
"""Elements of a row from which on a work-group folds it faster than a single work-item."""


def kernels(scaffold: Scaffold, ways: Sequence[Way]) -> NestKernels:
    """Those of the scaffold's nest."""
    match ways:
        case [Way(schedules)]:
            return _only(scaffold, schedules)
        case [Way(groups), Way()]:
            return _rows(scaffold, groups)
        case _:
            raise AccelInternalError(f"{len(ways)} ways to run a nest")


def _only(scaffold: Scaffold, schedules: Sequence[Schedule]) -> NestKernels:
    first, nest = schedules[0], scaffold.nest
    match first.template:
        case Template.LITERAL:
            return sequential(scaffold)
        case Template.ITEMS:
            return one_item_per_index(scaffold, flat(nest, first.pieces[0].axis))
        case Template.GROUPS:
            whole = merged_where_possible(flat(nest, first.pieces[0].axis), nest)
            return blocks_of_lanes(scaffold, around(nest), whole, schedules, 0)
        case Template.CHAIN:
            return chained_blocks(scaffold, first)
        case (
            Template.ROWS | Template.MERGED | Template.COLUMNS | Template.COLUMN_SCANS | Template.BLOCKS
            | Template.SHORT_ROWS | Template.ROW_GROUPS | Template.TILE | Template.COPIES
        ):  # fmt: skip
            raise AccelInternalError(f"no kernels run nests as {first.template.value}")
        case _:
            assert_never(first.template)


def _rows(scaffold: Scaffold, groups: Sequence[Schedule]) -> NestKernels:
    """Work-groups where rows are long, else work-items."""
    nest = scaffold.nest
    outer, inner = (flat(nest, groups[0].pieces[at].axis) for at in (0, 1))
    long, short = (Choice(inner.extents, LONG_ROW, below=below) for below in (False, True))
    blocks_of_lanes(scaffold, inside(nest, outer), inner, groups, 1, long)
    one_item_per_index(scaffold, outer, short)
    return scaffold.done("a work-group per row if rows are long, else a work-item")
