"""Loops that look for the first place where something holds: hits everywhere, several, none at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.loops.searches import search
from accel.errors import AccelIndexError
from accel.explanation.explain import subject
from accel.ir.mentions import levels, nests
from accel.settings import changed
from tests import untyped

pytestmark = pytest.mark.llvm

Host = np.ndarray[Any, np.dtype[Any]]
Matrix = A.Acc[A.Matrix[Any]]


def first_even(m: A.Acc[A.Matrix[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
    """Where the first even number of each row stands; behind the row if there is none."""
    _, columns = A.unlift(m.shape)

    def place(ix: A.Exp[tuple[int, int]], x: A.Exp[np.int64]) -> A.Exp[np.int64]:
        _, column = A.unindex(ix)
        return A.select(x % 2 == 0, column, columns)

    return A.fold1(A.min, A.imap(place, m))


def searches(program: Any, *given: Host) -> int:
    """How many nests of a program are searches."""
    loops = subject(program, list(given), changed({})).staged.loops
    return sum(
        level.loop is not None and search(level.loop) is not None for nest in nests(loops) for level in levels(nest)
    )


def test_which_loops_are_searches() -> None:
    numbers = np.ones((3, 5), np.int64)
    assert searches(first_even, numbers) == 1
    assert searches(lambda m: A.fold1(A.min, m), numbers) == 0
    # The least of what is not the loop's own index.
    assert (
        searches(lambda m: A.fold1(A.min, A.imap(lambda ix, x: A.select(x > 0, A.unindex(ix)[0], 5), m)), numbers) == 0
    )


@pytest.mark.parametrize("columns", [1, 2, 15, 16, 17, 63, 64, 65, 100, 255, 256, 257, 1000])
def test_hits_at_each_place(columns: int) -> None:
    numbers = np.ones((columns + 1, columns), np.int64)
    numbers[np.arange(columns), np.arange(columns)] = 2
    numbers[:columns:3, -1] = 4
    found = A.run(first_even(A.use(numbers)))
    assert found.tolist() == list(range(columns + 1))


def test_what_may_fail_behind_the_hit_still_fails() -> None:
    table, places = np.array([1, 2]), np.array([[0, 1, 0, 7]])

    def found(table: A.Acc[A.Vector[np.int64]], places: A.Acc[A.Matrix[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        return first_even(A.gather(places, table))

    with pytest.raises(AccelIndexError):
        untyped.runN(found)(table, places)
