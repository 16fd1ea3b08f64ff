"""Chooses how a nest runs on a device.

In: a nest. Out: its kernels. The first schedule that fits is taken; the last one fits every nest (docs/opencl.md).
"""

from __future__ import annotations

from accel.backends.opencl.flat import flatten
from accel.backends.opencl.folds import blocks_of_lanes, folds_in_lanes
from accel.backends.opencl.kernel import NestKernels, Scaffold
from accel.backends.opencl.maps import one_item_per_index, scatters_are_atomic
from accel.backends.opencl.scans import chained_blocks, rounds_of_blocks
from accel.backends.opencl.sequential import sequential


def schedule(scaffold: Scaffold) -> NestKernels:
    """The kernels of the scaffold's nest."""
    nest = scaffold.nest
    flat = None if nest.body.loop is None else flatten(nest.body.loop)
    if flat is None or not scatters_are_atomic(nest, scaffold.context.features):
        return sequential(scaffold)
    if not flat.loops[0].states:
        return one_item_per_index(scaffold, flat)
    lanes = folds_in_lanes(nest, flat)
    if lanes is not None:
        return blocks_of_lanes(scaffold, flat, lanes)
    chain = rounds_of_blocks(nest, flat)
    if chain is not None:
        return chained_blocks(scaffold, flat, chain)
    return sequential(scaffold)
