"""Which way some short segments run together: folds in lanes, also of scans, scans in one row, or in two.

In: a loop over segments. Out: whether some of them may run together, and the code of those that have few elements.
"""

from __future__ import annotations

from accel.backends.llvm.states.segments import few_exclusive_scans, few_folds, few_scans
from accel.backends.llvm.states.segments.few_segments import FewSegments
from accel.backends.llvm.states.segments.group import folds_scans, has_lanes
from accel.ir.nodes import For


def in_groups(loop: For) -> bool:
    """Whether some segments of a loop may run together."""
    return has_lanes(loop) or folds_scans(loop) or few_scans.in_one_row(loop) or few_exclusive_scans.in_two_rows(loop)


def write(segments: FewSegments) -> None:
    """What the loop does with segments that have begun."""
    loop = segments.group.loop
    if has_lanes(loop) or folds_scans(loop):
        few_folds.write(segments)
    elif few_scans.in_one_row(loop):
        few_scans.write(segments)
    else:
        few_exclusive_scans.write(segments)
