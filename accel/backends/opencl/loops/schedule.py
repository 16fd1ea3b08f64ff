"""Chooses how a nest runs on a device.

In: a nest. Out: its kernels. The first schedule that fits is taken; the last one fits every nest (docs/opencl.md).
"""

from __future__ import annotations

from accel.backends.opencl.code.kernel import Choice, NestKernels, Scaffold
from accel.backends.opencl.loops.flat import Flat, flatten, merged_where_possible
from accel.backends.opencl.loops.folds import blocks_of_lanes, folds_in_lanes
from accel.backends.opencl.loops.maps import one_item_per_index, scatters_are_atomic
from accel.backends.opencl.loops.rows import around, inside
from accel.backends.opencl.loops.scans import chained_blocks, rounds_of_blocks
from accel.backends.opencl.loops.sequential import sequential

LONG_ROW = 256
"""Elements of a row from which on a GPU's work-group folds it faster than a single work-item."""


def schedule(scaffold: Scaffold) -> NestKernels:
    """The kernels of the scaffold's nest."""
    nest = scaffold.nest
    flat = None if nest.body.loop is None else flatten(nest.body.loop)
    if flat is None or not scatters_are_atomic(nest, scaffold.context.features):
        return sequential(scaffold)
    if not flat.loops[0].states:
        return _rows(scaffold, flat)
    lanes = folds_in_lanes(nest, flat)
    if lanes is not None:
        return blocks_of_lanes(scaffold, around(nest), merged_where_possible(flat, nest), lanes)
    chain = rounds_of_blocks(nest, flat)
    if chain is not None:
        return chained_blocks(scaffold, flat, chain)
    return sequential(scaffold)


def _rows(scaffold: Scaffold, outer: Flat) -> NestKernels:
    """Outer loops without states: a work-item for each index; on a GPU, work-groups where the inner fold is long."""
    inner = None if outer.body.loop is None else flatten(outer.body.loop)
    lanes = None if inner is None or not inner.loops[0].states else folds_in_lanes(scaffold.nest, inner)
    if inner is None or lanes is None or not scaffold.context.features.gpu:
        return one_item_per_index(scaffold, outer)
    blocks_of_lanes(scaffold, inside(scaffold.nest, outer), inner, lanes, Choice(inner.extents, LONG_ROW, below=False))
    one_item_per_index(scaffold, outer, Choice(inner.extents, LONG_ROW, below=True))
    return scaffold.done("a work-group per row if rows are long, else a work-item")
