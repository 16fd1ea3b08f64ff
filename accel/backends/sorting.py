"""Sorting on the host by NumPy, in the order that `accel/labelled/meaning/sorting.py` defines.

NumPy's sorts put NaNs last and take zeros of both signs for equal, as accel does. Its fastest sorts do not keep equal elements
in their order; that shows only in places, and in the signs of zeros. Its fastest sort of float16 is not used: with NumPy 2.4 it
is wrong on processors with AVX-512 of the Ice Lake kind and later, now and then, where numbers repeat.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accel.ast.tree.host_functions import HostArray
from accel.backends.first_places import every_place, first_places
from accel.backends.places import Places, in_order, last_first, order_bits
from accel.support.forks import Once
from accel.support.waiting import interruptibly

SMALL = 4096
"""Elements up to which zeros are counted first, which is faster than to compare where there are none."""

FEW = 8
"""What is asked for of a row is found without sorting it, if that is no more than one of so many elements."""


LONG, WORTH_PACKING = 100, 1024
"""Elements of the shortest row, and of all rows, whose places are found by sorts in registers."""


def are_few(shape: tuple[int, ...], first: int | None) -> bool:
    """Whether so few elements of each row are asked for that the others need not be sorted."""
    return first is not None and 0 < first * FEW <= shape[-1] and 0 not in shape


def sort_into(
    result: HostArray, keys: Sequence[HostArray], places: bool, descending: bool, first: int | None = None
) -> None:
    """Fill `result` with the rows of the one array of `keys` in order, or with the places of their elements, as i64.

    `descending` orders are those of places only; so is `first`, as of `accel.ir.nodes.Sort`.
    """
    if result.size:
        interruptibly(result.size, lambda: _sort_into(result, keys, places, descending, first))


def _sort_into(result: HostArray, keys: Sequence[HostArray], places: bool, descending: bool, first: int | None) -> None:
    """The same, of results that have elements."""
    rows = [_plain(key) for key in keys]
    if first is not None and are_few(result.shape, first):
        result[..., :first] = first_places(rows[0], first, descending)
    elif places:
        result[...] = _places(rows, descending)
    else:
        result[...] = rows[0]
        if result.dtype == np.float16:
            _sort_halves(result)
        else:
            result.sort(-1)
        if result.dtype.kind == "f" and (result.size >= SMALL or np.count_nonzero(result) < result.size):
            zeros = result == 0
            if zeros.any():  # those of both signs keep their order; rows have as many after as before
                result[zeros] = rows[0][rows[0] == 0]


def sorts_places(keys: Sequence[HostArray]) -> bool:
    """Whether places are found by sorts in registers, rather than by NumPy's stable sorts, which are fast of short rows and of
    integers of up to two bytes."""
    key, *more = keys
    is_slow = key.itemsize > 2 or key.dtype.kind == "f"
    is_long = key.shape[-1] >= LONG and key.size >= WORTH_PACKING
    return not more and is_slow and is_long and 8 in register_sorts()


def _places(rows: Sequence[HostArray], descending: bool) -> Places:
    """Where the elements of rows stand."""
    if sorts_places(rows):
        return every_place(rows[0], descending)
    return last_first(rows) if descending else in_order(rows)


def _sort_halves(rows: HostArray) -> None:
    """Sort rows of float16, in place, by integers: NumPy's sort of these, in registers of 512 bits, leaves some out of order.

    Zeros of both signs are not equal then, but side by side. All NaNs are one.
    """
    missing, bits = np.isnan(rows), rows.view(np.int16)
    order_bits(bits, missing)
    bits.sort(-1)
    order_bits(bits, np.zeros_like(missing))


def _register_sorts() -> frozenset[int]:
    """The bytes of elements that NumPy sorts in registers, on this processor: `x86_simd_qsort` in its sources, from 2.0 on."""
    extensions = np.show_config(mode="dicts")["SIMD Extensions"]
    found = {*extensions["baseline"], *extensions["found"]}
    wide = {4, 8} if found & {"AVX2", "X86_V3", "AVX512_SKX", "X86_V4"} else set()
    return frozenset(wide | {2} if "AVX512_ICL" in found else wide)


register_sorts = Once(_register_sorts)
"""The bytes of elements that NumPy sorts in registers, found out on first demand."""


def _plain(key: HostArray) -> HostArray:
    """The array; of bools, which may be views of other bytes than 0 and 1, one with these bytes."""
    return np.not_equal(key.view(np.uint8), 0) if key.dtype == np.bool_ else key
