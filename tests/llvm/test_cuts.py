"""Loops that are cut where conditions on their index are decided: the same results as element by element, wherever that is."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.explanation.explain import subject
from accel.ir.mentions import nests
from accel.schedule.splitting.pieces import Cut, Pieces, pieces
from accel.settings import changed

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

Vector: TypeAlias = A.Acc[A.Vector[np.float32]]
Matrix: TypeAlias = A.Acc[A.Matrix[np.float64]]
Compared: TypeAlias = Callable[[Any, Any], Any]

RANDOM = np.random.default_rng(1402001)


def count(found: Pieces | None) -> int:
    """How many pieces there are; 0 if the loop is not cut."""
    if found is None:
        return 0
    return count(found.below) + count(found.above) if isinstance(found, Cut) else 1


def pieces_of(program: Callable[..., Any], *arguments: Any) -> list[int]:
    """Of each nest of a program."""
    return [count(pieces(nest)) for nest in nests(subject(program, arguments, changed({})).staged.loops)]


def chain(*parts: Vector) -> Vector:
    return reduce(A.append, parts)


def vectors(lengths: Sequence[int]) -> list[np.ndarray[tuple[int], np.dtype[np.float32]]]:
    return [RANDOM.standard_normal(length).astype(np.float32) for length in lengths]


def test_what_is_appended_has_a_piece_for_each_part() -> None:
    assert pieces_of(chain, *vectors([9] * 5)) == [5]
    assert pieces_of(lambda xs, ys: A.map(A.exp, A.append(A.reverse(xs), ys)), *vectors([9, 9])) == [2]


def test_cheap_selections_are_no_cuts() -> None:
    assert pieces_of(lambda xs: A.imap(lambda ix, x: A.cond(ix[0] < 200, x, -x), xs), *vectors([9])) == [0]


def test_there_are_not_too_many_pieces() -> None:
    assert all(0 < found <= 25 for found in pieces_of(chain, *vectors([9] * 60)))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "lengths",
    [
        [0, 0], [0, 5], [5, 0], [1, 1, 1], [15, 16, 17], [31, 0, 1, 33], [64, 64, 64], [1000, 3, 1, 999], [7] * 23, [3] * 40,
        [70_001, 1, 29_999],
    ],
)  # fmt: skip
def test_appends_are_numpys(lengths: list[int], threads: int) -> None:
    given = vectors(lengths)
    found = A.runN(chain, threads=threads)(*given)
    np.testing.assert_array_equal(found, np.concatenate(given))


def rooted(xs: Vector) -> Vector:
    return A.map(lambda x: A.sqrt(x) * 3 + 1, xs)


PARTS: tuple[Callable[[Vector], Vector], ...] = (
    lambda xs: A.map(A.sin, xs),
    lambda ys: A.map(lambda y: y / 0, ys),
    A.reverse,
)


def computed(*given: Vector) -> Vector:
    """Parts that are computed, and not a number here and there."""
    return rooted(chain(*(part(each) for part, each in zip(PARTS, given, strict=True))))


def test_parts_that_are_computed_are_what_they_are_alone() -> None:
    for lengths in ([40, 41, 42], [100, 0, 3], [0, 0, 0], [1, 200, 1]):
        given = vectors(lengths)
        alone = [A.runN(lambda xs, part=part: rooted(part(xs)))(x) for part, x in zip(PARTS, given, strict=True)]
        np.testing.assert_array_equal(A.runN(computed)(*given), np.concatenate(alone))


COMPARED = (operator.lt, operator.le, operator.gt, operator.ge)
EDGES = (-(2**63), -(2**62), -1, 0, 1, 15, 16, 17, 40, 99, 100, 101, 2**62, 2**63 - 1)


@pytest.mark.parametrize("compared", COMPARED)
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("shift", [0, 3, -3])
def test_numbers_from_data_cut_anywhere(compared: Compared, mirrored: bool, shift: int) -> None:
    """Also where a number plus what is added to the index is no i64."""

    def program(xs: Vector, at: A.Acc[A.Scalar[np.int64]]) -> Vector:
        def element(ix: Any, x: Any) -> Any:
            index, end = ix[0] + shift, A.the(at)
            condition = compared(end, index) if mirrored else compared(index, end)
            other = A.length(xs) - 1 - ix[0]
            return A.cond(condition, x * xs[other], xs[A.max(ix[0] // 2, 0)] - A.exp(xs[other]) / x)

        return A.imap(element, xs)

    given = vectors([100])[0]
    assert max(pieces_of(program, given, np.array(1))) == 2
    run, expected = A.runN(program), A.runN(program, backend="interpreter")
    for edge in EDGES:
        at = np.array(edge)
        np.testing.assert_allclose(run(given, at), expected(given, at), rtol=1e-4, atol=1e-5)
        assert run(given[:0], at).shape == (0,)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("columns", [1, 2, 5, 40, 130])
def test_matrices_are_cut_along_rows_and_across(axis: int, columns: int) -> None:
    def program(xs: Matrix, ys: Matrix) -> Matrix:
        whole = A.concatOn(axis, xs, ys)
        return A.imap(lambda ix, x: x * 2 + A.toFloating(ix[0] + ix[1], np.float64), whole)

    for rows, other in ((1, 3), (6, 4), (30, 17)):
        shapes = [(rows, columns), (other, columns)] if axis == 0 else [(rows, columns), (rows, other)]
        xs, ys = (RANDOM.standard_normal(shape) for shape in shapes)
        whole = np.concatenate([xs, ys], axis)
        expected = whole * 2 + np.add.outer(np.arange(whole.shape[0]), np.arange(whole.shape[1]))
        np.testing.assert_array_equal(A.runN(program)(xs, ys), expected)


def test_a_condition_without_the_index_is_on_one_side() -> None:
    def program(xs: Vector, on: A.Acc[A.Scalar[np.bool_]]) -> Vector:
        return A.imap(lambda ix, x: A.cond(A.the(on), xs[A.length(xs) - 1 - ix[0]], x + A.exp(xs[ix[0] // 2])), xs)

    given = vectors([77])[0]
    assert max(pieces_of(program, given, np.array(True))) == 2
    for on in (True, False):
        found = A.runN(program)(given, np.array(on))
        expected = given[::-1] if on else given + np.exp(given[np.arange(77) // 2])
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_an_index_out_of_bounds_is_an_error_in_its_piece_only() -> None:
    def program(xs: Vector, ys: Vector, at: A.Acc[A.Scalar[np.int64]]) -> Vector:
        return A.imap(lambda ix, x: A.cond(ix[0] < A.the(at), x, ys[ix[0] - A.the(at)]), xs)

    xs, ys = vectors([50, 20])
    run = A.runN(program)
    np.testing.assert_array_equal(run(xs, ys, np.array(30)), np.concatenate([xs[:30], ys]))
    with pytest.raises(A.AccelIndexError, match="20"):
        run(xs, ys, np.array(29))
    with pytest.raises(A.AccelIndexError):
        run(xs, ys, np.array(-1))


@pytest.mark.slow
def test_what_is_stored_past_the_caches_is_cut() -> None:
    given = vectors([5_000_001, 12, 4_999_987, 3])
    np.testing.assert_array_equal(A.runN(chain, threads=2)(*given), np.concatenate(given))


@pytest.mark.parametrize("doublings", [3, 4, 5, 50])
def test_an_index_plus_many_extents_is_compared_as_it_is(doublings: int) -> None:
    """Of so many that the sum could wrap around no cut is made."""

    def chosen(xs: Vector, bound: A.Acc[A.Scalar[np.int64]]) -> Vector:
        def element(ix: A.Exp[tuple[int]], x: A.Exp[np.float32]) -> A.Exp[np.float32]:
            size = A.length(xs)
            many = size
            for _ in range(doublings):
                many = many + many
            other = xs[size - 1 - ix[0]]
            return A.cond(ix[0] + many < A.the(bound), x * other, xs[ix[0] // 2] - other / x)

        return A.imap(element, xs)

    xs = np.arange(1024, dtype=np.float32) + 1
    assert pieces_of(chosen, xs, np.int64(0)) == [2 if doublings < 5 else 0]
    for bound in ((1024 << doublings) + 5, 2**60 + 5):
        wanted = A.runN(chosen, backend="interpreter")(xs, np.int64(bound))
        np.testing.assert_array_equal(A.runN(chosen, threads=1)(xs, np.int64(bound)), wanted)
