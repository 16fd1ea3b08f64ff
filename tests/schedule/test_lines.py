"""Which nests run in lines: text, what verifying finds, and where no lines serve."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import sub
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.errors import AccelInternalError
from accel.ir.nodes import Nest
from accel.schedule.machine import PROCESSOR, WorkItems
from accel.schedule.nodes import Kind, Lines, Schedule, Template
from accel.schedule.rules import flip, kind, original, share
from accel.schedule.templates.choose import schedules
from accel.schedule.text import schedule_text
from accel.schedule.verify import verify
from tests.schedule import programs
from tests.schedule.check import check

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time


def across(n: Any, k: int) -> Any:  # Any: a neighbourhood, an expression
    return n(-2, k) + n(-1, k) * 3.0 + n(1, k) + n(2, k)


def stencil(columns: int, boundary: Any = A.boundary.wrap, far: int = 1) -> Nest:  # Any: of any type
    def function(xs: Handle) -> Handle:
        grid = A.compute(A.generate((6, columns), lambda ix: xs[A.unindex(ix)[0]]))
        return A.stencil(lambda n: across(n, -far) - across(n, far) * n(0, 0), boundary, grid)

    *_, last = programs.lowered(function, np.ones(6)).nests
    return last


def shared(nest: Nest) -> Lines | None:
    return schedules(nest, PROCESSOR).last.shared


def test_rows_in_lines() -> None:
    """The loops around are one, whose iterations are rows."""
    assert schedule_text(schedules(stencil(40), PROCESSOR).last).splitlines()[1:] == [
        "  i0 map: whole, parallel",
        "  i1 map: whole, vector",
        "  lines f64[40] along i1",
        "  inside 1 <= i1 < 40-1",
        "  by share; split 1 1 1; kind 1 vector; kind 0 parallel",
    ]


def test_work_items_have_the_same_lines_but_on_gpus() -> None:
    nest = stencil(40)
    first, *_ = schedules(nest, WorkItems()).schedules
    on_threads = schedules(nest, PROCESSOR).last
    assert first.template is Template.LINES
    assert (first.shared, first.inside) == (on_threads.shared, on_threads.inside)
    assert all(each.shared is None for each in schedules(nest, WorkItems(gpu=True)).schedules)


@pytest.mark.parametrize(("columns", "far", "serves"), [(6, 1, True), (5, 1, False), (9, 3, False), (10, 3, True)])
def test_rows_have_a_vector_of_columns_inside(columns: int, far: int, serves: bool) -> None:
    assert (shared(stencil(columns, far=far)) is not None) is serves


def test_nothing_is_shared_where_the_first_of_several_columns_may_be_no_element() -> None:
    assert shared(stencil(40, A.boundary.constant(2.0))) is None


def test_columns_of_one_loop_are_no_row() -> None:
    def function(xs: Handle) -> Handle:
        grid = A.compute(A.generate((40,), lambda ix: xs[ix]))
        some = A.compute(A.map(lambda x: x * 2, grid))

        def point(n: Any, m: Any) -> Any:  # Any: neighbourhoods, an expression
            return reduce(sub, [(n(k) + m(k)) * n(k) for k in (-2, -1, 1)])

        return A.stencil2(point, A.boundary.wrap, grid, A.boundary.wrap, some)

    *_, last = programs.lowered(function, np.ones(40)).nests
    assert share(original(last)).shared is not None
    assert shared(last) is None


def test_rows_are_shared_whatever_the_order_of_the_visit() -> None:
    """Columns outside of rows."""
    example = programs.lines()
    _, last = example.nests

    def down_columns(nest: Nest) -> Schedule:
        return flip(share(original(nest)) if nest == last else original(nest), 0)

    check(example.loops, example.arguments, down_columns)


def test_what_no_rules_make() -> None:
    schedule = share(original(stencil(40)))
    verify(schedule)
    assert schedule.shared is not None
    for wrong in (
        None,
        Lines(schedule.shared.lines[1:], schedule.shared.nest),
        replace(schedule.shared, nest=schedule.nest),
    ):
        with pytest.raises(AccelInternalError, match="make something else"):
            verify(replace(schedule, shared=wrong))


def test_lines_stay_where_pieces_run_otherwise() -> None:
    schedule = share(original(stencil(40)))
    assert kind(flip(schedule, 0), 0, Kind.VECTOR).shared == schedule.shared
