"""A worker that wakes up on the processor of who woke it goes to another one, and may come back."""

from __future__ import annotations

import ctypes
import os
import sys

import pytest

from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES, host
from accel.backends.llvm.threads.apart_text import MASK_BYTES, apart_text

CPU = ctypes.CFUNCTYPE(ctypes.c_int32)
GET = SET = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p)


def asked(here: int, allowed: int, woken_on: int, refused: bool = False) -> list[int]:
    """Where a thread asks to run: sets of processors, as bits. It is on `here`, and may use those that are `allowed`."""
    found: list[int] = []

    def get(thread: int, size: int, mask: int) -> int:
        ctypes.memmove(mask, allowed.to_bytes(MASK_BYTES, "little"), size)
        return 0

    def set_(thread: int, size: int, mask: int) -> int:
        wanted = int.from_bytes(ctypes.string_at(mask, size), "little")
        found.append(wanted)
        return -1 if refused or wanted == 0 else 0

    calls = {"sched_getcpu": CPU(lambda: here), "sched_getaffinity": GET(get), "sched_setaffinity": SET(set_)}
    imports = {name: ctypes.cast(call, ctypes.c_void_p).value or 0 for name, call in calls.items()}
    library = load([host().compile(apart_text() + HOST_ATTRIBUTES)], ("accel_step_aside",), imports)
    ctypes.CFUNCTYPE(None, ctypes.c_int32)(library.addresses["accel_step_aside"])(woken_on)
    return found


@pytest.mark.parametrize("here", [0, 3, 70])
def test_it_goes_elsewhere_and_may_come_back(here: int) -> None:
    allowed = 1 << here | 0b10110000 | 1 << 900
    assert asked(here, allowed, woken_on=here) == [allowed & ~(1 << here), allowed]


def test_it_stays_where_nobody_else_is() -> None:
    assert asked(1, 0b11, woken_on=0) == []
    assert asked(-1, 0b11, woken_on=-1) == []
    assert asked(5000, 0b11, woken_on=5000) == []


def test_it_stays_if_it_may_not_go() -> None:
    assert asked(1, 0b10, woken_on=1) == [0]
    assert asked(1, 0b111, woken_on=1, refused=True) == [0b101]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked")
def test_what_a_thread_may_use_is_the_same_afterwards() -> None:
    library = load([host().compile(apart_text() + HOST_ATTRIBUTES)], ("accel_step_aside",), {})
    step_aside = ctypes.CFUNCTYPE(None, ctypes.c_int32)(library.addresses["accel_step_aside"])
    before = os.sched_getaffinity(0)
    for _ in range(20):
        step_aside(ctypes.CDLL(None).sched_getcpu())
        assert os.sched_getaffinity(0) == before
