"""A radix sort of long rows: their elements in order, or where these stand.

In: one array, for places also more, from the first that decides to the last. Out: elements, or places as i64. NumPy has such a
sort for 16 bits only, and on one thread. Only bits in which keys differ are sorted by: those between the lowest that not all
have alike, and the highest of the difference of the greatest and the least. The numbers of a pass are added up by NumPy,
between two steps of machine code.
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
from accel.backends.llvm.sorting.radix_frame import MEND, PART, VALUES, WIDEST, Bound, Word, steps
from accel.backends.llvm.threads.pool import forked, pool
from accel.support.dataclass import frozen
from accel.support.forks import Once
from accel.support.forks import load as load_module

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray

SHORTEST = 2048
"""Shorter rows are NumPy's: the tables of a pass would take as long as its elements."""
CHUNK = 1 << 16
"""Elements that are worth a thread."""
SHORTER = 4
"""Bits that a digit has less than the number of elements, at least."""

Take: TypeAlias = "Callable[[ScalarType, tuple[int, ...]], HostArray]"
"""Gives an array with any contents."""

Table: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint32]]
"""For each chunk what stands for each value of a digit."""


class Radix:
    """The steps for one type of elements, loaded."""

    def __init__(self, kind: ScalarType, places: bool) -> None:
        code = kept_object(f"radix {kind} {places}", lambda: _text(kind, places), quick=False)
        names = steps(kind, places)
        self._library = load([code], names, pool().symbols)
        prototype = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)
        self._steps: Mapping[str, Callable[[bytes], int]] = {
            name: prototype(self._library.addresses[name]) for name in names
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


@frozen
class Bounds:
    """Of the keys of a row: what is taken away from all, and the bits that then may differ."""

    least: int
    bits: int


class Rows:
    """Memory for sorting rows of some length, one after the other, on some threads."""

    def __init__(self, length: int, bytes_: int, threads: int, take: Take) -> None:
        """`bytes_`: of a word."""
        self._length = length
        self._chunks = max(1, min(threads, length // CHUNK))
        self._chunk = -(-length // self._chunks)
        self._buffers = [take(ScalarType.U8, (length * bytes_,)) for _ in range(2)]
        self._table = np.empty((self._chunks, VALUES), np.uint32)
        # Tables of short rows are short: adding them up would take as long as the elements.
        self._widest = min(WIDEST, length.bit_length() - SHORTER)

    def places_into(self, result: HostArray, row: Sequence[tuple[HostArray, ScalarType]], descending: bool) -> None:
        """Where the elements of a row stand, in order. Sorts by the last array first."""
        last = len(row) - 1
        for number, (source, kind) in enumerate(reversed(row)):
            target = result if number == last else None
            own = {Word.SOURCE: _address(source), Word.FLIP: -int(descending), Word.GIVEN: int(number > 0)}
            self._by_key(_RADIX[kind, True](), own, target)

    def _by_key(self, radix: Radix, own: Mapping[Word, int], result: HostArray | None) -> None:
        """Places, into the result or the first buffer, by the bits of a key that decide first, as many as words have room for.

        Where these are equal whole keys are compared. If that is much work, both halves of the keys are sorted by.
        """
        bounds = self._encode(radix, own)
        if bounds.bits < 1 << PART:
            base = bounds.least % (1 << PART) << PART
            self._move(radix, base, self._digits(bounds.bits, PART), result)
            return
        behind = max(_lowest(bounds.bits), bounds.bits.bit_length() - PART)
        upper = bounds.bits >> behind
        if upper << behind == bounds.bits:
            self._by_part(radix, own, bounds, behind, result)
            return
        if result is not None and self._length < 2 << upper.bit_count():
            self._by_part(radix, own, bounds, behind, None)
            if self._mend(radix, own, result):
                return
            own = {**own, Word.GIVEN: 1}
        self._by_part(radix, own, bounds, 0, None)
        self._by_part(radix, {**own, Word.GIVEN: 1}, bounds, PART, result)

    def _by_part(
        self, radix: Radix, own: Mapping[Word, int], bounds: Bounds, behind: int, result: HostArray | None
    ) -> None:
        """By `PART` bits of keys, less those behind them."""
        self._encode(radix, {**own, Word.LEAST: _signed(bounds.least), Word.BEHIND: behind})
        self._move(radix, 0, self._digits(bounds.bits >> behind & (1 << PART) - 1, PART), result)

    def _mend(self, radix: Radix, own: Mapping[Word, int], result: HostArray) -> bool:
        """Into the result, where words with equal parts of keys are put in order by whole keys. False if that is much work."""
        radix.run(MEND, {**self._words(), **own, Word.NEXT: _address(result)})
        moved = self._table.view(np.uint64)[:, 0]
        return int(moved.max()) <= self._chunk

    def elements_into(self, result: HostArray, source: HostArray, kind: ScalarType) -> None:
        """The elements of a row, in order."""
        radix = _RADIX[kind, False]()
        bounds = self._encode(radix, {Word.SOURCE: _address(source)})
        self._move(radix, bounds.least, self._digits(bounds.bits, 0), result)
        if kind.is_float:
            # Where there are zeros of both signs, these keep their order.
            zeros = source[source == 0]
            if np.signbit(zeros).any():
                result[result == 0] = zeros

    def _encode(self, radix: Radix, own: Mapping[Word, int]) -> Bounds:
        """Fills the first buffer."""
        radix.run("encode", {**self._words(), **own})
        found = self._table.view(np.uint64)[:, : len(Bound)]
        least, most = int(found[:, Bound.LEAST].min()), int(found[:, Bound.MOST].max())
        some, every = np.bitwise_or.reduce(found[:, Bound.SOME]), np.bitwise_and.reduce(found[:, Bound.EVERY])
        differing = int(some ^ every)
        distances = (1 << (most - least).bit_length()) - (1 << _lowest(differing))
        if distances.bit_count() < differing.bit_count():
            return Bounds(least, distances)
        return Bounds(0, differing)

    def _digits(self, bits: int, behind: int) -> list[tuple[int, int]]:
        """Where digits that have all these bits, behind which there are others, begin, and how wide they are: at least one."""
        digits: list[tuple[int, int]] = []
        while bits or not digits:
            lowest = _lowest(bits)
            taken = bits >> lowest & (1 << self._widest) - 1
            digits.append((behind + lowest, max(1, taken.bit_length())))
            bits -= taken << lowest
        return digits

    def _move(self, radix: Radix, base: int, digits: Sequence[tuple[int, int]], result: HostArray | None) -> None:
        """Into the order of digits, from the first buffer to the result, or to the first buffer."""
        for number, (shift, width) in enumerate(digits):
            words = self._words() | {Word.BASE: _signed(base), Word.SHIFT: shift, Word.MASK: (1 << width) - 1}
            radix.run("count", words)
            _add_up(self._table[:, : 1 << width])
            if result is not None and number == len(digits) - 1:
                radix.run("finish", words | {Word.NEXT: _address(result)})
            else:
                radix.run("move", words)
                self._buffers.reverse()

    def _words(self) -> dict[Word, int]:
        return {
            Word.THREADS: self._chunks,
            Word.CHUNKS: self._chunks,
            Word.WORDS: _address(self._buffers[0]),
            Word.NEXT: _address(self._buffers[1]),
            Word.TABLES: _address(self._table),
            Word.COUNT: self._length,
            Word.CHUNK: self._chunk,
        }


def _address(array: HostArray) -> int:
    return array.ctypes.data


def _lowest(bits: int) -> int:
    """The number of the lowest one that is set; 0 of none."""
    return max(0, (bits & -bits).bit_length() - 1)


def _signed(word: int) -> int:
    """The i64 of the same bits."""
    return word - (1 << 64) if word >> 63 else word


def _add_up(table: Table) -> None:
    """From how often each chunk has each value to where the first of them goes: by value, then by chunk."""
    counts = table.T.ravel()
    table[:] = (np.cumsum(counts, dtype=np.uint32) - counts).reshape(table.shape[::-1]).T


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
    word = ScalarType.I64 if places else keys[0][1]
    rows = Rows(result.shape[-1], word.bytes, threads, take)
    for outer in np.ndindex(result.shape[:-1]):
        if places:
            rows.places_into(result[outer], [(key[outer], kind) for key, kind in keys], descending)
        else:
            ((key, kind),) = keys
            rows.elements_into(result[outer], key[outer], kind)
