"""What order sorted elements are in, said once, and the reference for it: slow, row by row.

Numbers rise, False comes before True, -0.0 is equal to +0.0, and a NaN equal to every NaN and greater than all else. Elements
of several leaves are compared from the first leaf to the last. Equal elements stay in the order in which they were, also where
the order descends, in which the greatest come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from accel.ast.meaning.semantics import Value
from accel.labelled.meaning.evaluate import HostArray

Key: TypeAlias = tuple[bool, Value]
"""A scalar as Python orders it: whether it is a NaN, and its value if it is none."""


def ordered(inputs: Sequence[HostArray], places: bool, descending: bool) -> HostArray:
    """The rows of the one input in order, or the places where the elements of all inputs stand, as i64. A fresh array."""
    source = inputs[0]
    if not source.size:  # one extent may be 2^40 all the same
        return np.empty(source.shape, np.int64 if places else source.dtype)
    keys = [[_key(value) for value in each.ravel().tolist()] for each in inputs]
    elements = list(zip(*keys, strict=True))
    inner = source.shape[-1]
    rows = [elements[start : start + inner] for start in range(0, source.size, inner)]
    found = np.reshape([_order(row, descending) for row in rows], source.shape)
    return found if places else np.take_along_axis(source, found, -1)


def _order(row: Sequence[tuple[Key, ...]], descending: bool) -> list[int]:
    """Where the elements of a row stand, in order."""
    return sorted(range(len(row)), key=row.__getitem__, reverse=descending)  # which keeps equal ones as they are


def _key(value: Value) -> Key:
    return (True, 0) if value != value else (False, value)
