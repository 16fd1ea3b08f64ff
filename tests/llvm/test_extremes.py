"""Loops that look for where an extreme stands, against NumPy: of all types, at all places, with ties and NaNs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.loops.extremes import BLOCK_BYTES, extremes
from accel.explanation.explain import subject
from accel.ir.mentions import levels, nests
from accel.settings import changed
from tests import untyped
from tests.guard_pages import guarded_copy

pytestmark = pytest.mark.llvm

Host = np.ndarray[Any, np.dtype[Any]]
KINDS = [np.bool_, np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]
PLACES: Any = untyped.runN(lambda xs: (A.argmax(xs), A.argmin(xs)), threads=1)
GREATEST: Any = untyped.runN(A.argmax, threads=1)
LEAST: Any = untyped.runN(A.argmin, threads=1)


def sought(program: Any, *given: Host) -> list[int]:
    """How many extremes each loop of a program looks for that looks for some."""
    loops = subject(program, list(given), changed({})).staged.loops
    found = [extremes(nest, level.loop) for nest in nests(loops) for level in levels(nest) if level.loop is not None]
    return [len(each.found) for each in found if each is not None]


def test_which_loops_look_for_extremes() -> None:
    numbers = np.ones((3, 5))
    assert sought(lambda m: A.argmax(m), numbers) == [1]
    assert sought(lambda m: A.argmin(A.map(lambda x: x * x, m)), numbers[0]) == [1]
    assert sought(lambda m: (A.argmax(m), A.argmin(m), A.sum(m)), numbers[0]) == [2]
    assert sought(lambda m: A.fold1(A.max, m), numbers) == []
    # An element that is skipped would not be checked.
    assert sought(lambda m, ix: A.argmax(A.gather(ix, m)), numbers[0], np.array([1, 2])) == []


@pytest.mark.parametrize("columns", [1, 2, 17, 63, 64, 65, 255, 257, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_each_place(kind: Any, columns: int) -> None:
    """The greatest once, twice, and nowhere: then the first is."""
    rows = np.zeros((columns + 1, columns), kind)
    rows[np.arange(columns), np.arange(columns)] = 1
    rows[:columns:3, -1] = 1
    given = guarded_copy(True, rows)
    assert GREATEST(given).tolist() == [*range(columns), 0]
    assert LEAST(guarded_copy(True, 1 - rows.astype(np.int8)).astype(kind)).tolist() == [*range(columns), 0]


@pytest.mark.parametrize("kind", KINDS)
def test_long_vectors(kind: Any) -> None:
    """Ties within a block and across blocks; every block better than the one before; the worst of the type everywhere."""
    random = np.random.default_rng(3)
    many = 5 * BLOCK_BYTES // np.dtype(kind).itemsize + 77
    vectors = [random.integers(0, 100, many).astype(kind), np.arange(many).astype(kind), np.zeros(many, kind)]
    if np.issubdtype(kind, np.floating):
        vectors += [np.full(many, -np.inf, kind), np.full(many, np.inf, kind)]
    if np.issubdtype(kind, np.integer):
        vectors += [np.full(many, np.iinfo(kind).min, kind), np.full(many, np.iinfo(kind).max, kind)]
    for vector in vectors:
        for given in (vector, vector[::-1], guarded_copy(True, vector)):
            assert GREATEST(given) == np.argmax(given)
            assert LEAST(given) == np.argmin(given)
            assert PLACES(given) == (np.argmax(given), np.argmin(given))
            assert untyped.runN(A.argmax, threads=3)(given) == np.argmax(given)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_the_first_nan_and_zeros_of_both_signs(kind: Any) -> None:
    many = 3 * BLOCK_BYTES // np.dtype(kind).itemsize + 5
    for place in (0, 1, 12, 20, 70, many // 3, many // 2, many - 1):
        vector = np.linspace(-1, 1, many).astype(kind)
        vector[place] = np.nan
        vector[-1] = -np.nan
        for given in (vector, vector.reshape(1, -1)):
            assert GREATEST(given) == LEAST(given) == place
            assert PLACES(given) == (place, place)
    zeros = np.full(many, -0.0, kind)
    zeros[many // 2 :] = 0.0
    assert GREATEST(zeros) == LEAST(zeros) == GREATEST(-zeros) == LEAST(-zeros) == 0


def test_the_element_and_its_place() -> None:
    """The element that is found is that of a fold by the same operator, the sign of a zero included."""
    for given in (np.array([-0.0, 0.0, -1.0]), np.array([0.0, -0.0, 1.0]), np.arange(5000.0) % 77):
        greatest, place = untyped.run((A.maximum(A.use(given)), A.argmax(A.use(given))))
        assert (greatest, place) == (given.max(), given.argmax())
        assert greatest.tobytes() == untyped.run(A.maximum(A.use(given)), backend="interpreter").tobytes()


BOTH: Any = untyped.runN(lambda xs: (A.maximum(xs), A.argmax(xs), A.minimum(xs), A.argmin(xs)), threads=1)


@pytest.mark.parametrize("columns", [1, 3, 15, 16, 33, 63, 95, 96, 131])
@pytest.mark.parametrize("kind", [np.int8, np.uint32, np.int64, np.float16, np.float32, np.float64])
def test_rows_of_any_length_with_their_extremes(kind: Any, columns: int) -> None:
    """Ties, NaNs, zeros of both signs, and nothing but the worst of the type; folds by the same operators beside the places."""
    random = np.random.default_rng(columns)
    rows = random.integers(0, 9, (77, columns)).astype(kind)
    if np.issubdtype(kind, np.floating):
        rows[:20] -= 4
        rows[20:40] = np.where(random.random((20, columns)) < 0.5, -0.0, 0.0)
        rows[40:44] = [[-np.inf], [np.inf], [np.nan], [-np.nan]]
        rows[44:54][random.random((10, columns)) < 0.1] = np.nan
    else:
        rows[:2] = [[np.iinfo(kind).min], [np.iinfo(kind).max]]
    given = guarded_copy(True, rows)
    greatest, first_greatest, least, first_least = BOTH(given)
    assert np.array_equal(first_greatest, np.argmax(rows, -1))
    assert np.array_equal(first_greatest, GREATEST(given))
    assert np.array_equal(first_least, np.argmin(rows, -1))
    assert np.array_equal(first_least, LEAST(given))
    assert np.array_equal(greatest, rows.max(-1), equal_nan=True)
    assert np.array_equal(least, rows.min(-1), equal_nan=True)
    alone = untyped.run((A.maximum(A.use(rows)), A.minimum(A.use(rows))), backend="interpreter")
    for found, meant in zip((greatest, least), alone, strict=True):
        assert np.array_equal(np.signbit(found[20:40]), np.signbit(meant[20:40]))


def test_which_folds_an_extreme_serves() -> None:
    """Of the same elements by the same operator, and no others."""

    def served(program: Any) -> list[list[int]]:
        loops = subject(program, [np.ones(7)], changed({})).staged.loops
        found = [
            extremes(nest, level.loop) for nest in nests(loops) for level in levels(nest) if level.loop is not None
        ]
        return [
            [len(each.alone.states) if each.alone else 0 for each in some.found] for some in found if some is not None
        ]

    assert served(lambda xs: (A.argmax(xs), A.maximum(xs))) == [[1]]
    assert served(lambda xs: (A.argmax(xs), A.fold(A.max, 3.0, xs), A.maximum(xs))) == [[2]]
    assert served(lambda xs: (A.argmax(xs), A.minimum(xs), A.sum(xs))) == [[0]]
    assert served(lambda xs: (A.argmax(xs), A.maximum(A.map(lambda x: x * x, xs)))) == [[0]]
    assert sorted(served(lambda xs: (A.argmin(xs), A.argmax(xs), A.minimum(xs)))[0]) == [0, 1]


def test_what_is_made_in_the_loop() -> None:
    xs = np.random.default_rng(4).normal(size=(30, 700)).astype(np.float32)
    found = untyped.run(A.argmin(A.map(lambda x: A.truncate(x * 10, np.int32), A.use(xs))))
    assert np.array_equal(found, np.argmin(np.trunc(xs * np.float32(10)), -1))
    apart = untyped.run(A.argmax(A.imap(lambda ix, x: x - A.fromIntegral(A.indexHead(ix), np.float32), A.use(xs))))
    assert np.array_equal(apart, np.argmax(xs - np.arange(700, dtype=np.float32), -1))
