"""The frame of a selection, and how many elements it keeps: for who fills it, and for the text that reads it."""

from __future__ import annotations

from enum import IntEnum

from accel.backends.llvm.text.words import FAILED

MOST = 32
"""Elements that are kept at most."""


class Word(IntEnum):
    """What stands in which word of a frame.

    STOPPED: whether the user has interrupted (`FAILED` of other frames). SOURCE: the rows. RESULT: where places go, i64, in
    rows as long as those. COUNT: of a row's elements. FIRST: how many are wanted, at least one and at most COUNT. CHUNK: rows
    that a thread takes at once.
    """

    STOPPED = FAILED
    THREADS = 1
    ROWS = 2
    SOURCE = 3
    RESULT = 4
    COUNT = 5
    FIRST = 6
    CHUNK = 7
