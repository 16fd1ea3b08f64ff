"""The sizes that buffers have; lots: small buffers that are taken at once, and stay with who took them; those that leave."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import lru_cache
from itertools import count
from sys import getrefcount
from typing import Generic, Protocol, TypeVar

LEAST = 64
"""Bytes of the smallest buffer: OpenCL has no empty ones, and atomics on small elements touch whole words."""

LOT = 1 << 16
"""Bytes of a lot: to hand out as many buffers one by one takes longer than kernels of so few elements."""

LOTS = 256
"""Those that stay with their owners, who may never come again."""


@lru_cache(maxsize=1024)
def size_class(size: int) -> int:
    """The least of the sizes that buffers have: steps of an eighth, so that similar sizes share buffers."""
    size = max(size, LEAST)
    step = max(1 << max(size.bit_length() - 4, 0), LEAST)
    return -(-size // step) * step


class Sized(Protocol):
    """A buffer in use, which comes back to its memory when nothing refers to it."""

    size: int


B = TypeVar("B", bound=Sized)


class Lots(Generic[B]):
    """Those of one memory that nobody works with. Of some a buffer may still be used: it is another lot's then no more.

    Safe to use from several threads: every change is one operation of a dictionary, and what is only in a lot nobody else
    can come to refer to.
    """

    def __init__(self) -> None:
        self._resting: dict[object, list[B]] = {}
        self._alone = next(map(getrefcount, [object()]))

    def take(self, owner: object, fresh: Callable[[int], B]) -> list[B] | None:
        """The owner's, if it is still there, with `fresh` buffers of the same sizes for those that something else refers to."""
        found = self._resting.pop(owner, None)
        if found is None or (counts := list(map(getrefcount, found))).count(self._alone) == len(found):
            return found
        return [
            found[place] if count == self._alone else fresh(found[place].size) for place, count in enumerate(counts)
        ]

    def rest(self, owner: object, lot: list[B]) -> None:
        """Have it stay, until the owner takes it again or there are too many."""
        self._resting[owner] = lot
        if len(self._resting) > LOTS:
            with contextlib.suppress(LookupError, RuntimeError, StopIteration):  # another thread was quicker
                del self._resting[next(iter(self._resting))]

    @property
    def unused(self) -> int:
        """Bytes of buffers in lots that nothing else refers to."""
        lots = list(self._resting.copy().values())
        counted = ((held.size, count) for lot in lots for held, count in zip(lot, map(getrefcount, lot), strict=True))
        return sum(size for size, count in counted if count <= self._alone + 1)

    def clear(self) -> None:
        """Let go of them."""
        self._resting = {}


class Leaving:
    """What is let go of once the device has done what was enqueued before. Safe to use from several threads."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[int, object]] = {}
        self._numbers = count()

    def add(self, last: int, what: object) -> None:
        """`last`: the number of the last piece of work that was enqueued."""
        self._waiting[next(self._numbers)] = last, what

    def done(self, last: int) -> None:
        """All pieces of work up to this one are done. What waits longer is never taken out: Ctrl-C would lose it."""
        for number, (until, _) in self._waiting.copy().items():
            if until <= last:
                self._waiting.pop(number, None)
