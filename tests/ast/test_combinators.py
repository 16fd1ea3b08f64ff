"""What each combinator computes, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from tests.ast.evaluation import check, values

UNTYPED: Any = A  # mistakes that mypy finds

V = np.array([3, 1, 4, 1, 5, 9], np.int32)
M = np.arange(12.0).reshape(3, 4)
T = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
EMPTY = np.zeros((3, 0))

Digits: TypeAlias = tuple[np.int64, np.int64]


def test_construction() -> None:
    check(A.unit(np.int8(3)), np.array(3, np.int8))
    check(A.fill((2, 3), 1.5), np.full((2, 3), 1.5))
    check(A.fill((), True), np.array(True))
    check(A.generate((3, 2), lambda ix: ix[0] * 10 + ix[1]), np.array([[0, 1], [10, 11], [20, 21]]))
    check(A.generate(A.use(M).shape, lambda ix: ix[1]), np.broadcast_to(np.arange(4), (3, 4)))
    check(A.enumFromN((2, 2), A.constant(3, np.float32)), np.array([[3, 4], [5, 6]], np.float32))
    check(A.enumFromStepN((3,), 1, 5), np.array([1, 6, 11]))
    check(A.enumFromN((0,), 1), np.zeros(0, np.int64))


def test_elementwise() -> None:
    check(A.map(lambda x: x * 2, A.use(V)), V * 2)
    check(A.imap(lambda ix, x: x + A.toFloating(ix[1], np.float64), A.use(M)), M + np.arange(4))
    check(A.zipWith(A.sub, A.use(M), A.use(M[::-1])), M - M[::-1])
    check(A.zipWith3(lambda a, b, c: a * b + c, A.use(V), A.use(V), A.use(V)), V * V + V)
    check(A.zipWith5(lambda a, b, c, d, e: a + b + c + d + e, *[A.use(V)] * 5), V * 5)


@pytest.mark.parametrize("shapes", [((3, 4), (2, 5)), ((0, 4), (2, 5)), ((3, 4), (3, 4))])
def test_trim_takes_the_intersection(shapes: tuple[tuple[int, int], tuple[int, int]]) -> None:
    xs, ys = (np.random.default_rng(0).integers(0, 9, shape) for shape in shapes)
    rows, columns = (min(a, b) for a, b in zip(*shapes, strict=True))
    check(A.zipWith(A.add, A.use(xs), A.use(ys), trim=True), xs[:rows, :columns] + ys[:rows, :columns])
    zipped = A.zip(A.use(xs), A.use(ys), trim=True)
    check(A.unzip(zipped)[1], ys[:rows, :columns])


def test_zip_and_unzip() -> None:
    triple = A.zip3(A.use(V), A.use(V > 2), A.use(V.astype(np.float64)))
    threes, large, floats = A.unzip3(triple)
    check(threes, V)
    check(large, V > 2)
    check(floats, V.astype(np.float64))
    index, element = A.unzip(A.indexed(A.use(M)))
    rows, columns = values(index)
    assert rows.tolist() == [[0] * 4, [1] * 4, [2] * 4]
    assert columns.tolist() == [[0, 1, 2, 3]] * 3
    check(element, M)


def test_shapes() -> None:
    ms = A.use(M)
    check(A.reshape((4, 3), ms), M.reshape(4, 3))
    check(A.reshape((A.size(ms),), ms), M.ravel())
    check(A.flatten(A.use(T)), T.ravel())
    check(A.flatten(A.unit(3)), np.array([3]))
    check(A.replicate((2, A.All, 3), A.use(V)), np.broadcast_to(V[None, :, None], (2, 6, 3)))
    check(A.replicate((A.the(A.unit(2)), A.All), A.use(V)), np.stack([V, V]))
    check(A.slice(A.use(T), (A.All, 1, A.All)), T[:, 1, :])
    check(A.slice(A.use(T), (1, 2, 3)), T[1, 2, 3])
    check(A.transpose(ms), M.T)
    check(A.transposeOn(0, -1, A.use(T)), T.transpose(2, 1, 0))
    check(A.backpermute((4,), lambda ix: A.index(0, 3 - ix[0]), ms), M[0, ::-1])
    check(A.gather(A.use(np.array([[5, 0], [1, 1]])), A.use(V)), V[[[5, 0], [1, 1]]])
    check(A.gather(A.generate((3,), lambda ix: A.index(ix[0], ix[0])), ms), np.diagonal(M))


@pytest.mark.parametrize("n", [-2, 0, 1, 3, 4, 9])
@pytest.mark.parametrize("given", [M, EMPTY])
def test_parts_clamp_at_both_ends(n: int, given: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    xs, k = A.use(given), max(n, 0)
    later = A.the(A.unit(n))
    check(A.take(n, xs), given[:, :k])
    check(A.take(later, xs), given[:, :k])
    check(A.drop(n, xs), given[:, k:])
    check(A.drop(later, xs), given[:, k:])
    check(A.takeOn(0, n, xs), given[:k])
    check(A.dropOn(-2, n, xs), given[k:])
    check(A.slit(1, n, xs), given[:, 1:][:, :k])
    check(A.slitOn(0, n, 1, xs), given[k:][:1])


@pytest.mark.parametrize("given", [M, EMPTY])
def test_ends_and_orders(given: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    xs = A.use(given)
    check(A.init(xs), given[:, :-1])
    check(A.tail(xs), given[:, 1:])
    check(A.initOn(0, xs), given[:-1])
    check(A.tailOn(0, xs), given[1:])
    check(A.reverse(xs), given[:, ::-1])
    check(A.reverseOn(0, xs), given[::-1])


def test_folds() -> None:
    ms = A.use(M)
    check(A.fold(A.add, 10, ms), M.sum(axis=1) + 10)
    check(A.fold(lambda a, b: b, 10, ms), M[:, -1])
    check(A.fold(A.add, 10, A.use(EMPTY)), np.full(3, 10.0))
    check(A.fold1(lambda a, b: a, ms), M[:, 0])
    check(A.foldAll(A.max, 0, A.use(T)), np.int64(23))
    check(A.fold1All(A.min, A.use(V)), np.int32(1))
    check(A.sum(A.use(T)), T.sum(axis=2))
    check(A.product(A.use(V)), np.int32(V.prod()))
    check(A.minimum(ms), M.min(axis=1))
    check(A.maximum(ms), M.max(axis=1))
    check(A.all(lambda x: x > 3, ms), (M > 3).all(axis=1))
    check(A.any(lambda x: x > 3, ms), (M > 3).any(axis=1))
    check(A.and_(A.use(EMPTY > 0)), np.full(3, True))
    check(A.or_(A.use(EMPTY > 0)), np.full(3, False))


def test_scans() -> None:
    ms, sums = A.use(M), M.cumsum(axis=1)
    check(A.scanl(A.add, 5, ms), np.concatenate([np.full((3, 1), 5.0), sums + 5], axis=1))
    check(A.scanl1(A.add, ms), sums)
    exclusive, totals = A.scanlTotal(A.add, 5, ms)
    check(exclusive, sums - M + 5)
    check(totals, M.sum(axis=1) + 5)
    check(A.prescanl(A.add, 5, ms), sums - M + 5)
    check(A.postscanl(A.add, 5, ms), sums + 5)
    check(A.scanl(A.add, 5, A.use(EMPTY)), np.full((3, 1), 5.0))
    back = M[:, ::-1].cumsum(axis=1)[:, ::-1]
    check(A.scanr(A.add, 5, ms), np.concatenate([back + 5, np.full((3, 1), 5.0)], axis=1))
    check(A.scanr1(A.add, ms), back)
    check(A.scanrTotal(A.add, 5, ms)[0], back - M + 5)
    check(A.prescanr(A.add, 5, ms), back - M + 5)
    check(A.postscanr(A.add, 5, ms), back + 5)


def test_scans_keep_the_order_of_operands() -> None:
    def written(a: A.Exp[Digits], b: A.Exp[Digits]) -> A.Exp[Digits]:
        """Associative, not commuting: two numbers written one after the other, each with ten to its length."""
        return A.lift(a[0] * b[1] + b[0], a[1] * b[1])

    digits = A.zip(A.use(np.array([1, 2, 3])), A.fill((3,), 10))
    seed = A.lift(A.constant(7), A.constant(10))
    for scan, expected in (
        (A.scanl1(written, digits), [1, 12, 123]),
        (A.scanr1(written, digits), [123, 23, 3]),
        (A.scanl(written, seed, digits), [7, 71, 712, 7123]),
        (A.scanr(written, seed, digits), [1237, 237, 37, 7]),
        (A.postscanl(written, seed, digits), [71, 712, 7123]),
        (A.postscanr(written, seed, digits), [1237, 237, 37]),
        (A.prescanl(written, seed, digits), [7, 71, 712]),
    ):
        check(A.unzip(scan)[0], np.array(expected))
    check(A.unit(A.the(A.fold(written, seed, digits))[0]), np.int64(7123))


def test_filter() -> None:
    kept, counts = A.filter(lambda x: A.even(A.truncate(x)), A.use(M))
    check(kept, M[M % 2 == 0])
    check(counts, np.array([2, 2, 2]))
    none, zero = A.filter(lambda x: x < 0, A.use(V))
    check(none, np.zeros(0, np.int32))
    check(zero, np.int64(0))


def test_permutations() -> None:
    def place(ix: A.Exp[tuple[int]]) -> A.Exp[A.Maybe[tuple[int]]]:
        return A.cond(ix[0] < 4, A.just(A.index(ix[0] // 2)), A.nothing())

    check(A.permute(A.add, A.fill((3,), np.int32(100)), place, A.use(V)), np.array([104, 105, 100], np.int32))
    targets = A.use(np.array([2, 0, 2, 1, 2, 0]))
    replaced = A.scatter(targets, A.fill((4,), np.int32(-1)), A.use(V))
    check(replaced, np.array([9, 1, 5, -1], np.int32))
    counted = A.scatterWith(A.add, A.fill((3,), 0), A.map(lambda i: A.lift(i, A.constant(1)), targets))
    check(counted, np.array([2, 1, 3]))

    def diagonal(ix: A.Exp[tuple[int]]) -> A.Exp[tuple[tuple[int, int], np.float64]]:
        return A.lift(A.index(ix[0], ix[0]), A.constant(1.0))

    check(A.scatterWith(A.add, A.fill((3, 3), 0.0), A.generate((3,), diagonal)), np.eye(3))


def test_sizes_and_elements() -> None:
    ms = A.use(M)
    check(A.unit(A.size(ms)), np.int64(12))
    check(A.unit(A.length(A.use(V))), np.int64(6))
    check(A.unit(A.null(A.use(EMPTY))), np.bool_(True))
    check(A.unit(ms[1, 2]), np.float64(6))
    check(A.unit(A.use(V)[A.the(A.unit(3))]), np.int32(1))
    check(A.unit(A.linearIndex(ms, 7)), np.float64(7))
    check(A.unit(A.unlift(A.shape(A.use(T)))[1]), np.int64(3))
    check(A.unit(A.shapeSize(A.intersect(ms.shape, A.index(5, 2)))), np.int64(6))
    check(A.unit(A.toIndex(ms.shape, A.index(2, 1))), np.int64(9))
    check(A.unit(A.indexHead(A.fromIndex(ms.shape, 9))), np.int64(1))
    # A shape is a Python tuple as well, of numbers and expressions.
    check(A.unit(A.toIndex((3, A.constant(4)), (2, 1))), np.ravel_multi_index((2, 1), (3, 4)))
    check(A.unit(A.indexHead(A.fromIndex((3, 4), 9))), np.unravel_index(9, (3, 4))[1])
    check(A.unit(A.shapeSize(A.intersect((2, 5), ms.shape))), np.int64(8))
    check(A.unit(A.shapeSize((2, -3))), np.int64(0))
    check(A.unit(A.shapeSize(A.index(A.length(A.flatten(ms)) - 100, -4))), np.int64(0))


def test_control() -> None:
    xs, ys = A.use(V), A.use(V[::-1].copy())
    check(A.acond(A.the(A.unit(False)), xs, ys), V[::-1])
    first, (second, third) = nested(xs, ys)
    check(first, V)
    check(second, V[::-1])
    check(third, np.int32(23))
    doubled = A.awhile(lambda s: A.map(lambda t: t < 100, A.sum(s)), lambda s: A.map(lambda x: x * 2, s), xs)
    check(doubled, V * 8)
    _, steps = A.awhile(
        lambda s: A.map(lambda k: k < 3, s[1]),
        lambda s: (A.map(lambda x: x + A.the(s[1]), s[0]), A.map(lambda k: k + 1, s[1])),
        (A.use(np.arange(3)), A.unit(0)),
    )
    check(steps, np.int64(3))
    check(A.iterate(3, lambda s: A.tail(s), xs), V[3:])
    check(A.iterate(-1, lambda s: A.tail(s), xs), V)
    check(A.compute(xs), V)


def nested(xs: Any, ys: Any) -> Any:
    """A nested tuple of arrays; its type is beyond the overloads."""
    acond: Any = A.acond
    return acond(A.the(A.unit(True)), (xs, (ys, A.sum(xs))), (ys, (xs, A.sum(ys))))


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: UNTYPED.iterate(2, A.sum, A.use(np.arange(3))), "iterate's start and function must have one type"),
        (
            lambda: UNTYPED.iiterate(2, lambda i, x: x > i, A.constant(1)),
            "the function of iiterate must be i64, got bool",
        ),
        (
            lambda: UNTYPED.iterate(2, lambda s: (s[0],), (A.unit(1), A.unit(1))),
            r"iterate's function gets \(array, array\)",
        ),
        (
            lambda: UNTYPED.iterate(2, lambda s: None, A.constant(1)),
            "the result of the function of iterate must be an Exp",
        ),
    ],
)
def test_what_iterates_function_gives_is_told_in_its_words(mistake: Callable[[], object], message: str) -> None:
    with pytest.raises(A.AccelTypeError, match=message):
        mistake()


def test_an_array_without_outer_variables_may_stand_in_a_function() -> None:
    check(A.map(lambda x: x + A.the(A.unit(np.int32(3))), A.use(V)), V + 3)
