"""Whole algorithms against NumPy: sorting, selection, dynamic programming, shortest paths, dates, dependent control flow.

Each on the interpreter, and compiled, fused and not, on one thread and three, with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A

Ints: TypeAlias = A.Acc[A.Vector[np.int64]]
Count: TypeAlias = A.Acc[A.Scalar[np.int64]]
Case: TypeAlias = tuple[A.Acc[Any], np.ndarray[Any, np.dtype[Any]]]

RANDOM = np.random.default_rng(20)
ZERO = A.unit(A.constant(0))


def next_(k: Count) -> Count:
    return A.map(lambda n: n + 1, k)


def radix_sort() -> Case:
    """Four bits, least significant first: a stable split is two scans and a scatter."""
    keys = RANDOM.integers(0, 16, 300)
    xs = A.use(keys)
    for bit in range(4):
        ones = A.map(lambda k: A.boolToInt(A.testBit(k, bit)), xs)  # noqa: B023  # called at once
        before, zeros = A.scanlTotal(A.add, 0, A.map(lambda one: 1 - one, ones))
        after = A.prescanl(A.add, A.the(zeros), ones)
        targets = A.zipWith3(lambda one, low, high: A.cond(one == 1, high, low), ones, before, after)
        xs = A.scatter(targets, A.fill(xs.shape, 0), xs)
    return xs, np.sort(keys)


def quickselect() -> Case:
    """The state shrinks by filters; which part goes on is an `acond` in an `acond`."""
    numbers = RANDOM.integers(0, 1000, 200)

    def step(state: tuple[Ints, Count]) -> tuple[Ints, Count]:
        xs, rank = state
        pivot = xs[A.length(xs) // 2]
        low, _ = A.filter(lambda x: x < pivot, xs)
        same, _ = A.filter(lambda x: x == pivot, xs)
        high, _ = A.filter(lambda x: x > pivot, xs)
        k, small, equal = A.the(rank), A.length(low), A.length(same)
        rest = A.acond(k < small + equal, (A.take(1, same), ZERO), (high, A.unit(k - small - equal)))
        return A.acond(k < small, (low, rank), rest)

    found, _ = A.awhile(lambda s: A.unit(A.length(s[0]) > 1), step, (A.use(numbers), A.unit(A.constant(57))))
    return found, np.sort(numbers)[57:58]


def longest_common_subsequence() -> Case:
    """One row of the table at a time: the dependence along the row is a scan of maxima."""
    a, b = RANDOM.integers(0, 4, 20), RANDOM.integers(0, 4, 25)
    xs, ys = A.use(a), A.use(b)

    def step(state: tuple[Count, Ints]) -> tuple[Count, Ints]:
        i, row = state
        x = xs[A.the(i)]

        def diagonal(ix: A.Exp[tuple[int]]) -> A.Exp[np.int64]:
            j = A.max(ix[0] - 1, 0)
            return A.cond((ix[0] > 0) & (x == ys[j]), row[j] + 1, row[ix])

        return next_(i), A.scanl1(A.max, A.generate(row.shape, diagonal))

    _, last = A.awhile(lambda s: A.map(lambda i: i < len(a), s[0]), step, (ZERO, A.fill((len(b) + 1,), 0)))
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i, p in enumerate(a):
        for j, q in enumerate(b):
            table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j], table[i, j] + (p == q))
    return last, table[-1]


def shortest_paths() -> Case:
    """Floyd and Warshall: the loop's counter indexes its matrix."""
    lengths = RANDOM.random((9, 9))
    np.fill_diagonal(lengths, 0)

    def step(state: tuple[Count, A.Acc[A.Matrix[np.float64]]]) -> tuple[Count, A.Acc[A.Matrix[np.float64]]]:
        count, m = state
        k = A.the(count)
        return next_(count), A.imap(lambda ix, x: A.min(x, m[ix[0], k] + m[k, ix[1]]), m)

    _, result = A.awhile(lambda s: A.map(lambda k: k < 9, s[0]), step, (ZERO, A.use(lengths)))
    expected = lengths.copy()
    for k in range(9):
        expected = np.minimum(expected, expected[:, k : k + 1] + expected[k])
    return result, expected


def years_of_days() -> Case:
    """The civil calendar: floor divisions of negative numbers."""
    days = RANDOM.integers(-200_000, 200_000, 500)

    def year(day: A.Exp[np.int64]) -> A.Exp[np.int64]:
        z = day + 719468
        era, day_of_era = z // 146097, z % 146097
        of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
        day_of_year = day_of_era - (365 * of_era + of_era // 4 - of_era // 100)
        return of_era + era * 400 + A.boolToInt((5 * day_of_year + 2) // 153 >= 10)

    years = (np.datetime64("1970-01-01") + days).astype("datetime64[Y]").astype(np.int64) + 1970
    return A.map(year, A.use(days)), years


def runs_decoded() -> Case:
    """Run-length decoding: offsets by a scan, marks by a permute that drops empty runs, positions by a scan of maxima."""
    values, lengths = RANDOM.integers(0, 100, 30), RANDOM.integers(0, 6, 30)
    counts = A.use(lengths)
    offsets, total = A.scanlTotal(A.add, 0, counts)

    def place(ix: A.Exp[tuple[int]]) -> A.Exp[A.Maybe[tuple[int]]]:
        return A.cond(counts[ix] > 0, A.just(A.index(offsets[ix])), A.nothing())

    marks = A.permute(A.max, A.fill((A.the(total),), 0), place, A.enumFromN((30,), 0))
    return A.gather(A.scanl1(A.max, marks), A.use(values)), np.repeat(values, lengths)


ALGORITHMS = [radix_sort, quickselect, longest_common_subsequence, shortest_paths, years_of_days, runs_decoded]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.__name__)
def test_algorithm(algorithm: Callable[[], Case]) -> None:
    program, expected = algorithm()
    reference = A.run(program, backend="interpreter")
    np.testing.assert_allclose(reference, expected, rtol=1e-12)
    assert reference.dtype == expected.dtype
    fused = A.run(program, strategy="ilp", threads=3)
    assert fused.tobytes() == reference.tobytes()
    unfused = A.run(program, strategy="none", threads=1)
    assert unfused.tobytes() == reference.tobytes()
