"""Where the elements of rows stand in order, by NumPy's stable sorts; and floats as integers that are in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from accel.ast.tree.host_functions import HostArray

Places: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def in_order(rows: Sequence[HostArray]) -> Places:
    """From the least to the greatest, by the first key, then the next."""
    return np.argsort(rows[0], -1, kind="stable") if len(rows) == 1 else np.lexsort(rows[::-1], -1)


def last_first(rows: Sequence[HostArray]) -> Places:
    """The order of the reversed rows, reversed: of equal elements the first is the last of the reversed ones."""
    last = rows[0].shape[-1] - 1
    found: Places = last - in_order([row[..., ::-1] for row in rows])[..., ::-1]
    return found


def order_bits(bits: np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]], missing: HostArray) -> None:
    """Turn bits of floats, in place, into integers in their order, -0.0 next before 0.0. NaNs, which are `missing`, are the
    greatest. Done once more, with nothing missing, it gives the bits again."""
    greatest = np.iinfo(bits.dtype).max
    bits ^= (bits >> (8 * bits.itemsize - 1)) & greatest
    bits[missing] = greatest
