"""Loops of scalar code that need no element run once, not for each element, nor for each operation that uses them."""

from __future__ import annotations

import bisect
from typing import Literal

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import I64
from accel.errors import AccelIndexError
from accel.labelled import programs
from tests.labelled.programs import AnyAcc, AnyExp, parameter, program, program_text, same, use

pytestmark = pytest.mark.llvm

BACKENDS: tuple[Literal["interpreter", "llvm"], ...] = ("interpreter", "llvm")

XS = np.array([5, 1, 3, 2, 4, 4, 0, 6])


def looping(*results: AnyAcc, of: list[AnyAcc]) -> list[int]:
    """The ranks of what operations with loops in their code make; None made is rank 0."""
    parts = programs.programs(program(results, of))
    bindings = [binding for part in parts for binding in part.bindings if programs.has_loops(binding.operation)]
    return [len(binding.arrays[0].shape) if binding.arrays else 0 for binding in bindings]


def digits(number: AnyExp) -> AnyExp:
    """How often a number can be halved."""
    return A.while_(lambda s: s[0] > 0, lambda s: A.lift(s[0] // 2, s[1] + 1), A.lift(number, 0))[1]


def place(table: AnyAcc, length: AnyExp, value: AnyExp) -> AnyExp:
    """Where a value belongs among the first elements of a table that rises."""

    def halved(bounds: AnyExp) -> AnyExp:
        middle = (bounds[0] + bounds[1]) // 2
        return A.cond(table[middle] < value, A.lift(middle + 1, bounds[1]), A.lift(bounds[0], middle))

    return A.while_(lambda bounds: bounds[0] < bounds[1], halved, A.lift(0, length))[0]


def longest_rise(xs: AnyAcc, count: int) -> AnyAcc:
    """How long the longest subsequence is that rises: least last elements of each length, into which each number goes."""

    def step(turn: AnyExp, state: tuple[AnyAcc, AnyAcc]) -> tuple[AnyAcc, AnyAcc]:
        least, length = state
        at = place(least, A.the(length), xs[turn])
        new = A.update(least, (slice(at, at + 1),), A.fill((1,), xs[turn]))
        return new, A.map(lambda known: A.max(known, at + 1), length)

    return A.iiterate(count, step, (A.fill((count,), 1000), A.unit(A.constant(0, np.int64))))[1]


def test_a_search_that_gives_an_index_a_size_and_a_number_takes_place_once() -> None:
    xs = parameter(1, I64)
    assert looping(longest_rise(xs, len(XS)), of=[xs]) == [0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_such_searches_find_the_longest_subsequence_that_rises(backend: Literal["interpreter", "llvm"]) -> None:
    least: list[int] = []
    for x in XS.tolist():
        at = bisect.bisect_left(least, x)
        least[at : at + 1] = [x]
    same(A.run(longest_rise(use(XS), len(XS)), backend=backend), len(least))


def test_a_loop_of_a_map_that_needs_no_element_runs_once() -> None:
    xs, n = parameter(1, I64), parameter(0, I64)
    counted = digits(A.the(n))
    assert looping(A.map(lambda x: x + counted, xs), of=[xs, n]) == [0]
    assert looping(A.map(lambda x: x + counted, xs), A.map(lambda x: x * counted, xs), of=[xs, n]) == [0]


def test_a_loop_that_needs_an_element_or_an_index_stays() -> None:
    xs = parameter(1, I64)
    assert looping(A.map(digits, xs), of=[xs]) == [1]
    assert looping(A.generate((5,), lambda ix: digits(ix[0])), of=[xs]) == [1]
    assert looping(A.map(lambda x: digits(x + digits(xs[0])), xs), of=[xs]) == [0, 1]


def test_a_loop_that_one_number_needs_stays_where_it_is() -> None:
    n = parameter(0, I64)
    text = program_text(A.map(lambda x: digits(x) + 1, n), of=[n])
    assert [line.partition(" (")[0] for line in text.splitlines()] == ["%0 = use 0 : i64[]", "%1 = map", "return %1"]


def test_a_loop_in_a_branch_stays() -> None:
    """It may not be asked for."""
    xs, n = parameter(1, I64), parameter(0, I64)
    counted = digits(A.the(n))
    assert looping(A.map(lambda x: A.cond(x > 3, x + counted, x), xs), of=[xs, n]) == [1]


def test_a_loop_that_needs_what_another_comes_to_runs_once_as_well() -> None:
    xs, n = parameter(1, I64), parameter(0, I64)
    first = digits(A.the(n))
    assert looping(A.map(lambda x: x + digits(first) + first, xs), of=[xs, n]) == [0, 0]
    given = digits(A.the(use(np.array(9))))
    again = A.map(lambda x: x + digits(given) + given, use(XS))
    for backend in BACKENDS:
        same(A.run(again, backend=backend), XS + 3 + 4)


def beyond(xs: AnyAcc, start: AnyAcc) -> AnyExp:
    """A loop that loads what is not there."""
    return A.while_(lambda i: xs[i + 1000] > 0, lambda i: i + 1, A.the(start))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_of_no_element_does_not_run(backend: Literal["interpreter", "llvm"]) -> None:
    def added(xs: AnyAcc, ys: AnyAcc, start: AnyAcc) -> AnyAcc:
        failing = beyond(xs, start)
        return A.map(lambda y: y + failing, ys)

    start = np.array(0)
    same(A.run(added(use(XS), use(XS[:0]), use(start)), backend=backend), XS[:0])
    with pytest.raises(AccelIndexError):
        A.run(added(use(XS), use(XS[:1]), use(start)), backend=backend)


def test_a_loop_that_runs_in_any_case_asks_for_no_elements() -> None:
    """Of an operation that may visit nothing it does; what is sure to run is enough for both."""
    xs, n = parameter(1, I64), parameter(0, I64)
    counted = digits(A.the(n))
    perhaps = A.map(lambda x: x + counted, xs)
    assert "if" in program_text(perhaps, of=[xs, n])
    assert "if" not in program_text(perhaps, A.unit(counted), of=[xs, n])
    assert looping(perhaps, A.unit(counted), of=[xs, n]) == [0]


def test_the_one_place_of_a_backpermute_is_found_by_a_loop() -> None:
    """Its function is given no elements, though it reads an array."""
    xs, n = parameter(1, I64), parameter(0, I64)
    found = digits(A.the(n))
    taken = A.backpermute((), lambda _: A.index(found % 4), xs)
    assert looping(taken, A.unit(found), of=[xs, n]) == [0]
    counted = digits(A.the(use(np.array(9))))
    same(A.run(A.backpermute((), lambda _: A.index(counted % 4), use(XS)), backend="llvm"), XS[0])
