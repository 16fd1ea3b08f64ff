"""Whether a backpermute reads in bounds only: by its index function and its shapes, or by a check that comes before it."""

from __future__ import annotations

from accel.labelled.nodes import Binding
from accel.labelled.operations import Flag, describe
from accel.labelled.scalars.ranges import always_inside


def reads_inside(binding: Binding) -> bool:
    """Whether a binding, a backpermute, is known to read in bounds, in its own place or after it."""
    described = describe(binding.operation)
    (function,) = described.functions
    return Flag.INSIDE in described.flags or always_inside(function, binding.arrays[0].shape, described.arrays[0].shape)
