"""Segments that all threads fold together: the bits of each folded alone, and what stands around the folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.loops.put_off import LONG, MOST
from accel.errors import AccelShapeError
from tests import untyped
from tests.marks import numbers_of_threads, one_in
from tests.run.test_segments import OPERATORS, Host, Vector, elements, leaves, same

pytestmark = pytest.mark.solver

LENGTHS: dict[str, list[int]] = {
    "one": [LONG + 5],
    "among short ones": [3, 0, LONG, *[2, 1, 0, 3] * 40, LONG - 1, 2 * LONG + 4097, 0, 1],
    "after many": [*[1, 2] * 20_000, 3 * LONG + 1],
}


def alone(name: str, xs: Host, lengths: Sequence[int]) -> list[Host]:
    """Each segment folded by itself, on one thread."""
    f, made, seed = OPERATORS[name]
    fold = untyped.runN(lambda part: A.fold(f, seed, part), threads=1)
    parts: dict[bytes, list[Host]] = {}
    found = []
    for start, end in pairwise(np.cumsum([0, *lengths])):
        key = xs[start:end].tobytes()
        if key not in parts:
            parts[key] = leaves(fold(untyped.run(made(A.use(xs[start:end])))))
        found.append(parts[key])
    return [np.array([each[leaf] for each in found]) for leaf in range(len(found[0]))]


@pytest.mark.parametrize("lengths", list(LENGTHS))
@pytest.mark.parametrize("name", one_in(2, OPERATORS))
def test_each_is_folded_as_if_alone(name: str, lengths: str) -> None:
    counts = LENGTHS[lengths]
    xs = elements(sum(counts) + 5)
    f, made, seed = OPERATORS[name]
    expected = tuple(alone(name, xs, counts))
    for descriptor, form in ((counts, A.foldSeg), (np.cumsum([0, *counts]), A.foldSegOffsets)):
        program = form(f, seed, made(A.use(xs)), A.use(np.array(descriptor)))
        for threads in (1, 2, 3, 8):
            same(untyped.run(program, threads=threads), expected)


FOLLOWING: dict[str, Callable[[Vector, Vector], Any]] = {
    "a map": lambda xs, lengths: A.map(lambda x: x * 2, A.foldSeg(A.add, 0, xs, lengths)),
    "the length": lambda xs, lengths: A.zipWith(
        lambda total, count: total / A.cast(count, np.float32), A.foldSeg(A.add, 0, xs, lengths), lengths
    ),
    "two folds": lambda xs, lengths: (A.foldSeg(A.add, 1, xs, lengths), A.foldSeg(A.max, 0, xs, lengths)),
    "no seed": lambda xs, lengths: A.fold1Seg(A.add, xs, lengths),
    "places": lambda xs, lengths: A.foldSeg(
        A.add, 0, A.imap(lambda ix, x: x * A.cast(A.unindex(ix)[0] % 7, np.float32), xs), lengths
    ),
    "a fold of folds": lambda xs, lengths: A.fold(A.add, 0, A.foldSeg(A.add, 0, xs, lengths)),
    "rows": lambda xs, lengths: A.foldSeg(A.add, 0, A.replicate((2, A.All), xs), lengths),
}


@pytest.mark.parametrize("name", FOLLOWING)
def test_what_stands_around_the_folds(name: str) -> None:
    lengths = np.array([2, LONG + 100, 3, 1, LONG, 40])
    xs = elements(lengths.sum())
    expected = untyped.runN(FOLLOWING[name], threads=1)(xs, lengths)
    for threads in (2, 3):
        same(untyped.runN(FOLLOWING[name], threads=threads)(xs, lengths), expected)


@pytest.mark.parametrize("count", [MOST, MOST + 2])
def test_more_than_are_put_off(count: int) -> None:
    numbers = np.random.default_rng(count).integers(0, 100, count * LONG).astype(np.int8)
    expected = numbers.reshape(count, LONG).max(1)
    lengths: Host = np.full(count, LONG)
    for threads in numbers_of_threads():
        result = untyped.run(A.foldSeg(A.max, np.int8(-1), A.use(numbers), A.use(lengths)), threads=threads)
        assert result.tolist() == expected.tolist()


def test_wrong_lengths_behind_a_long_segment_are_an_error() -> None:
    xs = elements(LONG + 10)
    program = A.foldSeg(A.add, 0, A.use(xs), A.use(np.array([LONG, 11])))
    with pytest.raises(AccelShapeError, match=f"got {LONG + 11} with the 11 at index 1"):
        untyped.run(program, threads=2)


def test_an_index_out_of_bounds_in_a_long_segment_is_an_error() -> None:
    xs = elements(LONG + 10)
    places: Host = np.zeros(LONG + 10, np.int64)
    places[LONG - 7] = len(xs)
    program = A.foldSeg(A.add, 0, A.gather(A.use(places), A.use(xs)), A.use(np.array([3, LONG])))
    with pytest.raises(A.AccelIndexError):
        untyped.run(program, threads=2)
