"""Rows in order, on the host: by radix, by selection, by networks, or by NumPy.

In: keys, and what is asked for of them. Out: their elements in order, or places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from accel.backends.llvm.machine.buffers import buffers
from accel.backends.llvm.sorting.order import Order
from accel.backends.sorting import are_few, register_sorts, sort_into, sorts_places
from accel.support.forks import load

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray

REGISTER_SORTS = 3
"""On up to so many threads NumPy's sort in registers, which is on one, is faster than the radix sort. (With AVX2 measured
on one and two.)"""

IN_NETWORKS = 32
"""Elements for each thread of rows up to which a network is as fast as NumPy's sort in registers."""

SMALL = 1024
"""Elements up to which nothing is faster than that NumPy sorts them all."""


def sorted_rows(order: Order, keys: Sequence[HostArray], threads: int) -> HostArray:
    """Long rows by radix, short ones by networks, others by NumPy; so are elements that NumPy sorts in registers, faster than
    these threads do.

    A few first places are selected. Raises `MemoryError`, or NumPy's `ValueError` for more than an address can count.
    """
    for name in ("networks", "radix", "selection"):
        load(f"accel.backends.llvm.sorting.{name}")
    from accel.backends.llvm.sorting import networks, radix, selection  # which import other stages

    given = [np.ascontiguousarray(key) for key in keys]
    shape, kind, first, take = given[0].shape, order.keys[0], order.first, buffers().take
    result = take(order.element, shape)
    in_registers = not order.places and threads <= REGISTER_SORTS and kind.bytes in register_sorts()
    packs = order.places and shape[-1] < radix.CHUNK and sorts_places(given)
    short = len(given) == 1 and (not in_registers or shape[-1] <= IN_NETWORKS * threads)
    if short and networks.suits(shape, kind, order.places):
        wanted = shape[-1] if first is None else min(first, shape[-1])
        networks.network_sort(result, given[0], kind, order.places, order.descending, wanted, threads)
    elif first is not None and selection.suits(shape, kind, first, threads):
        selection.select_into(result, given[0], kind, order.descending, first, threads)
    elif radix.suits(shape) and not (in_registers or packs) and not are_few(shape, first):
        pairs = list(zip(given, order.keys, strict=True))
        radix.radix_sort(result, pairs, order.places, order.descending, threads, take)
    else:
        sort_into(result, given, order.places, order.descending, first)
    return result


def sorter(order: Order, threads: int) -> Callable[..., HostArray | None]:
    """A function of the keys, for compiled calls: it gives None if there is no memory."""

    element, take, places, descending = order.element, buffers().take, order.places, order.descending

    def sort(*keys: HostArray) -> HostArray | None:
        try:
            if keys[0].size > SMALL:
                return sorted_rows(order, keys, threads)
            result = take(element, keys[0].shape)
            sort_into(result, keys, places, descending)
        except (MemoryError, ValueError):
            return None
        return result

    return sort
