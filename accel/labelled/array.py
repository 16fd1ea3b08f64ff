"""Arrays of the labelled program and its extents, which all later stages refer to.

One `Array` is one buffer; an operation whose element type is a tuple has several arrays of one shape under one label. Extents
are symbolic: one program serves all sizes.
"""

from __future__ import annotations

from typing import TypeAlias

from accel.ast.tree.types import ScalarType
from accel.support.dataclass import dataclass

Label: TypeAlias = int
"""Names an operation; unique in a program with all its sub-programs; printed `%3`. Bindings stand in rising order."""


@dataclass(frozen=True, slots=True)
class SizeVariable:
    """An extent that is known at run time only, printed `n0`."""

    number: int

    def __lt__(self, other: SizeVariable) -> bool:
        return self.number < other.number


@dataclass(frozen=True, slots=True)
class SegmentLength(SizeVariable):
    """How long a segment of a dimension of extent `of` is that begins at `starts` and ends before `ends`.

    It differs from segment to segment: no array has it as an extent, and it has no value outside of the loops over segments. It
    stands in iteration spaces, where equal ones are one loop.
    """

    starts: Array
    ends: Array
    of: Extent
    longer: bool
    """Whether a loop runs once more, as that of an exclusive scan."""
    backward: bool
    """Whether it runs from the segment's end to its start."""


@dataclass(frozen=True, slots=True)
class Extent:
    """`variable + offset`, or the constant `offset`: `n0`, `n0+1`, `16`."""

    variable: SizeVariable | None
    offset: int


Shape: TypeAlias = tuple[Extent, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """One buffer: leaf `leaf` of what `label` computes; printed `%3`, or `%3.1` where there are several leaves."""

    label: Label
    leaf: int
    element: ScalarType
    shape: Shape

    def __hash__(self) -> int:
        # Label and leaf name a buffer; to hash the shape as well, or a tuple, takes time, and arrays are hashed a lot.
        return self.label ^ self.leaf << 20


def segment_length(
    starts: Array, ends: Array, of: Extent, longer: bool = False, backward: bool = False
) -> SegmentLength:
    """The length of the segments of one descriptor."""
    return SegmentLength(-1, starts, ends, of, longer, backward)


def with_segments(shape: Shape) -> Shape:
    """A shape with as many elements as a loop over segments visits at most: segments and lengths as what they divide."""
    for place, extent in enumerate(shape):
        if isinstance(extent.variable, SegmentLength):
            return (*shape[: place - 1], extent.variable.of, *with_segments(shape[place + 1 :]))
    return shape
