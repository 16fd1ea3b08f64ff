"""The frame of a radix sort's steps, and how many digits keys have: for who fills it, and for the text that reads it."""

from __future__ import annotations

from enum import IntEnum

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.text.words import FAILED

VALUES = 256
"""Of a digit."""


class Word(IntEnum):
    """What stands in which word of a frame.

    STOPPED: whether the user has interrupted (`FAILED` of other frames). SOURCE: the elements of the row, or where the last
    step writes them. KEYS, PLACES: what a step reads, or the first step makes. NEXT_KEYS, NEXT_PLACES: what a move makes.
    TABLES: of each chunk, the tables of its digits. COUNT: of elements. CHUNK: how many of them a chunk has. DIGIT: which one
    is moved by. GIVEN: 1 if there are places already, in whose order the row is read. FLIP: -1 if keys descend.
    """

    STOPPED = FAILED
    THREADS = 1
    CHUNKS = 2
    SOURCE = 3
    KEYS = 4
    PLACES = 5
    NEXT_KEYS = 6
    NEXT_PLACES = 7
    TABLES = 8
    COUNT = 9
    CHUNK = 10
    DIGIT = 11
    GIVEN = 12
    FLIP = 13


STEPS = ("encode", "count", "move", "decode")
"""The functions of a module, each from a frame to 0, or something else if it was interrupted."""


def digits(kind: ScalarType) -> int:
    """Of a key."""
    return kind.bytes
