"""The frame of a sort of short rows, and how many of these a vector has: for who fills it, and for the text that reads it."""

from __future__ import annotations

from enum import IntEnum

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.text.words import FAILED

MOST = 100
"""Elements of the longest rows: of more there are so many comparisons that what is asked for is found faster in another way."""

VECTOR_BYTES = 64
"""Of keys that stand side by side, and so of what a comparison reads."""


class Word(IntEnum):
    """What stands in which word of a frame.

    STOPPED: whether the user has interrupted (`FAILED` of other frames). ROWS, COUNT: how many there are, and how many elements
    each has. SOURCE, RESULT: where these lie; both in rows as long. FIRST: how many of each row are written. FLIP: -1 if keys
    descend. TABLE: pairs of i32, where in the keys of a group the elements stand that are compared next, in bytes, that which
    comes before the other first. COMPARISONS: how many there are. NANOSECONDS: what all may take. CHUNK: groups of rows that a
    thread takes at once. ZEROS: becomes 1 if there is a -0.0 among elements.
    """

    STOPPED = FAILED
    THREADS = 1
    ROWS = 2
    COUNT = 3
    SOURCE = 4
    RESULT = 5
    FIRST = 6
    FLIP = 7
    TABLE = 8
    COMPARISONS = 9
    NANOSECONDS = 10
    CHUNK = 11
    ZEROS = 12


def key_bytes(kind: ScalarType, places: bool) -> int:
    """Of what is compared, with its place if that is part of it."""
    return 8 if places or kind.bytes == 8 else 4


def lanes(kind: ScalarType, places: bool) -> int:
    """How many rows a group has."""
    return VECTOR_BYTES // key_bytes(kind, places)
