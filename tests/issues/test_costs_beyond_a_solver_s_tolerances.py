"""Bytes of arrays of ranks 0 to 5 in one program: coefficients from 1 to 10^13 and more in one objective of a solver.

CBC was left with "it ignores a row of its model", "its bound is above what can be had" or "it finds no solution where there is
one", HiGHS with errors of its own or with points that cost something else than claimed; and some answers were called proved
that were not. 81 operations under nominal sizes were a program of that kind.
"""

from __future__ import annotations

import pytest

from accel.ilp.plan import search
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from tests.ilp.agreement import Sizes, SizesName, installed, sizes_of
from tests.ilp.random_graphs import draw
from tests.marks import one_in

OPEN = tuple(name for name in installed() if name != "gurobi")
"""Solvers without a licence that only small models may use."""

pytestmark = pytest.mark.filterwarnings("error")


def drawn(seed: int, operations: int) -> Graph:
    """A program of arrays of many ranks; odd ones have no gathers."""
    return draw(seed, operations, nested=seed % 3 == 0, gathers=seed % 2 == 0, ranks=True)


def proved(graph: Graph, solver: str, sizes: Sizes) -> tuple[int, ...]:
    """The proved least cost."""
    found = search(graph, Options(solver=solver, sizes=sizes, time_limit=60))
    assert found.proved
    return found.cost


@pytest.mark.parametrize("seed", one_in(3, [6, 11, 16]))
@pytest.mark.parametrize("sizes", ["nominal", "actual"])
def test_programs_of_81_operations(seed: int, sizes: SizesName) -> None:
    graph = drawn(seed, 81)
    extents = sizes_of(seed, graph, sizes)
    assert len({proved(graph, solver, extents) for solver in OPEN}) == 1


@pytest.mark.parametrize("seed", one_in(4, [47, 53, 148, 208, 266, 301, 312, 348]))
def test_programs_of_25_operations(seed: int) -> None:
    """Each was given up by one of the solvers, or by both, under the one or the other sizes."""
    graph = drawn(seed, 25)
    for sizes in (sizes_of(seed, graph, "nominal"), sizes_of(seed, graph, "actual")):
        assert len({proved(graph, solver, sizes) for solver in OPEN}) == 1
