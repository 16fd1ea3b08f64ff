"""What is made once per process: by one thread, whoever asks meanwhile; and again if it could not be made."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from accel.support.forks import FORKS, Once, calmly


def test_threads_that_ask_at_once_are_given_the_same() -> None:
    made: list[object] = []

    def make() -> object:
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    once, start = Once(make), threading.Barrier(4)

    def asked() -> object:
        start.wait()
        return once()

    with ThreadPoolExecutor(4) as threads:
        found = [each.result() for each in [threads.submit(asked) for _ in range(4)]]
    assert len(made) == 1
    assert all(each is made[0] for each in (*found, once()))


def test_what_could_not_be_made_is_made_when_it_is_asked_for_again() -> None:
    tries: list[int] = []

    def make() -> int:
        tries.append(1)
        if len(tries) < 3:
            raise OSError("not yet")
        return 7

    once = Once(make)
    for _ in range(2):
        with pytest.raises(OSError, match="not yet"):
            once()
    assert (once(), once(), len(tries)) == (7, 7, 3)


def test_who_holds_the_lock_makes_it_itself() -> None:
    here = threading.get_ident()
    with FORKS.lock:
        assert calmly(threading.get_ident) == here
        assert Once(threading.get_ident)() == here
    assert calmly(threading.get_ident) != here
    assert not FORKS.is_mine()
