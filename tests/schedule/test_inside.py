"""The inside of loops: margins of conditions of many forms, what is left of them within, and the same bits everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel import settings
from accel.ast.tree.operators import Operator
from accel.explanation.explain import subject
from accel.ir.mentions import function_statements, nests
from accel.ir.nodes import Nest, OneToOne
from accel.labelled.scalar import Compute, If
from accel.schedule import rules
from accel.schedule.machine import PROCESSOR
from accel.schedule.nodes import AccelScheduleError, Margin, Schedule
from accel.schedule.splitting.inside import inside, statements
from accel.schedule.templates.choose import schedules
from accel.schedule.text import schedule_text
from tests.marks import one_in
from tests.schedule.check import check

Matrix: TypeAlias = A.Acc[A.Matrix[np.float32]]
Number: TypeAlias = A.Exp[np.int64]
Place: TypeAlias = Callable[[Number, Number], Number]
"""From a coordinate and its extent."""

SHAPES = [(0, 3), (1, 1), (2, 1), (3, 4), (5, 2), (9, 40)]
CONDITIONS = {Operator.MIN, Operator.MAX, Operator.MOD, Operator.SELECT, Operator.LT, Operator.EQ}


def moved(place: Place, axis: int) -> Callable[[Matrix], Matrix]:
    """Each element added to the one at another place along an axis."""

    def program(xs: Matrix) -> Matrix:
        def element(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.float32]:
            at, extents = list(A.unindex(ix)), A.unindex(xs.shape)
            at[axis] = place(at[axis], extents[axis])
            return xs[ix] + xs[at[0], at[1]]

        return A.generate(xs.shape, element)

    return program


PLACES: dict[str, tuple[Place, tuple[int, int]]] = {
    "clamp below": (lambda i, n: A.max(i - 2, 0), (2, 0)),
    "clamp above": (lambda i, n: A.min(i + 3, n - 1), (0, 3)),
    "clamp the other way round": (lambda i, n: A.min(n - 1, A.max(0, i + 1)), (0, 1)),
    "mirror": (lambda i, n: A.max(A.min(A.abs(i - 1), n - 1), 0), (1, 0)),
    "wrap": (lambda i, n: (i - 1) % n, (1, 0)),
    "wrap far": (lambda i, n: (i + 7) % n, (0, 7)),
    "wrap from the end": (lambda i, n: (i + n - 1) % n, (1, 0)),
    "choice": (lambda i, n: A.cond(i == 0, n - 1, i - 1), (1, 0)),
    "choice by less": (lambda i, n: A.cond(i < 2, i, i - 2), (2, 0)),
    "choice by not more": (lambda i, n: A.cond(i <= 2, 0, i - 2), (3, 0)),
    "choice at the end": (lambda i, n: A.cond(i + 1 >= n, 0, i + 1), (0, 1)),
    "choice behind the end": (lambda i, n: A.cond(i + 1 > n - 1, 0, i + 1), (0, 1)),
    "choice by equality at the end": (lambda i, n: A.cond(n - 1 == i, 0, i + 1), (0, 1)),
    "a number of times": (lambda i, n: A.cond(2 * i < 5, 0, i - 1), (3, 0)),
    "either end": (lambda i, n: A.cond((i < 1) | (i >= n - 2), i, i + 2), (1, 2)),
    "neither end": (lambda i, n: A.cond((i > 0) & ~(i > n - 2), i - 1, i), (1, 1)),
    "downwards": (lambda i, n: A.max(n - 1 - i - 1, 0), (0, 1)),
    "a wide edge": (lambda i, n: A.cond(i < 100, i, i - 100), (0, 0)),
    "data": (lambda i, n: A.cond(i * i < 4, i, i - 1), (0, 0)),
}


def nest_of(program: Callable[..., Any], *arrays: Any) -> Nest:
    (nest,) = nests(subject(program, list(arrays), settings.changed({})).staged.loops)
    return nest


@pytest.mark.parametrize("name", PLACES)
def test_margins(name: str) -> None:
    place, (low, high) = PLACES[name]
    margins = inside(nest_of(moved(place, 1), np.ones((3, 4), np.float32)))
    assert margins == ((Margin(1, low, high),) if low or high else ())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", one_in(3, PLACES))
def test_no_bit_changes(name: str, axis: int) -> None:
    program = moved(PLACES[name][0], axis)
    for shape in SHAPES:
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        found = subject(program, [x], settings.changed({}))
        check(found.staged.loops, [x], lambda nest: schedules(nest, PROCESSOR).last)
        check(found.staged.loops, [x], split_at_all_ends)


def split_at_all_ends(nest: Nest) -> Schedule:
    """Split, whether that is worth it or not."""
    return rules.split(rules.original(nest), (Margin(0, 1, 2), Margin(1, 3, 0)))


def jacobi(xs: Matrix) -> Matrix:
    rows, columns = A.unlift(xs.shape)

    def point(place: A.Exp[tuple[int, int]]) -> A.Exp[np.float32]:
        i, j = A.unindex(place)
        inner = (i > 0) & (i < rows - 1) & (j > 0) & (j < columns - 1)
        return A.cond(inner, (xs[i - 1, j] + xs[i + 1, j] + xs[i, j - 1] + xs[i, j + 1]) * 0.25, xs[place])

    return A.generate(xs.shape, point)


def conditions(nest: Nest, margins: tuple[Margin, ...]) -> int:
    """How many conditions and branches there are within margins."""
    functions = [each.function for each in statements(nest, margins) if isinstance(each, OneToOne)]
    every = [statement for function in functions for statement in function_statements(function)]
    return sum(isinstance(s, If) or (isinstance(s, Compute) and s.operator in CONDITIONS) for s in every)


def test_branches_need_the_margins_of_all_loops() -> None:
    nest = nest_of(jacobi, np.ones((3, 4), np.float32))
    margins = inside(nest)
    assert margins == (Margin(0, 1, 1), Margin(1, 1, 1))
    assert (conditions(nest, ()) > 0, conditions(nest, margins)) == (True, 0)


def blurred(xs: Matrix) -> Matrix:
    return A.stencil(lambda n: n(-1, 0) + n(0, 1) + n(2, -1), A.boundary.clamp, xs)


def test_what_depends_on_outer_indices_only_needs_no_margin() -> None:
    assert inside(nest_of(blurred, np.ones((3, 4), np.float32))) == (Margin(1, 1, 1),)


@pytest.mark.parametrize("shape", [(50, 60), (30, 9)])
def test_of_constant_extents_as_well(shape: tuple[int, int]) -> None:
    def program() -> Matrix:
        return A.generate(
            shape, lambda ix: A.toFloating(A.min(ix[1] + 1, shape[1] - 1) - A.max(ix[1] - 1, 0), np.float32)
        )

    assert inside(nest_of(program)) == (Margin(1, 1, 1),)


def test_nothing_is_split_where_no_condition_is_decided() -> None:
    nest = nest_of(lambda xs: A.map(lambda x: x + 1, xs), np.ones((3, 4), np.float32))
    assert inside(nest) == ()
    assert "inside" not in schedule_text(schedules(nest, PROCESSOR).last)


def test_a_schedule_says_what_its_inside_is() -> None:
    found = schedule_text(schedules(nest_of(jacobi, np.ones((3, 4), np.float32)), PROCESSOR).last)
    assert "\n  inside 1 <= i0 < n0-1, 1 <= i1 < n1-1\n" in found
    assert found.endswith("; split 0 1 1, 1 1 1")


def test_what_a_condition_on_indices_costs_keeps_no_loop_from_being_split() -> None:
    """Of a stencil that keeps its border both functions have many operations, but in the inside one has none: there are no two
    phases, and the loop is split."""

    def border_stays(xs: Matrix) -> Matrix:
        rows, columns = A.unlift(xs.shape)
        new = A.stencil(lambda n: (n(0, 0) + n(0, -1) + n(0, 1) + n(1, 0) + n(-1, 0)) * 0.2, A.boundary.clamp, xs)

        def kept(place: A.Exp[tuple[int, int]], x: A.Exp[np.float32]) -> A.Exp[np.float32]:
            i, j = A.unindex(place)
            return A.cond((i > 0) & (i < rows - 1) & (j > 0) & (j < columns - 1), x, xs[place])

        return A.imap(kept, new)

    found = schedule_text(schedules(nest_of(border_stays, np.ones((3, 4), np.float32)), PROCESSOR).last)
    assert "\n  inside 1 <= i1 < n1-1\n" in found
    assert "pack" not in found


def box(xs: Matrix) -> Matrix:
    return A.stencil(lambda n: n(-1, -1) + n(0, -1) + n(1, -1) + n(-1, 1) + n(0, 1) + n(1, 1), A.boundary.clamp, xs)


def edges(xs: Matrix) -> Matrix:
    return A.stencil(lambda n: A.exp(n(0, -1) - n(0, 1)) * 2 + n(1, 1), A.boundary.clamp, xs)


@pytest.mark.parametrize(
    "program",
    [
        lambda xs: A.zipWith(A.mul, box(xs), edges(xs)),
        lambda xs: A.scanl1(A.add, edges(xs)),
        lambda xs: A.map(lambda x: xs[A.truncate(x), 0], box(xs)),
    ],
    ids=["two stencils", "a scan", "a random read"],
)
def test_loops_of_neighbours_are_split_rather_than_run_in_phases(program: Callable[[Matrix], Matrix]) -> None:
    found = schedule_text(schedules(nest_of(program, np.ones((3, 4), np.float32)), PROCESSOR).last)
    assert "\n  inside 1 <= i1 < n1-1\n" in found
    assert "pack" not in found


def test_a_condition_without_loads_leaves_phases() -> None:
    def program(xs: Matrix) -> Matrix:
        first = A.imap(lambda ix, x: A.cond(ix[1] == 0, 0.5, A.exp(x)), xs)
        return A.map(lambda x: A.sin(x) * 2, A.map(lambda x: A.log(x) + 1, first))

    found = schedule_text(schedules(nest_of(program, np.ones((3, 4), np.float32)), PROCESSOR).last)
    assert "\n  pack " in found
    assert "inside" not in found


@pytest.mark.parametrize(
    "margins", [(), (Margin(1, 0, 1), Margin(0, 0, 1)), (Margin(0, 1, 0),) * 2, (Margin(2, 1, 1),), (Margin(0, -1, 0),)]
)
def test_what_are_no_margins(margins: tuple[Margin, ...]) -> None:
    own = rules.original(nest_of(jacobi, np.ones((3, 4), np.float32)))
    with pytest.raises(AccelScheduleError, match="cannot split"):
        rules.split(own, margins)


def test_a_loop_is_split_once() -> None:
    own = rules.split(rules.original(nest_of(jacobi, np.ones((3, 4), np.float32))), (Margin(0, 1, 1),))
    with pytest.raises(AccelScheduleError, match="split already"):
        rules.split(own, (Margin(1, 1, 1),))


def operators(nest: Nest) -> list[Operator]:
    """Those of the innermost loop."""
    functions = [each.function for each in statements(nest, ()) if isinstance(each, OneToOne)]
    every = [statement for function in functions for statement in function_statements(function)]
    return [statement.operator for statement in every if isinstance(statement, Compute)]


@pytest.mark.parametrize(("offset", "left"), [(-4, 1), (-3, 0), (-1, 0), (0, 0), (1, 0), (3, 0), (4, 1)])
def test_remainders_of_indices_take_no_division(offset: int, left: int) -> None:
    nest = nest_of(moved(lambda i, n: (i + offset) % n, 1), np.ones((3, 4), np.float32))
    assert operators(nest).count(Operator.MOD) == left


@pytest.mark.parametrize(("offset", "left"), [(1, 0), (-1, 1)])
def test_the_other_remainder_of_what_is_not_negative(offset: int, left: int) -> None:
    nest = nest_of(moved(lambda i, n: A.max(A.rem(i + offset, n), 0), 1), np.ones((3, 4), np.float32))
    assert operators(nest).count(Operator.REM) == left
