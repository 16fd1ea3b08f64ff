"""Arrays of ranks 0 to 5, of nominal sizes and of large odd ones, in one program: all solvers prove one optimum.

More than CI runs: `python -m tests.ilp.agreement FIRST LAST OPERATIONS --ranks --sizes nominal actual`, and of larger graphs
with `--without-brute-force`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

import pytest

from accel.ilp import optimise
from accel.ilp.model.digits import LARGEST_SPAN
from accel.ilp.plan import search
from accel.ilp.problem.options import Options
from accel.ilp.solvers import find
from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import Session, Solution
from accel.support.choices import CostName, Duplicate, SolverName
from tests.ilp.agreement import FORMULATIONS, SIZES, SizesName, disagreements, graph_of, installed, sizes_of
from tests.marks import one_in

COSTS: tuple[CostName, ...] = get_args(CostName)
OPEN: tuple[SolverName, ...] = tuple(name for name in installed() if name != "gurobi")
"""Solvers without a licence that small models only may use."""


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("batch", one_in(6, range(6)))
def test_the_optimum_is_brute_force_s(batch: int, sizes: SizesName) -> None:
    """Each of the 30 graphs under `default` and two other cost models."""
    for seed in range(5 * batch, 5 * (batch + 1)):
        graph = graph_of(seed, 4 + seed % 4, ranks=True)
        costs = ["default", *(COSTS[1 + (2 * seed + step) % (len(COSTS) - 1)] for step in range(2))]
        assert disagreements(graph, FORMULATIONS, OPEN, costs, "gathers", sizes_of(seed, graph, sizes)) == []


@pytest.mark.parametrize("duplicate", ["gathers", True])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("seed", one_in(4, [5, 6, 9, 14, 15, 17, 21, 26]))
def test_solvers_agree_on_larger_graphs(seed: int, sizes: SizesName, duplicate: Duplicate) -> None:
    graph = graph_of(seed, 30 + seed % 3 * 10, ranks=True)
    found = disagreements(graph, ["accel"], OPEN, ["bytes"], duplicate, sizes_of(seed, graph, sizes), brute=False)
    assert found == []


class Recording:
    """A solver that keeps all rows and objectives that it is given."""

    def __init__(self, name: SolverName) -> None:
        self.name, self.inner = name, find(name)
        self.given: list[Linear] = []

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> RecordingSession:
        known = list(rows)
        self.given += known
        return RecordingSession(self, self.inner.session(variables, known, relaxed))


class RecordingSession:
    def __init__(self, solver: Recording, inner: Session) -> None:
        self.solver, self.inner = solver, inner

    def add(self, rows: Iterable[Linear]) -> None:
        known = list(rows)
        self.solver.given += known
        self.inner.add(known)

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        self.solver.given.append(objective)
        return self.inner.minimise(objective, seconds, cutoff)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("cost", one_in(3, COSTS))
def test_what_a_solver_is_given_are_small_integers(
    monkeypatch: pytest.MonkeyPatch, cost: CostName, sizes: SizesName
) -> None:
    solver = Recording("cbc")
    monkeypatch.setattr(optimise, "find", lambda name: solver)
    asked: list[tuple[int, Duplicate]] = [(5, "gathers"), (14, True), (21, True), (26, False)]
    for seed, duplicate in asked:
        graph = graph_of(seed, 25, ranks=True)
        search(graph, Options(cost=cost, duplicate=duplicate, sizes=sizes_of(seed, graph, sizes)))
    assert solver.given
    for linear in solver.given:
        assert linear.span <= LARGEST_SPAN
        assert all(isinstance(number, int) for number in (linear.constant, *linear.terms.values()))
