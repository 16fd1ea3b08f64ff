"""Whatever a solver does, the program is planned: greedily, with one warning that says what happened."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import pytest

from accel.errors import AccelSolverWarning
from accel.ilp import optimise
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import QUICK, plan_graph, search
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.solvers import NAMES, find
from accel.ilp.solvers.guarded import guarded
from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import Session, Solution, SolverError
from accel.support.choices import SolverName
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch
from tests.marks import one_in


class Faulty:
    """A solver that does as it is told."""

    name = "faulty"

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.variables: list[Variable] = []

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> Faulty:
        self.variables = list(variables)
        return self

    def add(self, rows: Iterable[Linear]) -> None:
        pass

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        if self.mode == "late":
            return None
        if self.mode == "crash":
            raise RuntimeError("licence expired")
        if self.mode == "no answer":
            raise ValueError("it finds no solution where there is one")
        if self.mode == "values missing":
            return Solution({}, True, 0.0)
        if self.mode == "infinite":
            return Solution({variable.number: float("inf") for variable in self.variables}, True, 0.0)
        if self.mode == "not a number":
            return Solution({variable.number: float("nan") for variable in self.variables}, True, 0.0)
        apart = 0.0 if self.mode == "all together" else 1.0
        values = {v.number: apart if v.name.startswith("x_") else 0.0 for v in self.variables}
        return Solution(values, True, 0.0)


def _graph() -> Graph:
    """Two shared reads of which only one can be had: both would be a circle of clusters."""
    s = Sketch()
    s.use("u")
    s.use("v")
    s.map("a1", "u")
    s.map("b1", "v", index="a1")
    s.map("b2", "v")
    s.map("a2", "u", index="b2")
    return s.finish()


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("late", "after 10.0 s the cost is"),
        ("crash", "RuntimeError: licence expired"),
        ("no answer", "no solution where there is one"),
        ("values missing", "it gives nan for x_"),
        ("infinite", "it gives inf for x_"),
        ("not a number", "it gives nan for x_"),
        ("all apart, and nothing is read", "it ignores a row"),
        ("all together", "it ignores a row"),
    ],
)
def test_a_faulty_solver_gives_greedy_and_one_warning(monkeypatch: pytest.MonkeyPatch, mode: str, says: str) -> None:
    monkeypatch.setattr(optimise, "find", lambda name: Faulty(mode))
    graph = _graph()
    with pytest.warns(AccelSolverWarning) as caught:
        answer = plan_graph(graph)
    assert len(caught) == 1
    assert says in str(caught[0].message)
    assert "cbc" in str(caught[0].message)
    assert not answer.proved
    assert refusal(graph, answer.clustering, True) is None
    assert answer.cost == plan_graph(graph, Options(strategy="greedy")).cost


@pytest.mark.parametrize("broken", ["pose", "lower_bounds", "expanded", "Prices"])
def test_a_fault_of_ours_is_no_fault_of_a_solver(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """It is raised, not taken for a solver's and warned of."""

    def fails(*given: object) -> None:
        raise KeyError(broken)

    monkeypatch.setattr(optimise, broken, fails)
    with pytest.raises(KeyError, match=broken):
        search(_graph())


@pytest.mark.parametrize(("x", "says"), [(0.5, "which is an integer"), (2.0, "from 0 to 1"), (-1.0, "from 0 to 1")])
def test_points_that_no_point_can_be(x: float, says: str) -> None:
    class Half:
        name = "half"

        def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> Half:
            return self

        def add(self, rows: Iterable[Linear]) -> None:
            pass

        def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
            return Solution({0: x}, True, 0.0)

    session = guarded(Half).session([Variable(0, "x", True)], [], relaxed=False)
    with pytest.raises(SolverError, match=says):
        session.minimise(Linear(0, {0: 1}), 1.0)


class Spoiled:
    """A real solver, of whose answers something is changed: the more important things stay as they are."""

    def __init__(self, name: SolverName, mode: str) -> None:
        self.name, self.mode, self.inner = name, mode, find(name)

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> SpoiledSession:
        kept = [] if self.mode == "ignores rows" else list(rows)
        return SpoiledSession(self.inner.session(variables, kept, relaxed), self.mode, list(variables))


class SpoiledSession:
    def __init__(self, inner: Session, mode: str, variables: list[Variable]) -> None:
        self.inner, self.mode, self.variables = inner, mode, variables

    def add(self, rows: Iterable[Linear]) -> None:
        if self.mode != "ignores rows":
            self.inner.add(rows)

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        if self.mode == "worst is optimal":
            found = self.inner.minimise(-objective, seconds)
            return found and Solution(found.values, True, objective.value(found.values))
        found = self.inner.minimise(objective, seconds, cutoff)
        if found is None or self.mode == "ignores rows":
            return found
        if self.mode == "turned around":
            return Solution({number: 1 - value for number, value in found.values.items()}, True, found.bound)
        return Solution(found.values, False, objective.value(found.values) + 1000)  # "bound too high"


@pytest.mark.parametrize("solver", NAMES)
@pytest.mark.parametrize("mode", ["ignores rows", "worst is optimal", "turned around", "bound too high"])
def test_a_spoiled_solver_gives_greedy_and_one_warning(
    monkeypatch: pytest.MonkeyPatch, solver: SolverName, mode: str
) -> None:
    package = {"cbc": "mip", "highs": "highspy", "gurobi": "gurobipy"}[solver]
    pytest.importorskip(package, reason=f"the solver {solver} needs the package {package}")
    monkeypatch.setattr(optimise, "find", lambda name: Spoiled(solver, mode))
    for graph in (_graph(), draw(3, 40)):
        with pytest.warns(AccelSolverWarning) as caught:
            answer = plan_graph(graph, Options(solver=solver, time_limit=2))
        assert len(caught) == 1
        assert solver in str(caught[0].message)
        assert not answer.proved
        assert refusal(graph, answer.clustering, True) is None
        assert answer.cost <= plan_graph(graph, Options(strategy="greedy")).cost


def test_the_number_of_clusters_may_stay_unproved_without_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a fifth of the time. What comes before is proved, and the bound says how far."""

    class Slow:
        name, inner = "cbc", find("cbc")

        def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> SlowSession:
            counters = {variable.number for variable in variables if variable.name.startswith("joined")}
            return SlowSession(self.inner.session(variables, rows, relaxed), counters)

    class SlowSession:
        def __init__(self, inner: Session, counters: set[int]) -> None:
            self.inner, self.counters = inner, counters

        def add(self, rows: Iterable[Linear]) -> None:
            self.inner.add(rows)

        def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
            if self.counters.isdisjoint(objective.terms):
                return self.inner.minimise(objective, seconds, cutoff)
            assert seconds <= 2.0
            return None

    monkeypatch.setattr(optimise, "find", lambda name: Slow())
    graph = draw(3, 90)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = plan_graph(graph, Options(time_limit=10.0))
    assert answer.cost[:2] == answer.bound[:2]
    assert 0 < answer.bound[2] < answer.cost[2]
    assert not answer.proved


class Failing:
    """A real solver that fails: from some call on, or wherever clusters are counted."""

    name, inner = "cbc", find("cbc")

    def __init__(self, after: int | None) -> None:
        self.left = after

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> Session:
        session = self.inner.session(variables, rows, relaxed)
        counters = {variable.number for variable in variables if variable.name.startswith("joined")}
        return FailingSession(self, session, counters)


class FailingSession:
    def __init__(self, solver: Failing, inner: Session, counters: set[int]) -> None:
        self.solver, self.inner, self.counters = solver, inner, counters

    def add(self, rows: Iterable[Linear]) -> None:
        self.inner.add(rows)

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        if self.solver.left is not None:
            self.solver.left -= 1
        if not self.counters.isdisjoint(objective.terms) if self.solver.left is None else self.solver.left < 0:
            raise ValueError("it finds no solution where there is one")
        return self.inner.minimise(objective, seconds, cutoff)


def test_what_fails_on_a_later_level_loses_nothing_of_the_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver claims that there are no clusters to count: the bytes and intermediate arrays stay proved."""
    graph = draw(3, 40)
    best, greedy = search(graph), search(graph, Options(strategy="greedy"))
    assert best.cost[:2] < greedy.cost[:2]
    monkeypatch.setattr(optimise, "find", lambda name: Failing(None))
    with pytest.warns(AccelSolverWarning, match="no solution where there is one; the cost is") as caught:
        answer = search(graph)
    assert len(caught) == 1
    assert refusal(graph, answer.clustering, True) is None
    assert answer.cost[:2] == answer.bound[:2] == best.cost[:2]
    assert answer.bound[2] <= best.cost[2] <= answer.cost[2]
    assert (answer.proved, answer.finished, answer.strategy) == (False, False, "ilp")


def test_a_part_that_fails_loses_nothing_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    s = Sketch()
    for k in "12":  # twice the graph above
        s.use(f"u{k}")
        s.use(f"v{k}")
        s.map(f"a{k}", f"u{k}")
        s.map(f"b{k}", f"v{k}", index=f"a{k}")
        s.map(f"c{k}", f"v{k}")
        s.map(f"d{k}", f"u{k}", index=f"c{k}")
    graph = s.finish()
    answers = []
    for calls in range(1, 40):
        monkeypatch.setattr(optimise, "find", lambda name, calls=calls: Failing(calls))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = search(graph, Options(cost="reads_writes", duplicate="gathers"))
        answers.append((answer.strategy, answer.proved, len(caught)))
    assert set(answers) == {("greedy", False, 1), ("ilp and greedy", False, 1), ("ilp", True, 0)}


def test_a_missing_solver_gives_greedy_and_a_warning() -> None:
    graph = _graph()
    with pytest.warns(AccelSolverWarning, match="no solver 'nonesuch'"):
        answer = plan_graph(graph, Options(solver="nonesuch"))
    assert answer.strategy == "greedy"
    assert answer.solver is None


def test_a_short_time_limit_is_kept_and_reported() -> None:
    graph = draw(7, 150)
    with pytest.warns(AccelSolverWarning, match="the cost is"):
        answer = plan_graph(graph, Options(time_limit=0.001))
    assert refusal(graph, answer.clustering, True) is None
    assert answer.bound <= answer.cost


def test_what_a_simple_bound_proves_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot product is planned without one: python-mip and CBC take longer to load than to solve."""
    monkeypatch.setattr(optimise, "find", lambda name: Faulty("crash"))
    s = Sketch()
    s.use("xs")
    s.use("ys")
    s.map("products", "xs ys")
    s.fold("sum", "products")
    answer = plan_graph(s.finish())
    assert answer.proved
    assert s.sets(answer.clustering) == {frozenset({"products", "sum"})}


@pytest.mark.parametrize("seed", one_in(3, [115, 124, 170, 173, 186]))
def test_what_is_not_proved_costs_no_more_than_any_strategy(seed: int) -> None:
    """Graphs of 40 to 150 operations of which greedy's clusters cost more than those of another strategy."""
    graph = draw(seed, [40, 80, 150][seed % 3], nested=seed % 4 == 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hurried = search(graph, Options(time_limit=1e-3))
    others = {strategy: search(graph, Options(strategy)).cost for strategy in QUICK}
    assert others["greedy"] > min(others.values()) >= hurried.cost
    assert not hurried.proved
    assert refusal(graph, hurried.clustering, "gathers") is None
    assert [f"{hurried.cost}" in str(warning.message) for warning in caught] == [True]
