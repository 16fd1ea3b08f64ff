"""Sorting on the host by NumPy, in the order that `accel/labelled/meaning/sorting.py` defines.

NumPy's sorts put NaNs last and take zeros of both signs for equal, as accel does. Its fastest sorts do not keep equal elements
in their order; that shows only in places, and in the signs of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import TypeAlias

import numpy as np

from accel.labelled.meaning.evaluate import HostArray
from accel.support.forks import Once

Places: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


FEW = 8
"""What is asked for of a row is found without sorting it, if that is no more than one of so many elements."""


LONG = 1 << 16
"""Elements of the shortest row of which a sample says where the first ones begin."""

SAMPLE = 64
"""Of so many elements of a long row one is in the sample."""


def are_few(shape: tuple[int, ...], first: int | None) -> bool:
    """Whether so few elements of each row are asked for that the others need not be sorted."""
    return first is not None and 0 < first * FEW <= shape[-1] and 0 not in shape


def sort_into(
    result: HostArray, keys: Sequence[HostArray], places: bool, descending: bool, first: int | None = None
) -> None:
    """Fill `result` with the rows of the one array of `keys` in order, or with the places of their elements, as i64.

    `descending` orders are those of places only; so is `first`, as of `accel.ir.nodes.Sort`.
    """
    if not result.size:
        return
    rows = [_plain(key) for key in keys]
    if first is not None and are_few(result.shape, first):
        result[..., :first] = (_first_of_long if result.shape[-1] >= LONG else _first_places)(
            rows[0], first, descending
        )
    elif places:
        result[...] = _descending(rows) if descending else _places(rows)
    else:
        result[...] = rows[0]
        result.sort(-1)
        if result.dtype.kind == "f" and (zeros := result == 0).any():
            # Zeros of both signs keep their order; rows have as many after as before.
            result[zeros] = rows[0][rows[0] == 0]


def _vector_sorts() -> frozenset[int]:
    """The bytes of elements that NumPy sorts in registers of 512 bits."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    wide = {4, 8} if {"X86_V4", "AVX512_SKX"} & {*found} else set()
    return frozenset(wide | {2} if "AVX512_ICL" in found else wide)


vector_sorts = Once(_vector_sorts)
"""The bytes of elements that NumPy sorts in registers of 512 bits, found out on first demand."""


def _places(rows: Sequence[HostArray]) -> Places:
    return np.argsort(rows[0], -1, kind="stable") if len(rows) == 1 else np.lexsort(rows[::-1], -1)


def _first_of_long(rows: HostArray, first: int, descending: bool) -> Places:
    """Where the first ones of each of some long rows stand."""
    every = rows.reshape(-1, rows.shape[-1])
    return np.stack([_sampled(row, first, descending) for row in every]).reshape(*rows.shape[:-1], first)


def _sampled(row: HostArray, first: int, descending: bool) -> Places:
    """Where the first ones of a row stand, by a bound from a sample that lets pass a few more than these; all that it lets pass
    is put in order. Where it lets pass too few or too many, the first ones are found without it."""
    sample = row[SAMPLE // 2 :: SAMPLE]
    expected = first / SAMPLE
    # Four standard deviations more than are expected among the first ones.
    rank = min(len(sample), ceil(expected + 4 * sqrt(expected) + 4))
    place = len(sample) - rank if descending else rank - 1
    bound = np.partition(sample, place)[place]
    wanted = np.less(row, bound) if descending else np.less_equal(row, bound)
    if descending:
        np.logical_not(wanted, out=wanted)  # NaNs come first
    found = np.flatnonzero(wanted)
    if not first <= len(found) <= len(row) // 4:
        return _first_places(row, first, descending)
    values = row[found]
    order = _descending([values]) if descending else _places([values])
    chosen: Places = found[order[:first]]
    return chosen


def _first_places(rows: HostArray, first: int, descending: bool) -> Places:
    """Where the first ones of each row stand: those that are no later than the last of them, which are then sorted."""
    length = rows.shape[-1]
    place = length - first if descending else first - 1
    last = np.partition(rows, place, -1)[..., place : place + 1]
    wanted = np.greater_equal(rows, last) if descending else np.less_equal(rows, last)
    if rows.dtype.kind == "f":
        # NaNs are greater than all else, and equal to each other.
        wanted |= np.isnan(rows) if descending else np.isnan(last)
        if descending:
            wanted &= np.isnan(rows) | ~np.isnan(last)
    found = np.flatnonzero(wanted)
    counts = np.count_nonzero(wanted.reshape(-1, length), -1)
    chosen = _in_rows(found, rows.reshape(-1)[found], counts, descending)[:, :first]
    return (chosen % length).reshape(*rows.shape[:-1], first)


def _in_rows(found: Places, values: HostArray, counts: Places, descending: bool) -> Places:
    """Elements of rows that lie one behind the other, in order; of each row as many as the shortest has."""
    least = counts.min()
    if counts.max() == least:
        several = values.reshape(-1, least)
        order = _descending([several]) if descending else _places([several])
        return np.take_along_axis(found.reshape(-1, least), order, -1)
    row = np.repeat(np.arange(len(counts)), counts)
    if descending:
        # Backwards, so that of equal ones the first is the last, and the last row the first.
        order = len(found) - 1 - np.lexsort((values[::-1], -row[::-1]))[::-1]
    else:
        order = np.lexsort((values, row))
    begins = np.cumsum(counts) - counts
    chosen: Places = found[order][begins[:, np.newaxis] + np.arange(least)]
    return chosen


def _descending(rows: Sequence[HostArray]) -> Places:
    """The order of the reversed rows, reversed: of equal elements the first is the last of the reversed ones."""
    last = rows[0].shape[-1] - 1
    found: Places = last - _places([row[..., ::-1] for row in rows])[..., ::-1]
    return found


def _plain(key: HostArray) -> HostArray:
    """The array; of bools, which may be views of other bytes than 0 and 1, one with these bytes."""
    return np.not_equal(key.view(np.uint8), 0) if key.dtype == np.bool_ else key
