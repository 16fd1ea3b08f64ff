"""Whether a nest has something to do although nothing that it makes has elements: it may have lengths of segments to check."""

from __future__ import annotations

from accel.ir.mentions import statements
from accel.ir.nodes import Nest, Remap

MOST_ROWS = 1 << 20
"""Rows without elements that are visited all the same. Only more have extents that no loop should run to."""


def divides(nest: Nest) -> bool:
    """Whether it checks segments, which may be wrong ones where all together have no elements."""
    return any(isinstance(each, Remap) and each.segment is not None for each in statements(nest))
