"""Regressions that Accelerate pins in its test suite, by the number of the issue, as far as the vocabulary goes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import pytest

import accel as A
from tests.labelled.programs import AnyAcc, AnyExp, run, run_all, same, use


def always(index: AnyExp) -> AnyExp:
    return A.just(index)


def lifted(leaves: Iterable[AnyExp]) -> AnyExp:
    return A.lift(*leaves)


def items(of: AnyExp) -> tuple[AnyExp, ...]:
    return A.unlift(of)


def test_93_permute_const_of_one_element() -> None:
    xs = use(np.array([[5]]))
    same(run(A.permute(lambda new, old: new, A.fill((1, 1), 0), always, xs)), [[5]])


def test_102_reshape_of_a_fused_fold() -> None:
    """The discrete Fourier transform of (0, 2, 2) has as many elements at every stage; here: sums of products, reshaped."""
    v = np.array([0.0, 2.0, 2.0])
    ones = A.generate((3, 3), lambda ix: A.constant(1.0, np.float64))
    summed = A.fold(A.add, 0, A.zipWith(A.mul, ones, A.replicate((3, A.All), use(v))))
    same(run(A.reshape((1, 3, 1), summed)), [[[4.0], [4.0], [4.0]]])


def test_114_compensated_sums() -> None:
    """`fold1` and `scanl1` with an operator on (value, error) that is associative enough."""

    def plus(a: AnyExp, b: AnyExp) -> AnyExp:
        total = a[0] + b[0]
        part = total - a[0]
        error = (a[0] - (total - part)) + (b[0] - part)
        return A.lift(total, a[1] + b[1] + error)

    xs = A.map(lambda x: A.lift(x, 0.0), use(np.full(100, 1.01)))
    value, error = run_all(A.fold1(plus, xs))
    assert value + error == pytest.approx(101, rel=1e-15)
    values, errors = run_all(A.scanl1(plus, xs))
    np.testing.assert_allclose(values + errors, np.arange(1, 101) * 1.01, rtol=1e-14)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(5, 28), (28, 5)])
def test_119_whole_folds(shape: tuple[int, int], kind: type[np.signedinteger]) -> None:
    x = np.arange(140, dtype=kind).reshape(shape)
    same(run(A.foldAll(A.add, 0, use(x))), kind(x.sum()))
    same(run(A.fold(A.add, 0, use(x))), x.sum(-1, dtype=kind))


def test_123_fold_of_fill() -> None:
    same(run(A.fold(A.add, 0, A.fill((100,), 1))), np.int64(100))


def test_168_scalar_iteration_over_tuples() -> None:
    pair = A.map(lambda x: A.iterate(1, lambda p: A.lift(p[0] + 1, p[0]), A.lift(x, x)), use(np.array([2])))
    same(run_all(pair)[0], [3])
    same(run_all(pair)[1], [2])

    def rotate(p: AnyExp) -> AnyExp:
        return lifted(reversed(items(p)))

    six = A.unit(A.iterate(1, rotate, A.lift(6, 5, 4, 3, 2, 1)))
    assert [int(leaf) for leaf in run_all(six)] == [1, 2, 3, 4, 5, 6]


def test_185_scatter_and_gather() -> None:
    to, values = use(np.array([1, 3, 7, 2, 5, 8])), np.array([1, 9, 6, 4, 4, 2, 5])
    zeros = A.fill((9,), 0)
    same(run(A.scatter(to, zeros, use(values[:6]))), [0, 1, 4, 9, 0, 4, 0, 6, 2])
    at = np.array([1, 3, 7, 2, 5, 3])
    source = np.array([1, 9, 6, 4, 4, 2, 0, 1, 2])
    same(run(A.gather(use(at), use(source))), source[at])


def affine(a: AnyExp, b: AnyExp) -> AnyExp:
    """Composition of functions x -> a x + b: associative, not commutative."""
    return A.lift(a[0] * b[0], a[0] * b[1] + a[1])


def test_228_order_is_kept() -> None:
    xs = A.zip(use(np.array([1, 0, 1])), use(np.array([1, 0, 1])))
    for folded in (A.fold(affine, A.lift(1, 0), xs), A.fold1(affine, xs)):
        assert [int(leaf) for leaf in run_all(folded)] == [0, 1]


def test_264_identities_of_the_simplifier() -> None:
    flags, numbers = np.array([True, False]), np.arange(-3, 4)
    same(run(A.map(lambda b: ~~b, use(flags))), flags)
    same(run(A.map(lambda b: ~(b & b), use(flags))), ~flags)
    same(run(A.map(lambda b: ~(b | ~b), use(flags))), [False, False])
    same(run(A.map(lambda x: A.neg(A.neg(x)), use(numbers))), numbers)


def test_287_scans_of_wide_tuples() -> None:
    zeros = use(np.zeros(50, np.int64))
    wide: AnyAcc = A.map(lambda x: A.lift(x, x, x, x, x, x), zeros)
    for leaf in run_all(A.scanl1(lambda a, b: lifted(items(a)), wide)):
        same(leaf, np.zeros(50, np.int64))


def test_288_a_loop_without_steps() -> None:
    pair = A.zip(use(np.arange(3)), use(np.arange(3.0)))
    never = A.constant(False, np.bool_)
    found = run_all(A.map(lambda p: A.while_(lambda _: never, lambda q: q, p), pair))
    same(found[0], np.arange(3))
    same(found[1], np.arange(3.0))


def test_362_prefix_sums_of_tuples() -> None:
    x = np.arange(10)
    five: AnyAcc = A.map(lambda v: A.lift(v, v + 1, v + 2, v + 3, v + 4), use(x))
    sums = run_all(A.scanl1(lambda a, b: lifted(x + y for x, y in zip(items(a), items(b), strict=True)), five))
    for i, leaf in enumerate(sums):
        same(leaf, (x + i).cumsum())


@pytest.mark.parametrize("count", [64, 65])
def test_364_scans_across_blocks(count: int) -> None:
    """The interval monoid: [a, b] then [c, d] is [a, d], and empty where they do not touch."""

    def join(a: AnyExp, b: AnyExp) -> AnyExp:
        touch = (a[1] + 1) == b[0]
        return A.cond(touch, A.lift(a[0], b[1]), A.lift(1, 0))

    x = np.arange(1, count + 1)
    points = A.zip(use(x), use(x))
    low, high = run_all(A.scanl(join, A.lift(0, 0), points))
    same(low, np.zeros(count + 1, np.int64))
    same(high, np.arange(count + 1))


def test_407_is_nan_and_is_infinite() -> None:
    x = np.array([np.nan, -np.inf, np.nan, 0.1, np.inf, 0.5, np.inf])
    same(run(A.map(A.isNaN, use(x))), np.isnan(x))
    same(run(A.map(A.isInfinite, use(x))), np.isinf(x))


def test_409_a_variable_in_two_places() -> None:
    def body(x: AnyExp) -> AnyExp:
        y = A.recip(x)
        return y + A.tanh(-y * y)

    (found,) = run_all(A.map(body, use(np.array([1.0]))))
    assert found[0] == pytest.approx(1 + np.tanh(-1), rel=1e-15)


@pytest.mark.parametrize("shape", [(3, 8), (0, 8), (3, 0), (5, 1)])
def test_427_indices_of_true(shape: tuple[int, int]) -> None:
    mask = np.arange(shape[0] * shape[1]).reshape(shape) % 3 == 0
    flagged: AnyAcc = A.imap(lambda ix, b: A.lift(A.unindex(ix)[0], A.unindex(ix)[1], b), use(mask))
    rows, columns, _, _ = run_all(*A.filter(lambda p: items(p)[2], flagged))
    same(rows, np.nonzero(mask)[0])
    same(columns, np.nonzero(mask)[1])


def test_436_filter_that_keeps_all_of_a_part() -> None:
    yes = A.constant(True, np.bool_)
    kept, count = run_all(*A.filter(lambda _: yes, A.take(3, use(np.arange(5)))))
    same(kept, [0, 1, 2])
    assert count == 3
    kept, counts = run_all(*A.filter(lambda _: yes, A.take(3, use(np.arange(25).reshape(5, 5)))))
    assert kept.shape == (15,)
    same(counts, [3] * 5)


def test_439_compute_twice() -> None:
    once: AnyAcc = A.compute(A.fill((), 1))
    same(run(A.compute(A.map(lambda x: x * 2, once))), np.int64(2))


def test_equal_functions_over_different_shapes_are_told_apart() -> None:
    """Accelerate's Misc.Cache."""
    numbers = np.arange(30) % 10
    shapes = [(7,), (12,), (30,)]
    parts = [A.generate(shape, lambda ix: use(numbers)[A.unindex(ix)[0]]) for shape in shapes]
    for found, (extent,) in zip(run_all(*parts), shapes, strict=True):
        same(found, numbers[:extent])


def test_scanl1_of_many_rows() -> None:
    """Accelerate's Misc.Scanl1, smaller: each row is summed by itself."""
    x = np.arange(1, 17 * 31 + 1).reshape(17, 31)
    same(run(A.scanl1(A.add, use(x))), x.cumsum(1))


def test_minima_with_partial_functions() -> None:
    same(run(A.map(partial(A.min, 2), use(np.arange(4)))), [0, 1, 2, 2])
