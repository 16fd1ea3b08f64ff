"""Folds of what short rows, or columns, come to: in lanes, with the bits of the reference's order for every number of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F32, F64, I8, I64, ScalarType
from accel.labelled.meaning.order import BLOCK
from tests import untyped
from tests.guard_pages import guarded_copy
from tests.llvm import nests
from tests.llvm.test_short_rows import matrix
from tests.marks import long, numbers_of_threads, one_in, slow

Given: TypeAlias = Any  # one function for arrays of several types

ROWS, COLUMNS = "_short_rows_body(ptr %frame, ptr %records", "_windows_body(ptr %frame, ptr %records"


def text_of(program: Callable[..., Given], arrays: Sequence[Given]) -> str:
    """In as few loops as bytes allow."""
    return str(A.explain(program, *arrays, cost="memory").stages["llvm"])


def check(program: Callable[..., Given], arrays: Sequence[Given], where: str) -> None:
    """Bits of the interpreter's, for any number of threads; with such lanes."""
    assert where in text_of(program, arrays)
    built = program(*map(A.use, arrays))
    expected = untyped.run(built, backend="interpreter", cost="memory")
    for threads in numbers_of_threads():
        result = untyped.run(built, backend="llvm", threads=threads, cost="memory")
        for each, other in zip(_each(result), _each(expected), strict=True):
            assert each.tobytes() == other.tobytes()


def _each(result: object) -> Sequence[Given]:
    return [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]


INNER: dict[str, Callable[[Given], Given]] = {
    "a sum": A.sum,
    "a minimum": A.minimum,
    "a product": lambda x: A.fold1(A.mul, x),
    "sums of squares": lambda x: A.sum(A.map(lambda e: e * e, x)),
    "a place": A.argmax,
    "a difference": lambda x: A.fold1(A.sub, x),
}
"""What rows and columns come to; the last not in columns, in which elements would be combined one after the other."""

OUTER: dict[str, Callable[[Given], Given]] = {
    "a sum": A.sum,
    "a maximum": A.maximum,
    "a seed": lambda x: A.fold(A.add, 3, x),
    "a place": A.argmin,
}

COUNTS = [1, 7, 8, 9, 16, 31, 33, 64, 100, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 40, 2 * BLOCK + 17, 3 * BLOCK]


@pytest.mark.parametrize("inner", one_in(2, INNER))
@pytest.mark.parametrize("outer", one_in(2, OUTER))
@pytest.mark.parametrize("kind", one_in(2, [F32, F64, I8, I64]))
def test_folds_of_short_rows(inner: str, outer: str, kind: ScalarType) -> None:
    for rows in (1, 8, 17, 100, BLOCK + 5):
        check(lambda x: OUTER[outer](INNER[inner](x)), [matrix(kind, rows, 5)], ROWS)


@pytest.mark.parametrize("inner", one_in(2, [*INNER][:-1]))
@pytest.mark.parametrize("outer", one_in(2, OUTER))
@pytest.mark.parametrize("kind", one_in(2, [F32, F64, I8, I64]))
def test_folds_of_columns(inner: str, outer: str, kind: ScalarType) -> None:
    for columns in (300, BLOCK + 5):
        check(lambda x: OUTER[outer](INNER[inner](A.transpose(x))), [matrix(kind, 5, columns)], COLUMNS)


@pytest.mark.parametrize("count", one_in(3, COUNTS))
def test_numbers_of_rows_and_columns(count: int) -> None:
    for length in (1, 2, 13, 40):
        some = matrix(F32, count, length)
        check(lambda x: A.sum(A.map(lambda e: e + 1, A.minimum(x))), [some], ROWS)
        check(lambda x: A.sum(A.sum(x)), [some.astype(np.float64)], ROWS)
        check(lambda x: A.sum(A.map(lambda e: e + 1, A.minimum(A.transpose(x)))), [some.T.copy()], COLUMNS)
        check(lambda x: A.maximum(A.sum(A.transpose(x))), [some.T.astype(np.float64)], COLUMNS)


@pytest.mark.parametrize("length", [2, 9, 33, pytest.param(64, marks=long), pytest.param(150, marks=slow)])
def test_several_folds_at_once(length: int) -> None:
    """Of different lanes, beside each other and beside what is written for each row."""
    some, weights = matrix(F32, BLOCK + 77, length), nests.numbers(F32, BLOCK + 77, 3)

    def several(x: Given, w: Given) -> Given:
        sums, least = A.sum(x), A.minimum(x)
        wide = A.map(lambda e: A.toFloating(e, np.float64), least)
        return A.sum(sums), A.sum(wide), A.maximum(least), A.sum(A.zipWith(A.mul, sums, w)), least

    check(several, [some, weights], ROWS)
    check(lambda x, w: several(A.transpose(x), w)[:4], [some.T.copy(), weights], COLUMNS)


def test_bools_and_guards() -> None:
    some = matrix(F32, BLOCK + 3, 6)
    check(lambda x: A.or_(A.and_(A.map(lambda e: e > 20, x))), [some], ROWS)
    check(lambda x: A.and_(A.or_(A.map(lambda e: e > 20, A.transpose(x)))), [some.T.copy()], COLUMNS)
    check(lambda x: A.and_(A.or_(x)), [matrix(BOOL, 40, 6)], ROWS)


def test_what_is_chosen_of_rows() -> None:
    """The element behind the least one of each row: what follows a fold loads at data."""
    some = matrix(F64, 2 * BLOCK + 9, 6)

    def chosen(x: Given) -> Given:
        return A.sum(A.imap(lambda ix, k: x[A.index(A.unindex(ix)[0], (k + 1) % 6)], A.argmin(x)))

    check(chosen, [some], ROWS)


def nearest(points: Given, centres: Given) -> Given:
    """The sum of the least distances of points on a line."""
    shape = A.index(A.length(points), A.length(centres))

    def distance(ix: Given) -> Given:
        i, k = A.unindex(ix)
        return abs(points[A.index(i)] - centres[A.index(k)])

    return A.sum(A.minimum(A.generate(shape, distance)))


def windows(x: Given, weights: Given) -> Given:
    """The greatest sum of neighbours."""
    count = A.length(weights)

    def product(ix: Given) -> Given:
        i, k = A.unindex(ix)
        return x[A.index(k + i)] * weights[A.index(k)]

    return A.maximum(A.sum(A.generate(A.index(A.length(x) - count + 1, count), product)))


@pytest.mark.parametrize("kind", [F32, F64])
@pytest.mark.parametrize("count", one_in(2, [1, 5, 17, 33, 65, 100]))
def test_what_is_computed_of_indices(kind: ScalarType, count: int) -> None:
    for points in (257, 3 * BLOCK - 20):
        arrays = [nests.numbers(kind, points, 1), nests.numbers(kind, count, 2)]
        check(nearest, arrays, COLUMNS)
        check(windows, arrays, COLUMNS)


def apart(points: Given, centres: Given) -> Given:
    """The distances of points in a plane, written out, with what is loaded for every second point alone."""

    def distance(ix: Given) -> Given:
        i, k = A.unindex(ix)
        x, y = points[A.index(i, 0)] - centres[A.index(k, 0)], points[A.index(i, 1)] - centres[A.index(k, 1)]
        return x * x + A.cond(i % 2 == 0, y * points[A.index(i, 2)], y)

    return A.generate(A.index(A.unindex(A.shape(points))[0], A.unindex(A.shape(centres))[0]), distance)


@pytest.mark.parametrize("kind", [F32, F64])
@pytest.mark.parametrize("count", one_in(2, [1, 5, 17, 40]))
def test_what_lies_apart_is_loaded_before(kind: ScalarType, count: int) -> None:
    for points in (300, BLOCK + 40):
        some, centres = matrix(kind, points, 3), matrix(kind, count, 2)
        for given in (some, np.asfortranarray(some), some[::-1], np.repeat(some, 2, 0)[::2]):
            check(lambda x, c: A.sum(A.minimum(apart(x, c))), [given, centres], COLUMNS)
        check(lambda x, c: A.argmin(apart(x, c)), [some, centres], "_windows_found(i64")
        check(lambda x, c: A.sum(apart(x, c)), [some, centres], "_windows_found(i64")


def test_nothing_is_loaded_where_nothing_is_folded() -> None:
    """What lies outside is no error then."""
    none: np.ndarray[Any, np.dtype[Any]] = guarded_copy(True, np.ones((0, 2), np.float32))
    points, centres = A.use(np.ones((3, 3), np.float32)), A.use(none)

    def element(ix: Given) -> Given:
        i, k = A.unindex(ix)
        return points[A.index(i, 0)] * centres[A.index(k, 0)]

    built = A.sum(A.generate(A.index(1000, A.unindex(A.shape(centres))[0]), element))
    assert untyped.run(built, backend="llvm").tolist() == [0.0] * 1000


def test_folds_of_two_dimensions_in_lanes() -> None:
    image, weights = matrix(F32, 40, 700), matrix(F32, 3, 5)

    def patches(x: Given, w: Given) -> Given:
        def element(ix: Given) -> Given:
            i, a, b = A.unindex(ix)
            return x[A.index(a + 7, b + i)] * w[A.index(a, b)]

        return A.sum(A.sum(A.sum(A.generate(A.index(690, 3, 5), element))))

    check(patches, [image, weights], COLUMNS)


def test_what_lies_outside_raises() -> None:
    """Checks that fail in lanes are named as in rows."""
    x = A.use(np.ones(500, np.float32))

    def beyond(ix: Given) -> Given:
        i, k = A.unindex(ix)
        return x[A.index(i + k)]

    built = A.sum(A.sum(A.generate(A.index(499, 4), beyond)))
    for backend in ("llvm", "interpreter"):
        with pytest.raises(A.AccelIndexError):
            untyped.run(built, backend=backend)


def test_no_elements() -> None:
    none = A.use(np.ones((0, 5), np.float32))
    assert untyped.run(A.sum(A.minimum(none)), backend="llvm") == 0
    with pytest.raises(A.AccelError, match="maximum"):
        untyped.run(A.maximum(A.sum(none)), backend="llvm")
    with pytest.raises(A.AccelError, match="minimum"):
        untyped.run(A.sum(A.minimum(A.use(np.ones((50, 0), np.float32)))), backend="llvm")


def test_what_does_not_run_in_lanes() -> None:
    """Outer folds that do not commute, and scans."""
    some = np.ones((50, 5), np.float32)
    for program in (lambda x: A.fold1(A.sub, A.sum(x)), lambda x: A.scanl1(A.add, A.sum(x))):
        assert ROWS not in text_of(program, [some])
        assert COLUMNS not in text_of(lambda x, program=program: program(A.transpose(x)), [some])
