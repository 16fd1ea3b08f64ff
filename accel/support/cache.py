"""Results that a process remembers, found again by what they were made of. Bounded, and safe with threads.

There is no lock to be held by a thread that a fork leaves behind, or by code that a signal handler interrupts: every change is
one operation of a dictionary, which Python does whole or not at all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from typing import Generic, TypeVar

from accel.support.forks import FORKS, GLANCE

K = TypeVar("K")
V = TypeVar("V")


class _Entry(Generic[V]):
    __slots__ = ("used", "value")

    def __init__(self, value: V, used: int) -> None:
        self.value = value
        self.used = used


class _Thread(threading.local):
    """What this thread does."""

    making: int = 0
    """How many values it is making or waiting for, one within the other."""


_THREAD = _Thread()


class Cache(Generic[K, V]):
    """At most `capacity` values, the least recently used forgotten first. Each key is made once, also with threads.

    But a thread that is making a value already, or holds what forks wait for, never waits for another thread's: that one may be
    waiting for this one, if both were interrupted by handlers or finalisers that run programs. It makes the value, too.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: dict[K, _Entry[V]] = {}
        self._making: dict[tuple[int, K], threading.Event] = {}
        self._clock = count()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of `key`, made now if it is not there. What `make` raises is raised, and nothing is kept."""
        found = self._entry(key)
        if found is not None:
            return found.value
        alone = not _THREAD.making and not FORKS.is_mine()
        _THREAD.making += 1
        try:
            return self._in_turn(key, make) if alone else self._made(key, make)
        finally:
            _THREAD.making -= 1

    def _in_turn(self, key: K, make: Callable[[], V]) -> V:
        while True:
            # In a forked child the thread that makes a value may be gone: those of another generation count for nothing.
            turn, mine = (FORKS.generation, key), threading.Event()
            try:
                current = self._making.setdefault(turn, mine)
                found = self._entry(key)
                if found is not None:
                    return found.value
                if current is mine:
                    return self._made(key, make)
            finally:
                if self._making.get(turn) is mine:
                    self._making.pop(turn, None)
                    mine.set()
            while self._making.get(turn) is current and FORKS.generation == turn[0]:
                current.wait(GLANCE)

    def _made(self, key: K, make: Callable[[], V]) -> V:
        value = make()
        self.keep(key, value)
        return value

    def _entry(self, key: K) -> _Entry[V] | None:
        found = self._values.get(key)
        if found is not None:
            found.used = next(self._clock)
        return found

    def find(self, key: K) -> V | None:
        """The value of `key`, if it is there."""
        found = self._entry(key)
        return None if found is None else found.value

    def first(self, key: K, make: Callable[[], V]) -> V:
        """The same value of `key` for all. Threads that come together may each make one; all get what was there first."""
        return (self._entry(key) or self._values.setdefault(key, _Entry(make(), next(self._clock)))).value

    def keep(self, key: K, value: V) -> None:
        """Remember a value that was made elsewhere."""
        self._values[key] = _Entry(value, next(self._clock))
        if len(self._values) > self._capacity:
            # An eighth at once, so that sorting costs little for each value.
            oldest = sorted(self._values.copy().items(), key=lambda item: item[1].used)
            for forgotten, _ in oldest[: max(len(oldest) - self._capacity, self._capacity // 8)]:
                self._values.pop(forgotten, None)

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
