"""What columns of a stencil compute alike, and of what the lines are made that they read instead."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ir.mentions import function_statements, functions
from accel.ir.nodes import Nest
from accel.labelled.scalar import Compute, Load
from accel.schedule.nodes import Lines
from accel.schedule.splitting.alike import FIRST_LEAF, MOST, alike
from tests.schedule import programs

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time


def stencil(point: Any, columns: int = 40, rows: int = 6) -> Nest:  # Any: a function of a neighbourhood
    """The nest of a stencil over rows of a length that is known."""

    def function(xs: Handle) -> Handle:
        grid = A.compute(A.generate((rows, columns), lambda ix: xs[A.unindex(ix)[0]]))
        return A.stencil(point, A.boundary.wrap, grid)

    *_, last = programs.lowered(function, np.ones(rows)).nests
    return last


def loads(nest: Nest) -> int:
    return sum(isinstance(s, Load) for function in functions(nest) for s in function_statements(function))


def lines(nest: Nest) -> Lines:
    found = alike(nest)
    assert found is not None
    return found


def across(n: Any, k: int) -> Any:  # Any: a neighbourhood, an expression
    return n(-2, k) + n(-1, k) * 3.0 + n(1, k) + n(2, k)


def test_a_sum_across_rows_is_a_line() -> None:
    nest = stencil(lambda n: across(n, -1) + across(n, 1) + n(0, 0))
    found = lines(nest)
    (line,) = found.lines
    assert (line.array.label, line.array.leaf, found.columns) == (nest.label, FIRST_LEAF, 40)
    made = list(function_statements(line.element.function))
    assert sum(isinstance(each, Load) for each in made) == 4
    assert sum(isinstance(each, Compute) and each.out.type.is_float for each in made) == 4
    assert loads(nest) - loads(found.nest) == 8 - 2


def test_the_largest_values_are_taken() -> None:
    """Also where parts of them occur elsewhere, which are lines of their own only if that is worth it."""
    nest = stencil(lambda n: across(n, -1) * 2.0 + across(n, 1) * 2.0 + across(n, 0))
    assert loads(lines(nest).nest) == 2 + 4
    both = stencil(
        lambda n: across(n, -1) * 2.0 + across(n, 1) * 2.0 + across(n, 0) + across(n, 3) + across(n, -3) * n(0, 1)
    )
    assert [len(lines(each).lines) for each in (nest, both)] == [1, 2]


NOTHING: dict[str, Any] = {  # Any: functions of a neighbourhood
    "of one column": lambda n: across(n, 0) + n(0, 1),
    "of several columns each": lambda n: (n(-1, 0) + n(0, 1) + n(1, 2)) * (n(-1, 1) + n(0, 2) + n(1, 3)),
    "of other rows": lambda n: (n(-1, -1) + n(1, -1) + n(2, -1) + n(3, -1)) + (n(-1, 1) + n(0, 1) + n(2, 1) + n(3, 1)),
    "in another order": lambda n: (n(-1, -1) + n(0, -1) + n(1, -1)) + (n(1, 1) + n(0, 1) + n(-1, 1)),
    "of few loads": lambda n: (n(-1, -1) + n(1, -1)) + (n(-1, 1) + n(1, 1)),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_has_no_lines(name: str) -> None:
    assert alike(stencil(NOTHING[name])) is None


def test_lines_fit_into_the_first_cache() -> None:
    for columns, fits in ((MOST // 8, True), (MOST // 8 + 1, False)):
        assert (alike(stencil(lambda n: across(n, -1) + across(n, 1), columns)) is not None) is fits
