"""Whether lanes over positions of several loops stand side by side in an array."""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.llvm.emit.values import Digit, Fixed, Uniform, Value
from accel.labelled.array import Shape


def is_run(index: Sequence[Value], shape: Shape) -> bool:
    """Whether lanes over positions are adjacent in an array of that shape, which lies in memory as the loops run."""
    around = next((place for place, each in enumerate(index) if not isinstance(each, Uniform | Fixed)), len(index))
    if around == len(index) or not isinstance(first := index[around], Digit) or not first.outermost:
        return False
    behind: Shape = ()
    for each, extent in zip(reversed(index[around:]), reversed(shape[around:]), strict=True):
        if isinstance(each, Uniform | Fixed) and extent in first.ones:
            continue
        if not isinstance(each, Digit) or each.inner != behind:
            return False
        behind = (extent, *behind)
    return True
