"""Sorting on the host by NumPy, in the order that `accel/labelled/meaning/sorting.py` defines.

NumPy's sorts put NaNs last and take zeros of both signs for equal, as accel does. Its fastest sorts do not keep equal elements
in their order; that shows only in places, and in the signs of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from accel.labelled.meaning.evaluate import HostArray

Places: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def sort_into(result: HostArray, keys: Sequence[HostArray], places: bool, descending: bool) -> None:
    """Fill `result` with the rows of the one array of `keys` in order, or with the places of their elements, as i64.

    `descending` orders are those of places only.
    """
    if not result.size:
        return
    rows = [_plain(key) for key in keys]
    if places:
        result[...] = _descending(rows) if descending else _places(rows)
    else:
        result[...] = rows[0]
        result.sort(-1)
        if result.dtype.kind == "f":
            # Zeros of both signs keep their order; rows have as many after as before.
            result[result == 0] = rows[0][rows[0] == 0]


def _places(rows: Sequence[HostArray]) -> Places:
    return np.argsort(rows[0], -1, kind="stable") if len(rows) == 1 else np.lexsort(rows[::-1], -1)


def _descending(rows: Sequence[HostArray]) -> Places:
    """The order of the reversed rows, reversed: of equal elements the first is the last of the reversed ones."""
    last = rows[0].shape[-1] - 1
    found: Places = last - _places([row[..., ::-1] for row in rows])[..., ::-1]
    return found


def _plain(key: HostArray) -> HostArray:
    """The array; of bools, which may be views of other bytes than 0 and 1, one with these bytes."""
    return np.not_equal(key.view(np.uint8), 0) if key.dtype == np.bool_ else key
