"""Short rows in order, a row in each lane: their elements, or where these stand.

In: one array, whose rows are adjacent. Out: elements, or places as i64.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from functools import partial
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.kept_objects import kept_object
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.sorting.networks_frame import MOST, VECTOR_BYTES, Word, lanes
from accel.backends.llvm.threads.pool import forked, pool
from accel.support.forks import Once
from accel.support.forks import load as load_module

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray

CHUNK = 1 << 13
"""Comparisons of groups of rows that a thread takes at once: some ten microseconds."""

GROUPS = 4
"""Fewer groups of rows are not worth the call."""


class Network:
    """The function for one type of elements, loaded."""

    def __init__(self, kind: ScalarType, places: bool) -> None:
        code = kept_object(f"network {kind} {places}", lambda: _text(kind, places), quick=False)
        self._library = load([code], ["network"], pool().symbols)
        self._sort = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self._library.addresses["network"])

    def run(self, words: Mapping[Word, int]) -> bool:
        """Runs it; whether it has met a -0.0 among elements. Raises what a signal handler raises."""
        frame = np.array([words.get(word, 0) for word in Word], np.int64)
        if self._sort(frame.ctypes.data):
            raise forked()
        return bool(frame[Word.ZEROS])


def _text(kind: ScalarType, places: bool) -> str:
    load_module("accel.backends.llvm.sorting.networks_text")
    from accel.backends.llvm.sorting.networks_text import network_text  # only where it is not on disk

    return network_text(kind, places)


_NETWORKS: Mapping[tuple[ScalarType, bool], Once[Network]] = MappingProxyType(
    {(kind, places): Once(partial(Network, kind, places)) for kind in ScalarType for places in (False, True)}
)


def comparisons(length: int) -> Iterator[tuple[int, int]]:
    """Which two of so many elements are compared next; the first of them comes before the other afterwards."""
    top = 1 << max(0, (length - 1).bit_length() - 1)
    step = top
    while step:
        begin, rest, distance = top, 0, step
        while True:
            yield from ((i, i + distance) for i in range(length - distance) if i & step == rest)
            if begin == step:
                break
            distance, begin, rest = begin - step, begin // 2, step
        step //= 2


def _table(length: int) -> HostArray:
    """Of `comparisons`, as `networks_text.py` reads it."""
    return np.array(list(comparisons(length)), np.int32) * VECTOR_BYTES


_TABLES: Mapping[int, Once[HostArray]] = MappingProxyType(
    {length: Once(partial(_table, length)) for length in range(2, MOST + 1)}
)


def suits(shape: tuple[int, ...], kind: ScalarType, places: bool) -> bool:
    """Whether rows are short, and enough to fill some groups."""
    return 2 <= shape[-1] <= MOST and prod(shape[:-1]) >= GROUPS * lanes(kind, places)


def network_sort(
    result: HostArray, source: HostArray, kind: ScalarType, places: bool, descending: bool, first: int, threads: int
) -> None:
    """Fill the first places of each row of `result`. Rows suit this (`suits`), and follow each other in memory."""
    length, rows = source.shape[-1], prod(source.shape[:-1])
    table = _TABLES[length]()
    words = {
        Word.THREADS: threads,
        Word.ROWS: rows,
        Word.COUNT: length,
        Word.SOURCE: source.ctypes.data,
        Word.RESULT: result.ctypes.data,
        Word.FIRST: first,
        Word.FLIP: -int(descending),
        Word.TABLE: table.ctypes.data,
        Word.COMPARISONS: len(table),
        Word.NANOSECONDS: 2 * len(table) * rows // lanes(kind, places),
        Word.CHUNK: max(1, CHUNK // len(table)),
    }
    if _NETWORKS[kind, places]().run(words):
        # Zeros of both signs keep their order; rows have as many after as before.
        result[result == 0] = source[source == 0]
