"""Small buffers stay with the players that took them, and nobody else's use of one is disturbed."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import get_ident
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.opencl import scores
from accel.backends.opencl.backend import memory
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.sizes import LOTS, Lots
from tests.marks import require_device


@dataclass(eq=False)
class Piece:
    """As a lot sees a buffer."""

    size: int


def pieces() -> list[Piece]:
    return [Piece(64), Piece(128), Piece(256)]


def test_a_lot_is_its_owners_but_for_what_is_used() -> None:
    lots: Lots[Piece] = Lots()
    first, second = object(), object()
    lots.rest(first, pieces())
    assert lots.unused == 64 + 128 + 256
    assert lots.take(second, Piece) is None
    found = lots.take(first, Piece)
    assert found is not None
    assert lots.take(first, Piece) is None
    used = found[1]
    lots.rest(first, found)
    del found
    assert lots.unused == 64 + 256
    again = lots.take(first, Piece)
    assert again is not None
    assert [piece.size for piece in again] == [64, 128, 256]
    assert used not in again


def test_there_are_not_many_lots() -> None:
    lots: Lots[Piece] = Lots()
    owners = [object() for _ in range(LOTS + 3)]
    for owner in owners:
        lots.rest(owner, pieces())
    assert [lots.take(owner, Piece) is None for owner in owners] == [True] * 3 + [False] * LOTS
    lots.rest(owners[0], pieces())
    lots.clear()
    assert lots.take(owners[0], Piece) is None
    assert lots.unused == 0


def steps(xs: A.Acc[A.Vector[np.float64]]) -> tuple[A.Acc[A.Vector[np.float64]], A.Acc[A.Scalar[np.float64]]]:
    """Some nests, and a loop of some."""
    ys = A.compute(A.map(lambda x: x * 0.5, A.scanl1(A.add, xs)))
    zs = A.iterate(9, lambda ys: A.map(lambda y: y / (A.the(A.sum(ys)) + 3), A.compute(A.reverse(ys))), ys)
    return A.compute(A.zipWith(A.add, ys, zs)), A.sum(zs)


Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]


def on_device() -> Any:
    require_device()
    return A.runN(steps, backend="opencl", strategy="greedy")


def same(found: Sequence[Any], xs: Floats) -> None:
    wanted = A.runN(steps, backend="interpreter", strategy="greedy")(xs)
    for each, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(each, other)


def test_calls_that_are_alike_take_no_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    run, xs = on_device(), np.arange(10.0)
    for _ in range(3):
        run(xs)
    taken: list[int] = []
    alone: list[int] = []
    take, take_all, here = Memory.take, Memory.take_all, get_ident()

    def counted(self: Memory, sizes: Iterable[int]) -> list[Held]:
        found = take_all(self, sizes)
        if get_ident() == here:
            taken.extend(held.size for held in found)
        return found

    def piece(self: Memory, size: int) -> Held:
        found = take(self, size)
        if get_ident() == here:
            alone.append(taken.pop())
        return found

    monkeypatch.setattr(Memory, "take_all", counted)
    monkeypatch.setattr(Memory, "take", piece)
    fresh = []
    for _ in range(5):
        same(run(xs), xs)
        assert not taken
        fresh.append(len(alone))
        alone.clear()
    assert 0 in fresh  # one is taken for a buffer that is still used, as by what is not collected yet
    monkeypatch.setattr(scores, "LOT", 0)  # for players that are made from now on
    other = np.arange(11.0)
    for _ in range(4):
        taken.clear()
        same(run(other), other)
    assert len(taken) > 3


def test_nobody_writes_to_results_that_stay_on_the_device() -> None:
    """Nor to those of calls at once."""
    run, random = on_device(), np.random.default_rng(1_200_003)
    given = [random.random(12) for _ in range(9)]
    kept = [run(A.put(xs, backend="opencl")) for xs in given]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(run, given * 9))
    for results, xs in zip(found, given * 9, strict=True):
        same(results, xs)
    for results, xs in zip(kept, given, strict=True):
        same([each.get() for each in results], xs)


def test_lots_are_let_go_of_when_asked() -> None:
    """They count as unused memory, which `Device.free` gives back; and the next call is as good as ever."""
    run, xs = on_device(), np.arange(10.0)
    (device,) = [each for each in A.devices() if each.backend == "opencl:0"]
    gc.collect()
    device.free()
    used = device.memory.used if device.memory is not None else 0
    for _ in range(3):
        same(run(xs), xs)
    gc.collect()
    before = device.memory
    assert before is not None
    assert memory(0).lots.unused > 0
    assert before.used <= used + 1024  # a record
    assert before.unused >= memory(0).lots.unused
    device.free()
    after = device.memory
    assert after is not None
    assert after.unused == 0
    same(run(xs), xs)


def test_little_arguments_are_copies_of_what_they_are() -> None:
    """Of any strides, types and ranks, the same one twice, and bools that are other bytes than 0 and 1."""
    require_device()

    def unchanged(*arrays: Any) -> Any:
        return arrays

    wide, bools = np.arange(60.0).reshape(5, 12), np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    given = [
        wide[::2, ::-3],
        wide.T,
        wide.T,
        np.array(7, np.int8),
        np.zeros((0, 3)),
        bools,
        bools[::2],
        np.arange(999),
        wide,
    ]
    run = A.runN(unchanged, backend="opencl")
    for _ in range(4):
        for each, other in zip(run(*given), given, strict=True):
            np.testing.assert_array_equal(each, other)
            assert each.dtype == other.dtype
        assert run(*given)[5].view(np.uint8).tolist() == [0, 1, 1, 1]


def test_nobody_writes_to_arguments_that_stay_on_the_device() -> None:
    """A result is its argument, in that buffer: the next call has another one."""
    require_device()
    run = A.runN(lambda xs, ys: (xs, A.map(lambda y: y + 1, ys)), backend="opencl")
    given = [(np.full(10, float(k)), np.full(7, float(-k))) for k in range(9)]
    for _ in range(2):
        kept = [run(*each, keep=True) for each in given]
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda each: run(*each), given * 9))
        for results, (xs, ys) in zip([*kept, *found], given * 10, strict=True):
            np.testing.assert_array_equal(np.asarray(results[0]), xs)
            np.testing.assert_array_equal(np.asarray(results[1]), ys + 1)


def test_calls_with_arguments_of_other_sizes_in_turn() -> None:
    require_device()
    run = A.runN(lambda xs, ys: A.zipWith(A.add, xs, ys), backend="opencl")
    for size in [3, 300, 3, 511, 512, 513, 20_000, 300, 0, 3] * 2:
        xs = np.arange(float(size))
        np.testing.assert_array_equal(run(xs, xs + 1), 2 * xs + 1)
