"""Loops in scalar code: what they carry stays in registers, and a choice between two values is no branch.

Loops that scatter are scalar, with all that is fused with them. There a scan that called a function for each element, and
branches that were guessed wrong, once took five times as long as the same program unfused.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import accel as A
from tests import untyped

Vector = A.Acc[A.Vector[np.int64]]
SIZES = (0, 1, 2, 4095, 4096, 4097, 1_000_003)


def split(bits: Vector, xs: Vector) -> Vector:
    """The elements of bit 0 before those of bit 1, in order."""
    below, zeros = A.scanlTotal(A.add, 0, A.map(lambda bit: 1 - bit, bits))
    above = A.prescanl(A.add, 0, bits)
    places = A.zipWith3(lambda bit, one, zero: A.cond(bit == 1, A.the(zeros) + one, zero), bits, above, below)
    return A.scatter(places, A.fill((A.length(xs),), np.int64(-1)), xs)


def counted(xs: Vector) -> tuple[Vector, A.Acc[A.Scalar[np.int64]], Vector]:
    """How often each last digit occurs, the greatest element, and the sums from the left: one loop."""
    digits = A.scatterWith(A.add, A.fill((10,), np.int64(0)), A.map(lambda x: A.lift(x % 10, np.int64(1)), xs))
    return digits, A.fold(A.max, -1, xs), A.scanl1(A.add, xs)


def rows(xs: A.Acc[A.Matrix[np.int64]]) -> Vector:
    """The sums of rows, and of all rows before."""
    return A.scanl1(A.add, A.fold(A.add, 0, xs))


@pytest.mark.parametrize("threads", [1, 3])
def test_scans_beside_scatters(threads: int) -> None:
    fast = untyped.runN(split)
    random = np.random.default_rng(1)
    for size in SIZES:
        bits, xs = random.integers(0, 2, size), np.arange(size)
        with A.using(threads=threads):
            assert np.array_equal(fast(bits, xs), np.concatenate([xs[bits == 0], xs[bits == 1]]))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_scatters_stay_in_order(threads: int) -> None:
    """One element after the other, on whatever threads there are: none is lost, and of equal targets the last wins."""
    size = 1_000_003
    targets, numbers, ones = np.arange(size) * 7919 % 5, np.arange(size), np.ones(size, np.int64)
    last = untyped.runN(lambda to, xs: A.scatter(to, A.fill((5,), np.int64(-1)), xs), threads=threads)
    count = untyped.runN(lambda to, xs: A.scatterWith(A.add, A.fill((5,), np.int64(0)), A.zip(to, xs)), threads=threads)
    for _ in range(5):
        assert last(targets, numbers).tolist() == [numbers[targets == slot][-1] for slot in range(5)]
        assert count(targets, ones).tolist() == np.bincount(targets).tolist()


def test_folds_and_scans_of_one_scalar_loop() -> None:
    assert A.explain(counted).loops == 2  # One fills the counters.
    fast = untyped.runN(counted)
    for size in SIZES:
        xs = np.random.default_rng(size).integers(0, 1000, size)
        digits, greatest, sums = fast(xs)
        assert np.array_equal(digits, np.bincount(xs % 10, minlength=10))
        assert greatest == xs.max(initial=-1)
        assert np.array_equal(sums, xs.cumsum())


def test_scans_around_loops_in_vectors() -> None:
    fast = untyped.runN(rows)
    for shape in ((0, 3), (3, 0), (1, 1), (5, 4097), (70_001, 9)):
        xs = np.random.default_rng(2).integers(-9, 9, shape)
        assert np.array_equal(fast(xs), xs.sum(axis=1).cumsum())


def test_simple_states_are_stepped_in_place() -> None:
    text = A.explain(split).stages["llvm"]
    assert re.findall(r"define void @nest\d_\d_step\(.*\) (.*) #0", text) == ["alwaysinline"] * 2
    # An array of words, which LLVM takes apart; it would keep an allocation of two words in memory.
    assert "alloca [2 x i64], i64 1" in text


def test_choices_in_scalar_code_are_no_branches() -> None:
    text = A.explain(split).stages["llvm"]
    assert re.search(r"select i1 %v\d+, i64 %v\d+, i64 %v\d+, !unpredictable", text)
