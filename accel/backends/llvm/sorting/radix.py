"""A radix sort of long rows: their elements in order, or where these stand.

In: one array, for places also more, from the first that decides to the last. Out: elements, or places as i64. NumPy has such a
sort for 16 bits only, and on one thread. The numbers of a pass are added up by NumPy, between two steps of machine code.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.kept_objects import kept_object
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.sorting.radix_frame import STEPS, VALUES, Word, digits
from accel.backends.llvm.threads.pool import forked, pool
from accel.support.forks import Once
from accel.support.forks import load as load_module

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray

SHORTEST = 2048
"""Shorter rows are NumPy's: the tables of a pass would take as long as its elements."""
CHUNK = 1 << 16
"""Elements that are worth a thread."""

Take: TypeAlias = "Callable[[ScalarType, tuple[int, ...]], HostArray]"
"""Gives an array with any contents."""


class Radix:
    """The steps for one type of elements, loaded."""

    def __init__(self, kind: ScalarType, places: bool) -> None:
        code = kept_object(f"radix {kind} {places}", lambda: _text(kind, places), quick=False)
        self._library = load([code], STEPS, pool().symbols)
        prototype = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)
        self._steps: Mapping[str, Callable[[bytes], int]] = {
            name: prototype(self._library.addresses[name]) for name in STEPS
        }

    def run(self, step: str, words: Mapping[Word, int]) -> None:
        """Runs a step. Raises what a signal handler raises."""
        if self._steps[step](struct.pack(f"{len(Word)}q", *(words.get(word, 0) for word in Word))):
            raise forked()


def _text(kind: ScalarType, places: bool) -> str:
    load_module("accel.backends.llvm.sorting.radix_text")
    from accel.backends.llvm.sorting.radix_text import radix_text  # only where it is not on disk

    return radix_text(kind, places)


_RADIX: Mapping[tuple[ScalarType, bool], Once[Radix]] = MappingProxyType(
    {(kind, places): Once(partial(Radix, kind, places)) for kind in ScalarType for places in (False, True)}
)


def suits(shape: tuple[int, ...]) -> bool:
    """Whether rows are long enough, and their places have 32 bits."""
    return SHORTEST <= shape[-1] < 1 << 32 and 0 not in shape


class Rows:
    """Memory for sorting rows of some length, one after the other, on some threads."""

    def __init__(self, length: int, widest: int, places: bool, threads: int, take: Take) -> None:
        """`widest`: the bytes of the largest key. `places`: whether these are asked for."""
        self._length = length
        self._chunks = max(1, min(threads, length // CHUNK))
        self._keys = [take(ScalarType.U8, (length * widest,)) for _ in range(2)]
        self._places = [take(ScalarType.U32, (length,)) for _ in range(2 if places else 0)]

    def places_into(self, result: HostArray, row: Sequence[tuple[HostArray, ScalarType]], descending: bool) -> None:
        """Where the elements of a row stand, in order. Sorts by the last array first."""
        given = False
        for source, kind in reversed(row):
            radix = _RADIX[kind, True]()
            own = {Word.SOURCE: _address(source), Word.GIVEN: int(given), Word.FLIP: -int(descending)}
            self._sort(radix, kind, own)
            given = True
        result[:] = self._places[0]

    def elements_into(self, result: HostArray, source: HostArray, kind: ScalarType) -> None:
        """The elements of a row, in order."""
        radix = _RADIX[kind, False]()
        self._sort(radix, kind, {Word.SOURCE: _address(source)})
        radix.run("decode", self._words(_address(result)))
        if kind.is_float:
            # Where there are zeros of both signs, these keep their order.
            zeros = source[source == 0]
            if np.signbit(zeros).any():
                result[result == 0] = zeros

    def _sort(self, radix: Radix, kind: ScalarType, own: Mapping[Word, int]) -> None:
        """From the first buffers to the first buffers."""
        tables = np.empty((self._chunks, digits(kind), VALUES), np.uint32)
        more = {**own, Word.TABLES: _address(tables)}
        radix.run("encode", self._words(0) | more)
        moving = [digit for digit in range(digits(kind)) if tables[:, digit].sum(0).max() < self._length]
        for digit in moving:
            words = self._words(0) | more | {Word.DIGIT: digit}
            if digit != moving[0]:
                radix.run("count", words)
            _add_up(tables[:, digit])
            radix.run("move", words)
            self._keys.reverse()
            self._places.reverse()

    def _words(self, source: int) -> dict[Word, int]:
        words = {
            Word.THREADS: self._chunks,
            Word.CHUNKS: self._chunks,
            Word.SOURCE: source,
            Word.KEYS: _address(self._keys[0]),
            Word.NEXT_KEYS: _address(self._keys[1]),
            Word.COUNT: self._length,
            Word.CHUNK: -(-self._length // self._chunks),
        }
        if self._places:
            words |= {Word.PLACES: _address(self._places[0]), Word.NEXT_PLACES: _address(self._places[1])}
        return words


def _address(array: HostArray) -> int:
    return array.ctypes.data


def _add_up(table: np.ndarray[tuple[int, int], np.dtype[np.uint32]]) -> None:
    """From how often each chunk has each value to where the first of them goes: by value, then by chunk."""
    counts = table.T.ravel()
    table[:] = (np.cumsum(counts, dtype=np.uint32) - counts).reshape(VALUES, -1).T


def radix_sort(
    result: HostArray,
    keys: Sequence[tuple[HostArray, ScalarType]],
    places: bool,
    descending: bool,
    threads: int,
    take: Take,
) -> None:
    """Fill `result` with the rows of the one array of `keys` in order, or with the places of their elements.

    Rows suit this sort (`suits`), and have adjacent elements. `descending` orders are those of places only.
    """
    rows = Rows(result.shape[-1], max(kind.bytes for _, kind in keys), places, threads, take)
    for outer in np.ndindex(result.shape[:-1]):
        if places:
            rows.places_into(result[outer], [(key[outer], kind) for key, kind in keys], descending)
        else:
            ((key, kind),) = keys
            rows.elements_into(result[outer], key[outer], kind)
