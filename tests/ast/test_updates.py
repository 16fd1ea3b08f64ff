"""Parts that are replaced, as NumPy's slices pick them, and several folds in one pass."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.ast.evaluation import check, values
from tests.marks import long

M = np.arange(20.0).reshape(4, 5)
ENDS = (None, 0, 1, 3, 9, -1, -3, -9)


def untyped(value: object) -> Any:
    """What mypy refuses, too."""
    return value


@pytest.mark.parametrize("step", [None, 1, 2, -1, -2])
@pytest.mark.parametrize(
    ("extent", "every"), [(0, 3), (1, 3), (5, 2), *(pytest.param(extent, 1, marks=long) for extent in (0, 1, 5))]
)
def test_every_slice_picks_what_numpy_picks(extent: int, every: int, step: int | None) -> None:
    """With ends that are known while the program is built, and with those that are not; one pair of ends in so many."""
    given = np.arange(extent)
    later = A.fold(A.add, 0, A.use(np.array([1])))
    for number, (start, stop) in enumerate(list(itertools.product(ENDS, ENDS))[::every]):
        expected = given.copy()
        replaced = np.arange(len(given[start:stop:step])) + 100
        expected[start:stop:step] = replaced
        ends = [end if end is None or number % 3 else A.the(later) * end for end in (start, stop)]
        check(A.update(A.use(given), slice(ends[0], ends[1], step), A.use(replaced)), expected)


def test_rectangles() -> None:
    expected = M.copy()
    expected[1:3, ::2] = M[:2, :3] * 10
    rectangle = A.map(lambda x: x * 10, A.take(3, A.takeOn(0, 2, A.use(M))))
    check(A.update(A.use(M), (slice(1, 3), slice(None, None, 2)), rectangle), expected)
    expected = M.copy()
    expected[::-1] = M
    check(A.update(A.use(M), (slice(None, None, -1),), A.use(M)), expected)
    check(A.update(A.unit(1), (), A.unit(2)), np.array(2))


@pytest.mark.parametrize("later", [False, True])
def test_places(later: bool) -> None:
    """As NumPy's; known while the program is built, and not."""
    zero = A.the(A.fold(A.add, 0, A.use(np.array([0]))))
    cube = np.arange(24.0).reshape(2, 3, 4)
    for view in (
        (1,),
        (-1, 2),
        (0, 1, 3),
        (slice(None), -2),
        (slice(None), slice(1, 3), 0),
        (1, slice(None, None, -1), 2),
    ):
        expected = cube.copy()
        replaced = np.full(expected[view].shape, 0.5) + np.arange(expected[view].size).reshape(expected[view].shape)
        expected[view] = replaced
        given = tuple([each if isinstance(each, slice) else each + zero if later else each for each in view])
        check(A.update(A.use(cube), untyped(given), A.use(replaced)), expected)
    check(A.update(A.use(M), untyped((A.All, np.int8(2))), A.fill((4,), 7.0)), np.where(np.arange(5) == 2, 7.0, M))
    check(A.update(A.use(M[:0]), (slice(None), 1), A.fill((0,), 7.0)), M[:0])
    check(A.update(A.use(M), untyped((slice(0, 0), 9)), A.fill((0,), 7.0)), M)  # no element lies outside


@pytest.mark.solver
@pytest.mark.llvm
def test_a_row_that_a_turn_makes_is_written_by_the_loop_that_makes_it() -> None:
    def sums(m: A.Acc[A.Matrix[np.float64]]) -> Any:
        def turn(t: A.Exp[np.int64], state: Any) -> Any:
            total, out = state
            found = A.imap(lambda ix, x: x + m[t, ix[0]], total)
            return found, A.update(out, t, found)

        rows, columns = A.unlift(m.shape)
        return A.iiterate(rows, turn, (A.fill((columns,), 0.0), A.fill((rows, columns), 0.0)))[1]

    np.testing.assert_array_equal(A.run(sums(A.use(M))), np.cumsum(M, axis=0))
    text = A.explain(sums, M).stages["ir"]
    body = text[text.index("  do") :]
    assert body.count(" nest ") == 3  # the counter, the copy before the first turn, and the row


@pytest.mark.solver
@pytest.mark.llvm
def test_it_is_in_place_where_nobody_else_reads_the_old_version() -> None:
    """One loop makes the array, one changes a part of it; a copy of an argument is made in the first."""

    def changed(m: A.Acc[A.Matrix[np.float64]], v: A.Acc[A.Matrix[np.float64]]) -> A.Acc[A.Matrix[np.float64]]:
        return A.update(A.map(lambda x: x + 1, m), (slice(1, None),), A.map(lambda x: x * 2, v))

    explained = A.explain(changed, M, M[1:])
    assert explained.loops == 2
    assert "copy" not in explained.stages["labelled"]
    for backend in ("llvm", "interpreter"):
        found = A.run(changed(A.use(M), A.use(M[1:])), backend=untyped(backend))
        np.testing.assert_array_equal(found, np.concatenate([M[:1] + 1, M[1:] * 2]))
    kept = A.use(M)
    first, second = A.run((A.update(kept, (slice(0, 2),), A.fill((2, 5), 0.0)), A.map(lambda x: x, kept)))
    assert first[0, 1] == 0.0
    np.testing.assert_array_equal(second, M)


def test_what_is_no_view() -> None:
    m = A.use(M)
    with pytest.raises(A.AccelShapeError, match=r"update needs arrays of equal shape, got \(2, 5\) and \(4, 5\)"):
        A.update(m, slice(0, 2), m)
    with pytest.raises(A.AccelShapeError, match=r"update needs arrays of equal shape, got \(3, 5\) and \(4, 5\)"):
        values(A.update(m, slice(0, A.the(A.unit(3))), m))
    with pytest.raises(A.AccelValueError, match="a step of 0"):
        A.update(m, (slice(0, 2, 0),), m)
    with pytest.raises(
        A.AccelTypeError, match=r"needs an int as a step(.|\n)*hint: where a step is computed choose by the index"
    ):
        A.update(m, (slice(0, 2, A.constant(1)),), m)
    for wrong, said in ((1.5, "the Python float 1.5"), (True, "the Python bool True"), (A.constant(1.0), "f64")):
        with pytest.raises(A.AccelTypeError, match=f"update needs a tuple of slices and places, got {said}"):
            A.update(m, untyped((wrong,)), m)
    with pytest.raises(A.AccelTypeError, match="update replaces a part of rank 1, got values of rank 2"):
        A.update(m, 1, m)
    with pytest.raises(A.AccelShapeError, match=r"update needs arrays of equal shape, got \(5,\) and \(4,\)"):
        A.update(m, 1, A.fill((4,), 0.0))
    for outside in (4, -5):
        with pytest.raises(A.AccelIndexError, match="is out of bounds for an array of shape"):
            values(A.update(m, outside, A.fill((5,), 0.0)))
    with pytest.raises(A.AccelTypeError, match="update by 3 slices of an array of rank 2"):
        A.update(m, (slice(1),) * 3, m)
    with pytest.raises(A.AccelTypeError, match="the end of a slice of update must be i64"):
        A.update(m, (slice(0.5),), m)
    with pytest.raises(A.AccelTypeError, match="one element type"):
        A.update(m, slice(0, 4), untyped(A.use(M > 1)))


MEAN = A.Fold.sum(np.float64) / A.Fold.length(np.float64)


def squared(x: A.Exp[np.float64]) -> A.Exp[np.float64]:
    return x * x


SQUARES = A.Fold(squared, A.add, 0.0) / A.Fold.length(np.float64)
VARIANCE = SQUARES.zipWith(lambda s, m: s - m * m, MEAN)


def test_several_folds() -> None:
    check(A.runFold(MEAN, A.use(M)), M.mean(axis=1))
    spread = A.Fold.maximum(np.int64) - A.Fold.minimum(np.int64)
    check(A.runFold(1 + 2 * spread, A.use(np.array([[3, 9, 5], [1, 1, 1]]))), np.array([13, 1]))
    check(A.runFold(2.0 / (MEAN - 1.0), A.use(np.array([2.0, 4.0]))), np.float64(1))
    check(A.runFold(3.0 - MEAN * MEAN + MEAN, A.use(np.array([2.0, 4.0]))), np.float64(-3))
    check(A.runFold(A.Fold.product(np.float64).map(A.sqrt), A.use(np.array([2.0, 8.0]))), np.float64(4))
    check(A.runFold(A.Fold.length(np.int64), A.use(M > 1)), np.full(4, 5))
    check(A.runFold(A.Fold.sum(np.float64), A.use(M[:, :0])), np.zeros(4))


@pytest.mark.solver
@pytest.mark.llvm
def test_mean_and_variance_of_columns_in_one_pass() -> None:
    def statistics(xs: A.Acc[A.Matrix[np.float64]]) -> Any:
        return A.runFold(MEAN.zipWith(lambda m, v: A.lift(m, v), VARIANCE), A.transpose(xs))

    explained = A.explain(statistics, M)
    assert explained.loops == 1
    assert [count for size, count in explained.reads.items() if "*" in size] == [1]
    mean, variance = A.run(statistics(A.use(M)))
    np.testing.assert_allclose(mean, M.mean(axis=0))
    np.testing.assert_allclose(variance, M.var(axis=0))


def test_folds_put_together_by_a_loop_do_not_recurse() -> None:
    fold = A.Fold.sum(np.int64)
    for _ in range(2000):
        fold = fold + 1
    check(A.runFold(fold, A.use(np.array([1, 2]))), np.int64(2003))


def test_what_is_no_fold() -> None:
    with pytest.raises(A.AccelTypeError, match=r"Fold\.sum is of elements of type f64, got f32"):
        A.runFold(MEAN, untyped(A.use(np.ones(3, np.float32))))
    with pytest.raises(A.AccelTypeError, match="runFold takes a Fold, got the Python int 3"):
        A.runFold(untyped(3), A.use(M))
    with pytest.raises(A.AccelTypeError, match="a function of runFold must take 1 argument"):
        A.runFold(MEAN.map(untyped(lambda: 1)), A.use(M))
    with pytest.raises(A.AccelValueError, match="runFold of an empty row"):
        values(A.runFold(A.Fold.minimum(np.float64), A.use(M[:, :0])))
    with pytest.raises(A.AccelTypeError, match="rank 0"):
        A.runFold(MEAN, untyped(A.unit(1.0)))
