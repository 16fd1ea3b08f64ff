"""Every solver behind the protocol: the same optima, cutoffs that lose nothing, time limits, and not a word printed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec

import pytest

from accel.errors import AccelSolverWarning
from accel.ilp import optimise, solvers
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import QUICK, plan_graph
from accel.ilp.problem.options import Options
from accel.ilp.solvers import NAMES, find
from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import Solver, SolverError
from accel.support.choices import SolverName
from tests.ilp.random_graphs import draw

PACKAGES = {"cbc": "mip", "highs": "highspy", "gurobi": "gurobipy"}


@pytest.fixture(params=NAMES)
def solver(request: pytest.FixtureRequest) -> Solver:
    name: SolverName = request.param
    pytest.importorskip(PACKAGES[name], reason=f"the solver {name} needs the package {PACKAGES[name]}")
    return find(name)


def binaries(count: int) -> Sequence[Variable]:
    return [Variable(number, f"x{number}", True) for number in range(count)]


def at_least(number: int, needed: int) -> Linear:
    """The sum of the first variables is at least `needed`."""
    return Linear(-needed, dict.fromkeys(range(number), 1))


def test_a_small_program_is_solved_and_solved_again_with_more_rows(solver: Solver) -> None:
    session = solver.session(binaries(4), [at_least(4, 2)], relaxed=False)
    objective = Linear(3, {0: 4, 1: 3, 2: 2, 3: 1})
    first = session.minimise(objective, 10.0)
    assert first is not None
    assert (first.optimal, round(objective.value(first.values))) == (True, 6)
    session.add([Linear(1, {2: -1, 3: -1})])
    second = session.minimise(objective, 10.0)
    assert second is not None
    assert round(objective.value(second.values)) == 7
    other = session.minimise(Linear(0, {3: -1}), 10.0)
    assert other is not None
    assert round(other.values[3]) == 1


def test_a_relaxation_has_fractions(solver: Solver) -> None:
    session = solver.session(binaries(3), [Linear(1, {0: -1, 1: -1}), Linear(1, {1: -1, 2: -1}), Linear(1, {0: -1, 2: -1})],
                             relaxed=True)  # fmt: skip
    solution = session.minimise(Linear(0, {0: -1, 1: -1, 2: -1}), 10.0)
    assert solution is not None
    assert sum(solution.values.values()) == pytest.approx(1.5)


@pytest.mark.parametrize("above", [0, 1, 5])
def test_a_cutoff_at_or_above_the_optimum_does_not_lose_it(solver: Solver, above: int) -> None:
    """Also where it is below the next solution, and where another one was set before."""
    count = 12
    rows = [Linear(-1, {i: 1, (i + 1) % count: 1, (i + 5) % count: 1}) for i in range(count)]
    objective = Linear(0, {i: 2 + i % 3 for i in range(count)})
    plain = solver.session(binaries(count), rows, relaxed=False).minimise(objective, 10.0)
    assert plain is not None
    least = round(objective.value(plain.values))
    session = solver.session(binaries(count), rows, relaxed=False)
    for cutoff in (least + 9, least + above):
        solution = session.minimise(objective, 10.0, cutoff)
        assert solution is not None
        assert (solution.optimal, round(objective.value(solution.values))) == (True, least)


def test_bounds_that_meet_slowly_are_no_contradiction(solver: Solver) -> None:
    """x <= y and 1024 y <= 1023 x hold for zeros alone; tightened by turns, each upper bound is 1023/1024 of the other."""
    reals = [Variable(number, f"y{number}", False) for number in (1, 2)]
    rows = [Linear(0, {1: 1, 2: -1}), Linear(0, {1: -1024, 2: 1023})]
    session = solver.session([*binaries(1), *reals], rows, relaxed=False)
    solution = session.minimise(Linear(0, {0: -1, 2: -1}), 10.0)
    assert solution is not None
    assert [round(solution.values[number], 4) for number in range(3)] == [1, 0, 0]


def test_rows_that_cannot_hold_are_an_error(solver: Solver) -> None:
    session = solver.session(binaries(3), [at_least(3, 2), Linear(1, dict.fromkeys(range(3), -1))], relaxed=False)
    with pytest.raises(SolverError, match="no solution where there is one"):
        session.minimise(Linear(0, {0: 1}), 10.0, 3)


@pytest.mark.parametrize("relaxed", [False, True])
def test_bounds_that_creep_are_no_contradiction(solver: Solver, relaxed: bool) -> None:
    """CBC 2.935 says so before it solves: it takes bounds that shrink by a thousandth in each round for a proof."""
    variables = [Variable(0, "x", False), Variable(1, "y", False), Variable(2, "z", True)]
    rows = [Linear(0, {0: -1024, 1: 1023}), Linear(0, {0: 1, 1: -1})]  # x = y = 0
    session = solver.session(variables, rows, relaxed)
    for objective, least in ((Linear(0, {0: -1, 2: -1}), -1), (Linear(0, {1: -1, 2: 1}), 0)):
        solution = session.minimise(objective, 10.0)
        assert solution is not None
        assert (solution.optimal, round(objective.value(solution.values))) == (True, least)


def test_no_time_gives_no_proof(solver: Solver) -> None:
    """Whatever comes back is a point that satisfies the rows, or None; a bound is below it."""
    count = 400
    rows = [Linear(-2, {(i * k * k + 7 * k) % count: 1 for k in range(1, 9)}) for i in range(1, count)]
    objective = Linear(0, {i: 50 + i * i % 17 for i in range(count)})
    solution = solver.session(binaries(count), rows, relaxed=False).minimise(objective, 0.01)
    if solution is not None:
        assert all(row.value(solution.values) > -1e-6 for row in rows)
        assert solution.bound <= objective.value(solution.values) + 1e-6


def test_solvers_agree_and_print_nothing(solver: Solver, capfd: pytest.CaptureFixture[str]) -> None:
    for seed in range(12):
        graph = draw(seed, 12)
        assert plan_graph(graph, Options(solver=solver.name)).cost == plan_graph(graph).cost
    plan_graph(draw(3, 90), Options(solver=solver.name))  # large enough for relaxations
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_solver_that_is_not_installed_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch, name: SolverName
) -> None:
    monkeypatch.setattr(solvers, "find_spec", lambda package: None)
    monkeypatch.delenv("PMIP_HIGHS_LIBRARY", raising=False)
    command = r"pip install mip" if name == "cbc" else rf"pip install 'accel-array\[{name}\]'"
    with pytest.warns(AccelSolverWarning, match=command) as caught:
        answer = plan_graph(draw(3, 90), Options(solver=name))
    assert len(caught) == 1
    assert answer.strategy in QUICK
    assert answer.solver is None


@pytest.mark.skipif(find_spec("gurobipy") is None, reason="Gurobi needs the package gurobipy")
def test_a_model_beyond_gurobis_free_licence_ends_with_a_warning_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if the graph's model had 2001 variables more."""

    class Larger:
        name = "gurobi"
        inner = find("gurobi")

        def session(self, variables: Sequence[Variable], rows: Sequence[Linear], relaxed: bool) -> object:
            more = [Variable(len(variables) + k, f"more{k}", False) for k in range(2001)]
            return self.inner.session([*variables, *more], rows, relaxed)

    graph = draw(3, 90)
    monkeypatch.setattr(optimise, "find", lambda name: Larger())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = plan_graph(graph, Options(solver="gurobi"))
    if not caught:
        pytest.skip("Gurobi has a licence for large models here")
    assert len(caught) == 1
    assert "larger than Gurobi's licence here allows" in str(caught[0].message)
    assert answer.strategy in QUICK
    assert refusal(graph, answer.clustering, True) is None
