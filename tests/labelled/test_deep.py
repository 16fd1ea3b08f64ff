"""Large and deep programs: nothing recurses on their depth, sharing stays, pieces are bounded."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F64
from accel.errors import AccelStagingError
from accel.labelled.nodes import Force
from accel.labelled.number import number
from accel.labelled.passes.limit import cost, limit_components
from accel.labelled.text import text
from accel.labelled.verify import verify
from tests.labelled.programs import AnyAcc, AnyExp, integers, parameter, program, program_text, run, same, use
from tests.marks import long, slow


@pytest.fixture(autouse=True)
def _default_recursion_limit() -> None:
    assert sys.getrecursionlimit() == 1000


def chain(of: AnyAcc, length: int, step: Callable[[AnyAcc], AnyAcc]) -> AnyAcc:
    for _ in range(length):
        of = step(of)
    return of


@slow
@pytest.mark.parametrize("thousands", [2, pytest.param(10, marks=long)])
def test_thousands_of_maps(thousands: int) -> None:
    length = 1000 * thousands
    found = program([chain(use(np.arange(4.0)), length, lambda v: A.map(lambda x: x + 1.0, v))])
    forces = sum(isinstance(binding.operation, Force) for binding in found.bindings)
    assert len(found.bindings) == length + 1 + forces
    assert thousands <= forces <= 3 * thousands
    assert len(text(found).splitlines()) == len(found.bindings) + 1


@pytest.mark.slow
def test_a_deep_scalar_expression() -> None:
    def body(x: AnyExp) -> AnyExp:
        for i in range(1000):
            x = x * 1.5 + float(i)
        return x

    once = np.array([1.0])
    expected = once.copy()
    for i in range(1000):
        expected = expected * 1.5 + float(i)
    same(run(A.map(body, use(once))), expected)


def test_sharing_stays_linear() -> None:
    array = chain(use(integers((3,))), 60, lambda v: A.zipWith(A.add, v, v))
    assert len(program([array]).bindings) == 61
    same(run(array), integers((3,)) << 60)

    def doubled(x: AnyExp) -> AnyExp:
        for _ in range(60):
            x = x + x
        return x

    assert len(program_text(A.map(doubled, use(integers((3,))))).split(";")) == 60
    same(run(A.map(doubled, use(integers((3,))))), integers((3,)) << 60)


@pytest.mark.slow
def test_a_deep_chain_of_reshapes_moves_to_the_input() -> None:
    m = parameter(2, F64)
    doubled = A.map(lambda x: x * 2.0, A.flatten(chain(m, 500, lambda v: A.map(lambda x: x + 1.0, v))))
    found = program([doubled], [m])
    assert text(found).splitlines()[2] == "%2 = reshape %0 : f64[n2]"
    assert text(found).count("reshape") == 1


def test_deep_choices_that_cannot_fail_become_selections() -> None:
    def table(x: AnyExp) -> AnyExp:
        found: AnyExp = A.constant(-1, np.int64)
        for i in range(300):
            found = A.cond(x == i, A.constant(i * i, np.int64), found)
        return found

    same(run(A.map(table, use(np.array([0, 17, 299, 300])))), [0, 289, 299 * 299, -1])


def test_control_flow_nested_too_deep_is_an_error() -> None:
    xs = use(np.arange(3))

    def table(x: AnyExp) -> AnyExp:
        found: AnyExp = A.constant(-1, np.int64)
        for i in range(300):
            found = A.cond(x == i, xs[x], found + 1)
        return found

    with pytest.raises(AccelStagingError, match="control flow is nested more than 60 deep"):
        run(A.map(table, xs))


def test_arrays_may_nest_control_flow_as_deep_as_allowed() -> None:
    xs = use(np.arange(3))
    flag = A.constant(True, np.bool_)
    found = chain(xs, 55, lambda v: A.acond(flag, A.map(lambda x: x + 1, v), xs))
    same(run(found), np.arange(3) + 55)


def double(v: AnyAcc) -> AnyAcc:
    return A.map(lambda x: x * 2.0, v)


def test_pieces_are_cut_at_the_limit() -> None:
    xs = parameter(1, F64)
    whole = program([A.fold(A.add, 0, chain(xs, 20, lambda v: A.map(lambda x: x * 2.0 + 1.0, v)))], [xs])
    cut = number(limit_components(whole, 10))
    verify(cut, copied=False)
    sizes, piece = [], 0
    for binding in cut.bindings[1:]:
        if isinstance(binding.operation, Force):
            sizes.append(piece)
            piece = 0
        else:
            piece += cost(binding.operation)
    assert all(0 < size <= 10 for size in [*sizes, piece])
    assert len(sizes) == 6


def test_two_pieces_that_meet_are_cut_apart() -> None:
    xs = parameter(1, F64)
    left, right = chain(xs, 3, double), chain(xs, 3, lambda v: A.map(lambda x: x * 3.0, v))
    cut = number(limit_components(program([A.zipWith(A.add, left, right)], [xs]), 10))
    assert sum(isinstance(binding.operation, Force) for binding in cut.bindings) == 1


def test_an_operation_beyond_the_limit_still_takes_what_is_cheap() -> None:
    xs = parameter(1, F64)

    def steps(x: AnyExp) -> AnyExp:
        for _ in range(30):
            x = x * 2.0 + 1.0
        return x

    def heavy(v: AnyAcc) -> AnyAcc:
        return A.map(steps, v)

    def forces(reader: AnyAcc) -> int:
        cut = number(limit_components(program([reader], [xs]), 20))
        return sum(isinstance(binding.operation, Force) for binding in cut.bindings)

    assert forces(heavy(double(xs))) == 0
    assert forces(heavy(chain(xs, 6, double))) == 1
    assert forces(double(heavy(xs))) == 1
