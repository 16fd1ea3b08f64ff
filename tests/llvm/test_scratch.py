"""The memory that launches work in: one piece is kept, of those that are done, and nobody has what another one has."""

from __future__ import annotations

import ctypes
import itertools
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from accel.backends.llvm.threads.pool import pool
from accel.backends.llvm.threads.scratch_text import KEPT

pytestmark = pytest.mark.llvm


class Scratch:
    """The two functions."""

    def __init__(self) -> None:
        self._take: Callable[[int], int | None] = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(
            pool().symbols["accel_scratch"]
        )
        self.done: Callable[[int], None] = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(pool().symbols["accel_scratch_done"])

    def take(self, size: int) -> int:
        """Memory of that many bytes, all of which are written."""
        found = self._take(size)
        assert found is not None
        ctypes.memset(found, 7, size)
        return found


@pytest.fixture
def scratch() -> Scratch:
    """With nothing small kept before."""
    found = Scratch()
    found.done(found.take(10_000))
    return found


def test_what_is_done_is_taken_again(scratch: Scratch) -> None:
    first = scratch.take(5000)
    scratch.done(first)
    assert scratch.take(100) == first
    scratch.done(first)


def test_several_at_once_have_their_own(scratch: Scratch) -> None:
    pieces = [scratch.take(3000 + number) for number in range(4)]
    ends = sorted((piece, piece + 3000) for piece in pieces)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(ends))
    for piece in pieces:
        scratch.done(piece)
    assert scratch.take(50) == pieces[-1]
    scratch.done(pieces[-1])


def test_larger_pieces_take_the_place_of_smaller_ones_but_for_those_that_are_too_large(scratch: Scratch) -> None:
    large = scratch.take(KEPT // 8)
    scratch.done(large)
    assert scratch.take(KEPT // 8) == large
    scratch.done(large)
    scratch.done(scratch.take(KEPT + 1))
    kept = scratch.take(5000)
    scratch.done(kept)
    assert scratch.take(100) == kept
    scratch.done(kept)


def test_there_may_be_none(scratch: Scratch) -> None:
    with pytest.raises(AssertionError):
        scratch.take(1 << 60)


def mapped() -> int:
    """Bytes of addresses that the process has memory at."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def test_what_is_too_large_is_given_back(scratch: Scratch) -> None:
    before = mapped()
    scratch.done(scratch.take(2 * KEPT))
    assert mapped() - before < KEPT


def test_what_nobody_works_in_is_given_back(scratch: Scratch) -> None:
    """Of two pieces that are done one stays; the other one's memory may be had again."""

    def rounds(count: int) -> None:
        for _ in range(count):
            pieces = [scratch.take(KEPT // 2 + number) for number in range(2)]
            for piece in pieces:
                scratch.done(piece)

    rounds(2)
    before = mapped()
    rounds(10)
    assert mapped() - before < 2 * KEPT


def test_children_keep_what_their_parents_kept(scratch: Scratch) -> None:
    first = scratch.take(5000)
    scratch.done(first)
    child = os.fork()
    if child == 0:
        found = 1
        try:
            found = 0 if scratch.take(5000) == first else 2
        finally:
            os._exit(found)  # whatever the child meets, it is no second run of the tests
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert scratch.take(5000) == first
    scratch.done(first)
