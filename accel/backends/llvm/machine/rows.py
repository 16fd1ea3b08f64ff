"""Arguments as compiled code takes them: with any strides, but aligned, and the elements of each row adjacent."""

from __future__ import annotations

import numpy as np

from accel.ast.tree.host_functions import HostArray


def with_rows(array: HostArray) -> HostArray:
    """The array itself, or a copy if it is misaligned or its innermost elements are not adjacent."""
    flags = array.flags
    if flags.aligned and (flags.c_contiguous or _has_rows(array)):
        return array
    return np.array(array, order="C", copy=True)


def _has_rows(array: HostArray) -> bool:
    """Whether the elements of the last dimension are adjacent."""
    return array.ndim > 0 and array.strides[-1] == array.itemsize
