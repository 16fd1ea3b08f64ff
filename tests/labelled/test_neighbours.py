"""Loads whose indices differ by constants only are one pass over an array, however an index is kept in bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.labelled.nodes import Use
from accel.labelled.scalars.neighbours import passes
from tests.labelled.programs import AnyAcc, AnyExp, program

XS = np.arange(12)
ROWS = XS.reshape(3, 4)


def counted(result: AnyAcc) -> list[int]:
    """Passes over the first array, operation by operation, where there are any loads."""
    made = program((result,))
    first = next(binding.arrays[0] for binding in made.bindings if isinstance(binding.operation, Use))
    found = [passes(binding.operation) for binding in made.bindings]
    return [each[first] for each in found if first in each]


def of_vector(*at: Callable[[AnyExp, AnyExp], AnyExp]) -> AnyAcc:
    """The sum of what an array has at some indices, each a function of the place and the length."""
    xs = A.use(XS)
    n = A.size(xs)

    def element(ix: AnyExp) -> AnyExp:
        loads = [xs[A.index(index(A.unindex(ix)[0], n))] for index in at]
        return sum(loads[1:], loads[0])

    return A.generate(A.index(5), element)


def clamp(i: AnyExp, n: AnyExp) -> AnyExp:
    return A.max(A.min(i, n - 1), 0)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ([lambda i, n: i], 1),
        ([lambda i, n: i, lambda i, n: i + 1, lambda i, n: i + 7], 1),
        ([lambda i, n: clamp(i - 1, n), lambda i, n: i, lambda i, n: clamp(i + 1, n)], 1),
        ([lambda i, n: A.mod(i - 1, n), lambda i, n: i, lambda i, n: A.mod(i + 1, n)], 1),
        ([lambda i, n: A.cond(i > 0, i - 1, n - 1), lambda i, n: i], 1),
        ([lambda i, n: A.cond(i > 0, i - 1, A.quot(i, 2)), lambda i, n: i], 2),
        ([lambda i, n: i, lambda i, n: n - 1 - i], 2),
        ([lambda i, n: i, lambda i, n: 2 * i, lambda i, n: i + i + 1], 2),
        ([lambda i, n: i, lambda i, n: i + n - 5], 2),
        ([lambda i, n: i, lambda i, n: A.mod(i, 3)], 2),
    ],
)
def test_what_differs_by_constants_is_one_pass(at: list[Callable[[AnyExp, AnyExp], AnyExp]], expected: int) -> None:
    assert counted(of_vector(*at)) == [expected]


def test_the_pass_of_an_element_s_own_neighbours_is_the_stream() -> None:
    """Of a map with an index: the element itself, those beside it, and those at the other end."""
    xs = A.use(XS)
    n = A.size(xs)

    def beside(ix: AnyExp, x: AnyExp) -> AnyExp:
        (i,) = A.unindex(ix)
        return x + xs[A.index(clamp(i - 1, n))] + xs[A.index(clamp(i + 1, n))]

    def opposite(ix: AnyExp, x: AnyExp) -> AnyExp:
        return x + xs[A.index(n - 1 - A.unindex(ix)[0])]

    assert counted(A.imap(beside, xs)) == [0]
    assert counted(A.imap(opposite, xs)) == [1]


def test_rows_and_columns_are_told_apart() -> None:
    xs = A.use(ROWS)
    rows, columns = A.unlift(xs.shape)

    def around(ix: AnyExp) -> AnyExp:
        i, j = A.unindex(ix)
        return xs[A.index(clamp(i - 1, rows), j)] + xs[A.index(i, clamp(j + 1, columns))] + xs[A.index(j, i)]

    assert counted(A.generate(A.index(3, 3), around)) == [2]


def test_what_is_looked_up_is_a_place_of_its_own() -> None:
    """An index that is an element, and the one after it; the element of another array."""
    xs, at, other = A.use(XS), A.use(XS[::-1].copy()), A.use(XS + 0)
    found = A.zipWith(lambda i, j: xs[A.index(i)] + xs[A.index(A.mod(i + 1, A.size(xs)))] + xs[A.index(j)], at, other)
    assert counted(A.zipWith(A.add, xs, found)) == [2]
