"""Where the first ones of each row stand in order, found without sorting the others, by NumPy.

In: rows of one key, how many are asked for, whether the greatest come first. Out: places; of equal ones the earlier come first.
Long rows are bounded by a sample. Keys of up to four bytes and their places are packed into one number, which is partitioned
and sorted where equal keys would need a stable sort; so are integers of eight bytes that are near enough to each other. Of
others the last one that is wanted is found by a partition. Where all of a row are asked for, packing serves, too.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from accel.ast.tree.host_functions import HostArray
from accel.backends.places import Places, in_order, last_first, order_bits

LONG = 1 << 16
"""Elements of the shortest row of which a sample says where the first ones begin."""

SAMPLE = 64
"""Of so many elements of a long row one is in the sample."""

AT_ONCE = 1 << 15
"""Elements of rows that are packed, or sorted, at once: they stay in a core's caches."""

PACKED_BYTES = 4
"""Of the largest keys that are packed with their places."""


def first_places(rows: HostArray, first: int, descending: bool) -> Places:
    """Where they stand."""
    if rows.shape[-1] >= LONG:
        return _of_long_rows(rows, first, descending)
    if rows.itemsize <= PACKED_BYTES:
        return _packed(rows, first, descending, None)
    least = _least_of_near(rows)
    if least is not None:
        return _packed(rows, first, descending, least)
    return _by_partition(rows, first, descending)


def every_place(rows: HostArray, descending: bool) -> Places:
    """Where all of them stand, by sorts that do not keep equal elements in their order, and are fast for that."""
    length = rows.shape[-1]
    least = None if rows.itemsize <= PACKED_BYTES else _least_of_near(rows)
    if least is not None or rows.itemsize <= PACKED_BYTES:
        return _packed(rows, length, descending, least)
    every, found = rows.reshape(-1, length), np.empty((rows.size // length, length), np.int64)
    step = max(1, AT_ONCE // length)
    for at in range(0, len(every), step):
        found[at : at + step] = _without_equals(every[at : at + step], descending)
    return found.reshape(rows.shape)


def _without_equals(rows: HostArray, descending: bool) -> Places:
    """All places. Rows of which two elements are equal, or NaN, are sorted again, stably."""
    order = np.argsort(rows, -1)
    values = np.take_along_axis(rows, order, -1)
    equals = ~np.less(values[:, :-1], values[:, 1:]).all(-1)
    if descending:
        order = order[:, ::-1]
    if equals.any():
        several = [rows[equals]]
        order[equals] = last_first(several) if descending else in_order(several)
    return order


def _of_long_rows(rows: HostArray, first: int, descending: bool) -> Places:
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
        return _by_partition(row, first, descending)
    values = row[found]
    order = last_first([values]) if descending else in_order([values])
    chosen: Places = found[order[:first]]
    return chosen


def _least_of_near(rows: HostArray) -> int | None:
    """The least of integers that are so near to each other that their differences and places fit into one number."""
    if rows.dtype.kind not in "iu" or rows.size == 0:
        return None
    least, most = int(rows.min()), int(rows.max())
    return least if most - least < 1 << 63 - _place_bits(rows) else None


def _place_bits(rows: HostArray) -> int:
    return (rows.shape[-1] - 1).bit_length()


def _packed(rows: HostArray, first: int, descending: bool, least: int | None) -> Places:
    """`least`: of keys of eight bytes."""
    length, bits = rows.shape[-1], _place_bits(rows)
    every, found = rows.reshape(-1, length), np.empty((rows.size // length, first), np.int64)
    ends, step = np.arange(length, dtype=np.int64), max(1, AT_ONCE // length)
    if descending:
        ends = ends[::-1].copy()  # of equal keys the earlier are greater
    for at in range(0, len(every), step):
        keys = every[at : at + step]
        numbers = _ordered(keys) if least is None else np.subtract(keys, least).astype(np.int64)
        numbers <<= bits
        numbers |= ends
        place = length - first if descending else first - 1
        if first < length:
            numbers.partition(place, -1)
        wanted = numbers[:, place:] if descending else numbers[:, :first]
        wanted.sort(-1)
        wanted &= (1 << bits) - 1
        found[at : at + step] = length - 1 - wanted[:, ::-1] if descending else wanted
    return found.reshape(*rows.shape[:-1], first)


def _ordered(keys: HostArray) -> Places:
    """Integers of up to 32 bits, as i64, in the order of the keys: both zeros are one, and so are all NaNs, the greatest."""
    if keys.dtype.kind != "f":
        return keys.astype(np.int64)
    bits = keys.astype(np.float32).view(np.int32)
    np.copyto(bits, 0, where=bits == np.iinfo(np.int32).min)  # to add 0.0 would warn of signalling NaNs
    order_bits(bits, np.isnan(keys))
    return bits.astype(np.int64)


def _by_partition(rows: HostArray, first: int, descending: bool) -> Places:
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
        order = last_first([several]) if descending else in_order([several])
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
