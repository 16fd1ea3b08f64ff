"""The cache of compiled programs: bounded, and each key made once."""

from __future__ import annotations

import threading
import time

import pytest

from accel.support.cache import Cache


def test_least_recently_used_is_forgotten_first() -> None:
    cache: Cache[str, int] = Cache(2)
    made: list[str] = []

    def make(key: str) -> int:
        def value() -> int:
            made.append(key)
            return len(made)

        return cache.get(key, value)

    assert [make("a"), make("b"), make("a"), make("c"), make("a"), make("b")] == [1, 2, 1, 3, 1, 4]
    assert made == ["a", "b", "c", "b"]
    assert len(cache) == 2


def test_an_error_is_not_kept() -> None:
    cache: Cache[str, int] = Cache(2)

    def fail() -> int:
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        cache.get("a", fail)
    assert cache.get("a", lambda: 7) == 7


def test_threads_make_a_value_once() -> None:
    cache: Cache[str, int] = Cache(2)
    made: list[int] = []

    def make() -> int:
        time.sleep(0.02)
        made.append(1)
        return len(made)

    results: list[int] = []
    threads = [threading.Thread(target=lambda: results.append(cache.get("a", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1] * 8
