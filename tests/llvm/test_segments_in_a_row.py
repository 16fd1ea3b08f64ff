"""Folds of short segments whose elements are computed as one row, and folded in lanes: the reference's bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.states.segments import short_row
from accel.backends.llvm.states.segments.short_row import ShortRow
from accel.backends.protocol import HostArray
from accel.errors import AccelIndexError
from tests import untyped
from tests.guard_pages import guarded_copy
from tests.llvm.processors import compile_again
from tests.marks import one_in
from tests.run.test_segments import same

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

Vector = A.Acc[Any]  # Any: of any elements

LENGTHS: Mapping[str, Sequence[int]] = {
    "up to eight": [(i * 7) % 9 for i in range(203)],
    "up to sixteen": [(i * 11) % 17 for i in range(150)],
    "as many as the order has lanes, and one more": [*[32, 31, 33] * 11, *[64, 63, 65] * 11, *[5, 9] * 40],
    "one among empty ones": ([0] * 13 + [7]) * 9,
    "the first of all, alone": [5, *[0] * 40],
    "long ones between": [*[6] * 16, 500, *[12] * 40, 70, *[3] * 30],
}


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[ShortRow]:
    """The groups whose code computes what they fold as one row."""
    found: list[ShortRow] = []
    original = ShortRow.compute

    def compute(row: ShortRow, outside: Any) -> None:
        found.append(row)
        original(row, outside)

    monkeypatch.setattr(short_row.ShortRow, "compute", compute)
    return found


def agrees(function: Any, *arguments: HostArray) -> None:
    """`llvm` on one thread and on three gives the reference's bits."""
    wanted = untyped.runN(function, backend="interpreter")(*arguments)
    for threads in (1, 3):
        found = untyped.runN(function, backend="llvm", threads=threads)(*arguments)
        same(found, wanted)


def numbers(kind: type[np.generic], count: int) -> HostArray:
    """Some of them zeros of both signs and, of floats, no numbers."""
    draw = np.random.default_rng(7)
    found = (draw.normal(size=count) * 9).astype(kind)
    found[::5] = 0
    if np.issubdtype(kind, np.floating):
        found[2::7] = -0.0
        found[3::31] = np.nan
    return found


FOLDS: Mapping[str, Callable[[Vector, Vector], Any]] = {
    "sums": lambda x, n: A.foldSeg(A.add, 3, x, n),
    "sums of squares": lambda x, n: A.foldSeg(A.add, 3, A.map(lambda v: v * v, x), n),
    "greatest": lambda x, n: A.foldSeg(A.max, 3, x, n),
    "sums and greatest": lambda x, n: (A.foldSeg(A.add, 3, x, n), A.foldSeg(A.max, 3, x, n)),
    "whether all are": lambda x, n: A.foldSeg(lambda a, b: a & b, True, A.map(lambda v: v > 0, x), n),
    "by offsets": lambda x, n: A.foldSegOffsets(A.add, 3, x, A.scanl(A.add, 0, n)),
}


@pytest.mark.parametrize("lengths", list(LENGTHS))
@pytest.mark.parametrize("kind", one_in(2, [np.float32, np.float64, np.int32, np.int8, np.int64, np.float16]))
@pytest.mark.parametrize("fold", list(FOLDS))
def test_folds(fold: str, kind: type[np.generic], lengths: str) -> None:
    counts = np.array(LENGTHS[lengths])
    agrees(FOLDS[fold], numbers(kind, counts.sum()), counts)


@pytest.mark.parametrize("fold", list(FOLDS))
def test_all_of_these_are_computed_as_a_row(fold: str, rows: list[ShortRow], monkeypatch: pytest.MonkeyPatch) -> None:
    compile_again(monkeypatch)
    untyped.runN(FOLDS[fold], threads=1)(numbers(np.float32, 40), np.full(8, 5))
    assert rows


def products(x: Vector, columns: Vector, values: Vector, n: Vector) -> Vector:
    """A sparse matrix times a vector."""
    return A.foldSeg(A.add, 7, A.zipWith(A.mul, values, A.gather(columns, x)), n)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_sparse_matrix_times_a_vector(kind: type[np.generic], rows: list[ShortRow]) -> None:
    for lengths in LENGTHS.values():
        counts = np.array(lengths)
        columns = np.random.default_rng(8).integers(0, 50, counts.sum())
        agrees(products, numbers(kind, 50), columns, numbers(kind, counts.sum()), counts)
    assert rows


@pytest.mark.parametrize("place", [0, 100, 101, 107, 399])
def test_an_index_outside_is_the_first_one(place: int) -> None:
    """The vector that finds it computes elements of several segments, and those behind the last element of none."""
    counts = np.full(50, 8)
    columns = np.zeros(400, np.int64)
    columns[place:] = 50
    arguments = np.ones(50), columns, np.ones(400), counts
    said = []
    for backend in ("interpreter", "llvm"):
        with pytest.raises(AccelIndexError) as raised:
            untyped.runN(products, backend=backend)(*arguments)
        said.append(str(raised.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("at_end", [False, True])
def test_nothing_is_read_outside_of_the_array(at_end: bool) -> None:
    """Of fewer elements than a vector has the row would begin before them; the last vector ends with them."""
    for counts in ([6], [0] * 20 + [7], [9, 6, 1] * 31, [5] * 8 + [1]):
        lengths = np.array(counts + [0] * 40)
        xs = guarded_copy(at_end, numbers(np.float64, sum(counts)))
        same(
            untyped.runN(FOLDS["sums"], threads=1)(xs, lengths),
            untyped.runN(FOLDS["sums"], backend="interpreter")(xs, lengths),
        )


@pytest.mark.parametrize("segments", [7, 8, 9, 40])
def test_elements_of_no_segment_are_not_asked_for(segments: int) -> None:
    """What stands before the first offset asks for elements that there are not."""
    columns = np.array([*[-1] * 12, 3])
    offsets = np.array([12, *[13] * segments])

    def product(x: Vector, columns: Vector, values: Vector, offsets: Vector) -> Vector:
        return A.foldSegOffsets(A.add, 0, A.zipWith(A.mul, values, A.gather(columns, x)), offsets)

    found = untyped.runN(product, threads=1)(np.arange(60.0), columns, np.ones(13), offsets)
    assert found.tolist() == [3.0] + [0.0] * (segments - 1)
