"""What filters keep, expansion, unique permutations, positions of extremes: against NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.ast.evaluation import check, values

V = np.array([3, 1, 4, 1, 5, 9])
M = np.arange(12.0).reshape(3, 4)


def untyped(value: object) -> Any:
    """What mypy refuses, too."""
    return value


@pytest.mark.parametrize("given", [M, M[:, :0], M[:0], np.arange(5.0)])
def test_compact(given: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    mask = np.floor(given) % 3 != 0
    kept, counts = A.compact(A.use(mask), A.use(given))
    check(kept, given[mask])
    check(counts, mask.sum(axis=-1))


def test_partition() -> None:
    small, large = A.partition(lambda x: x < 4, A.use(V))
    check(small, V[V < 4])
    check(large, V[V >= 4])
    few, many = A.partition(lambda p: p[1], A.zip(A.use(V), A.use(V > 3)))
    assert values(few)[0].tolist() == [4, 5, 9]
    assert values(many)[0].tolist() == [3, 1, 1]
    check(A.partition(lambda x: x > 0, A.use(M))[1], np.zeros(1))


def test_justs() -> None:
    roots = A.map(lambda x: A.cond(x % 2 == 0, A.just(A.sqrt(x)), A.nothing()), A.use(M))
    kept, counts = A.justs(roots)
    check(kept, np.sqrt(M[M % 2 == 0]))
    check(counts, np.array([2, 2, 2]))


@pytest.mark.parametrize("sizes", [[2, 0, 3], [0, 0], [], [5], [0, 1, 0, 0, 4, 0]])
def test_expand(sizes: list[int]) -> None:
    given = np.array(sizes, np.int64)
    made = A.expand(lambda p: p[0], lambda p, k: p[1] * 10 + k, A.zip(A.use(given), A.enumFromN((len(sizes),), 0)))
    expected = [10 * place + k for place, size in enumerate(sizes) for k in range(size)]
    check(made, np.array(expected, np.int64))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([1, -2, 5], "expand needs sizes that are not negative, got -2"),
        ([1 << 62] * 4, "at most 2.*47 elements, got more"),
        ([1 << 60], "at most 2.*47 elements, got more"),
    ],
)
def test_expand_to_no_extent(sizes: list[int], message: str) -> None:
    with pytest.raises(A.AccelShapeError, match=message):
        values(A.expand(lambda x: x, lambda x, k: k, A.use(np.array(sizes))))


def test_permute_unique() -> None:
    places = np.array([3, 0, 5, 1, 2, 4])
    moved = A.permuteUnique(A.fill((6,), 0), lambda ix: A.just(A.index(A.use(places)[ix])), A.use(V))
    expected = np.zeros(6, np.int64)
    expected[places] = V
    check(moved, expected)

    def kept(ix: A.Exp[tuple[int, int]]) -> A.Exp[A.Maybe[tuple[int, int]]]:
        row, column = A.unlift(ix)
        return A.cond(row != column, A.just(A.index(column, row)), A.nothing())

    expected = np.where(np.arange(4)[:, None] != np.arange(3), M.T, -1.0)
    check(A.permuteUnique(A.fill((4, 3), -1.0), kept, A.use(M)), expected)
    with pytest.raises(A.AccelIndexError, match=re.escape("(6,) is out of bounds")):
        values(A.permuteUnique(A.fill((6,), 0), lambda ix: A.just(A.index(ix[0] + 1)), A.use(V)))


TIES = np.array(
    [[2.0, 5, 5, 1], [0.0, -0.0, 0.0, -0.0], [-0.0, 0.0, -1, -1], [np.nan, 1, 2, np.nan], [7, 9, np.nan, np.nan]]
)


@pytest.mark.parametrize(
    "given", [TIES, TIES.astype(np.float32), np.array([[3, 1], [-7, -7]]), np.array([[True, False]])]
)
def test_positions_of_extremes(given: np.ndarray[Any, Any]) -> None:
    check(A.argmax(A.use(given)), np.argmax(given, axis=-1))
    check(A.argmin(A.use(given)), np.argmin(given, axis=-1))


def test_positions_of_the_ends_of_types() -> None:
    for kind in (np.int8, np.uint64, np.int64):
        least, greatest = np.iinfo(kind).min, np.iinfo(kind).max
        check(A.argmax(A.use(untyped(np.array([least, least], kind)))), np.int64(0))
        check(A.argmin(A.use(untyped(np.array([greatest, greatest, least], kind)))), np.int64(2))
    check(A.argmin(A.use(np.array([np.inf, np.inf]))), np.int64(0))
    check(A.argmax(A.use(np.array([-np.inf]))), np.int64(0))
    with pytest.raises(A.AccelValueError, match="argmax of an empty row"):
        values(A.argmax(A.use(np.zeros((2, 0)))))
    check(A.argmax(A.use(np.zeros((0, 3)))), np.zeros(0, np.int64))


def test_what_does_not_fit() -> None:
    xs = A.use(V)
    with pytest.raises(A.AccelTypeError, match="compact needs a mask of bools, got elements of type i64"):
        A.compact(untyped(xs), untyped(A.use(V > 2)))
    with pytest.raises(A.AccelShapeError, match="compact needs arrays of equal shape"):
        A.compact(A.use(V[:2] > 2), xs)
    with pytest.raises(A.AccelTypeError, match="justs takes an array of maybes"):
        A.justs(untyped(xs))
    with pytest.raises(A.AccelTypeError, match="the predicate of partition"):
        A.partition(untyped(lambda x: x), xs)
    with pytest.raises(A.AccelTypeError, match="the size function of expand"):
        A.expand(untyped(lambda x: x > 1), lambda x, k: k, xs)
    with pytest.raises(A.AccelTypeError, match="the element function of expand must take 2 arguments"):
        A.expand(lambda x: x, untyped(lambda x: x), xs)
    with pytest.raises(A.AccelTypeError, match="argmax takes an array of numbers or bools"):
        A.argmax(untyped(A.zip(xs, xs)))
    with pytest.raises(A.AccelTypeError, match="permuteUnique needs defaults and values of one type"):
        A.permuteUnique(untyped(A.fill((6,), 0.5)), lambda ix: A.just(ix), xs)


@pytest.mark.solver
def test_loops() -> None:
    """What is kept by several filters of one array is found in one loop; an expansion takes four, with one for the zeros."""
    xs = A.map(lambda x: x * x, A.use(V))
    assert A.explain(A.partition(lambda x: x < 4, xs)).loops == 1
    assert A.explain(A.compact(A.map(lambda x: x > 3, xs), xs)).loops == 1
    assert A.explain(A.justs(A.map(lambda x: A.cond(x > 3, A.just(x), A.nothing()), xs))).loops == 1
    assert A.explain(A.expand(lambda x: x % 3, lambda x, k: x + k, xs)).loops == 4
    assert A.explain(A.argmax(A.use(M))).loops == 1
    assert A.explain(A.permuteUnique(A.fill((6,), 0), lambda ix: A.just(ix), xs)).loops == 2
