"""Joins some things in pairs, so that no chain of instructions is longer than it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def joined(parts: Iterable[T], join: Callable[[T, T], T]) -> T:
    """What some parts come to, one at least. Neighbours join, then what they come to; of an odd number the last one joins what
    the first two come to, so any order must serve unless there is a power of two of them."""
    found = list(parts)
    while len(found) > 1:
        first, second, *others = found
        found = [*others, join(first, second)]
    return found[0]
