"""The frame of a radix sort's steps, and how many values digits have: for who fills it, and for the text that reads it."""

from __future__ import annotations

from enum import IntEnum

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.text.words import FAILED

WIDEST = 11
"""Bits of the widest digit: the first cache holds a table of its values, and keys of 22 bits take two passes."""

VALUES = 1 << WIDEST
"""Of that digit."""

PART = 32
"""Bits of a key that are moved together with a place, as one word of 64 bits."""


class Word(IntEnum):
    """What stands in which word of a frame.

    STOPPED: whether the user has interrupted (`FAILED` of other frames). SOURCE: the elements of the row. WORDS: what is moved,
    in its order so far. NEXT: where it goes: words, or at last elements or places. TABLES: of each chunk, the table of its
    digit, or the bounds of its keys, or how much `mend` moved. COUNT: of elements. CHUNK: how many of them a chunk has. BASE:
    what is taken away from words. SHIFT, MASK: the bits behind their digit then, and those of the digit. GIVEN: 1 if words
    have places already, in whose order the row is read. FLIP: -1 if keys descend. LEAST, BEHIND: what is taken away from keys,
    and how many of their bits are left out then, before they are words.
    """

    STOPPED = FAILED
    THREADS = 1
    CHUNKS = 2
    SOURCE = 3
    WORDS = 4
    NEXT = 5
    TABLES = 6
    COUNT = 7
    CHUNK = 8
    BASE = 9
    SHIFT = 10
    MASK = 11
    GIVEN = 12
    FLIP = 13
    LEAST = 14
    BEHIND = 15


class Bound(IntEnum):
    """What `encode` finds of the keys of a chunk: the least, the greatest, the bits that one has, and those that all have."""

    LEAST = 0
    MOST = 1
    SOME = 2
    EVERY = 3


STEPS = ("encode", "count", "move", "finish")
"""The functions of a module, each from a frame to 0, or something else if it was interrupted."""

MEND = "mend"
"""One more, of modules for places of keys of more bits than `PART`."""


def steps(kind: ScalarType, places: bool) -> tuple[str, ...]:
    """Those of the module for such keys."""
    return (*STEPS, MEND) if places and kind.bits > PART else STEPS
