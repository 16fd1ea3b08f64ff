"""Where the first few elements of each row stand: rows are read once, and nothing else is made.

In: one array, whose rows are adjacent. Out: places as i64, at the beginning of each row of the result.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from functools import partial
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

from accel.ast.tree.types import ScalarType
from accel.backends.first_places import PACKED_BYTES
from accel.backends.llvm.machine.kept_objects import kept_object
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.sorting.selection_frame import MOST, Word
from accel.backends.llvm.threads.pool import forked, pool
from accel.backends.sorting import are_few
from accel.support.forks import Once
from accel.support.forks import load as load_module

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray

PASSED, SHORTEST = 25, 75
"""Elements of a row, for each that is asked for and besides, that one thread passes while keys of few bytes are packed and
partitioned."""

CHUNK = 1 << 15
"""Elements of rows that a thread takes at once."""


class Selection:
    """The function for one type of elements and one order, loaded."""

    def __init__(self, kind: ScalarType, descending: bool) -> None:
        code = kept_object(f"selection {kind} {descending}", lambda: _text(kind, descending), quick=False)
        self._library = load([code], ["select"], pool().symbols)
        self._select = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(self._library.addresses["select"])

    def run(self, words: Mapping[Word, int]) -> None:
        """Runs it. Raises what a signal handler raises."""
        if self._select(struct.pack(f"{len(Word)}q", *(words[word] for word in Word))):
            raise forked()


def _text(kind: ScalarType, descending: bool) -> str:
    load_module("accel.backends.llvm.sorting.selection_text")
    from accel.backends.llvm.sorting.selection_text import selection_text  # only where it is not on disk

    return selection_text(kind, descending)


_SELECTION: Mapping[tuple[ScalarType, bool], Once[Selection]] = MappingProxyType(
    {(kind, down): Once(partial(Selection, kind, down)) for kind in ScalarType for down in (False, True)}
)


def suits(shape: tuple[int, ...], kind: ScalarType, first: int | None, threads: int) -> bool:
    """Whether so few elements of each row are asked for, and rows are not so short that the host finds them in less time."""
    if first is None or first > MOST or not are_few(shape, first):
        return False
    return kind.bytes > PACKED_BYTES or shape[-1] * threads >= PASSED * first + SHORTEST


def select_into(
    result: HostArray, source: HostArray, kind: ScalarType, descending: bool, first: int, threads: int
) -> None:
    """Fill the first places of each row of `result`. Rows suit this (`suits`), and follow each other in memory."""
    length = result.shape[-1]
    words = {
        Word.STOPPED: 0,
        Word.THREADS: threads,
        Word.ROWS: prod(result.shape[:-1]),
        Word.SOURCE: source.ctypes.data,
        Word.RESULT: result.ctypes.data,
        Word.COUNT: length,
        Word.FIRST: first,
        Word.CHUNK: max(1, CHUNK // length),
    }
    _SELECTION[kind, descending]().run(words)
