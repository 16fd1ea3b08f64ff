"""Our formulation and two published ones: the same optima; what the papers' own rows say; what is asked in vain."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import get_args

import numpy as np
import pytest

import accel as A
from accel.errors import AccelSolverWarning, AccelValueError
from accel.ilp import optimise
from accel.ilp.facts.analysis import analyse
from accel.ilp.formulations.concestors import Sizes
from accel.ilp.formulations.published import Published
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import plan_graph
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.solve import Clock, solve
from accel.ilp.solvers import find, is_installed
from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import Solution
from accel.support.choices import CostName, Duplicate, FormulationName, SolverName
from tests import untyped
from tests.ilp.agreement import FORMULATIONS, disagreements, expressible, graph_of, installed
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch
from tests.marks import one_in

OTHERS: tuple[FormulationName, ...] = ("published", "robinson")
COSTS: tuple[CostName, ...] = get_args(CostName)
QUICK: SolverName = "highs" if is_installed("highs") else "cbc"
"""The solver of tests that ask only one: HiGHS is quicker."""

# ---- the same optima


@pytest.mark.parametrize("solver", installed())
@pytest.mark.parametrize("batch", one_in(5, range(10)))
def test_all_formulations_reach_the_optimum_of_brute_force(batch: int, solver: str) -> None:
    """Each of the 100 graphs under three cost models; so each model is asked 30 times."""
    for seed in range(10 * batch, 10 * (batch + 1)):
        costs = [COSTS[(3 * seed + step) % len(COSTS)] for step in range(3)]
        assert disagreements(graph_of(seed, 3 + seed % 4), FORMULATIONS, [solver], costs, "gathers") == []


@pytest.mark.parametrize("cost", COSTS)
def test_every_cost_model_on_graphs_of_seven_operations(cost: CostName) -> None:
    for seed in (200, 201, 203):
        assert disagreements(graph_of(seed, 7), FORMULATIONS, [QUICK], [cost], "gathers") == []


@pytest.mark.parametrize("rule", ["published", False])
def test_every_rule_about_work(rule: Duplicate) -> None:
    for seed in range(300, 330, 2):
        graph = draw(seed, 5, nested=seed % 4 == 0)
        assert disagreements(graph, OTHERS, [QUICK], ["default", "reads_writes"], rule) == []


def test_only_our_formulation_decides_about_recomputation() -> None:
    """`duplicate=True` is "gathers" to the others: what they find costs no less, and is legal."""
    for seed in range(12):
        graph = graph_of(seed, 6)
        ours = plan_graph(graph, Options(duplicate=True))
        for formulation in expressible(graph, OTHERS):
            other = plan_graph(graph, Options(duplicate=True, formulation=formulation))
            assert other.cost == plan_graph(graph, Options(duplicate="gathers", formulation=formulation)).cost
            assert ours.cost <= other.cost
            assert refusal(graph, other.clustering, True) is None


@pytest.mark.parametrize("seed", range(4))
def test_formulations_agree_where_brute_force_ends(seed: int) -> None:
    """24 operations: three models that share no rows about circles prove the same optimum."""
    graph = graph_of(seed, 24)
    costs = {}
    for formulation in expressible(graph, FORMULATIONS):
        options = Options("ilp", "reads_writes", QUICK, duplicate="gathers", formulation=formulation, time_limit=60)
        answer = plan_graph(graph, options)
        assert answer.proved
        costs[formulation] = answer.cost
    assert len(set(costs.values())) == 1, costs


# ---- the papers' own rows


def _scatter_of_what_is_gathered() -> Graph:
    """C1: `a = map xs; s = scatter(d0, a); b = gather(is, a)`."""
    s = Sketch()
    s.use("xs")
    s.use("is")
    s.generate("d0")
    s.map("a", "xs")
    s.scatter("s", "a", "d0")
    s.gather("b", "is", "a")
    return s.finish()


@pytest.mark.parametrize(("corrected", "optimum"), [(True, 7), (False, 5)])
def test_figure_4_as_printed_scatters_only_what_is_gathered(corrected: bool, optimum: int) -> None:
    """Without the order of Table 1 for a scatter's source, its optimum is a clustering that scatters too little."""
    graph, model = _scatter_of_what_is_gathered(), MODELS["reads_writes"]
    facts = analyse(graph, "published")
    posed = Published(graph, facts.bundles, model.levels, Weights(graph, {}), "published", corrected)
    answer = solve(posed, find("cbc"), Clock(30))
    assert answer is not None
    assert answer.proved == 1
    assert answer.bound[0] + posed.model.objectives[0].constant == optimum
    found = clustering(graph, answer.clusters, answer.backward)
    assert (found is not None and refusal(graph, found, "published") is None) is corrected


def _normalize2(force: bool) -> Sketch:
    """[Rob section 1.3.6]."""
    s = Sketch()
    s.use("xs")
    s.fold("sum1", "xs")
    s.filter("gts", "k", "xs", force=force)
    s.fold("sum2", "gts.0")
    s.map("ys1", "gts.0", index="sum1")
    s.map("ys2", "gts.0", index="sum2")
    return s


def test_concestors_of_the_paper() -> None:
    s = _normalize2(force=False)
    sizes, label = Sizes(s.finish()), s.labels
    assert sizes.concestors(label["sum1"], label["sum2"]) == (label["sum1"], label["gts"])
    assert sizes.concestors(label["sum2"], label["ys1"]) == (label["sum2"], label["ys1"])
    assert sizes.concestors(label["gts"], label["ys1"]) == (label["gts"], label["gts"])


def test_operations_of_unrelated_sizes_have_no_concestors() -> None:
    s = Sketch()
    s.use("xs")
    s.use("ys", "m")
    s.filter("f", "k", "xs")
    s.scan("n_and_1", "xs", exclusive=True)
    s.scan("k_and_1", "f.0", exclusive=True)
    s.map("b", "ys")
    sizes, label = Sizes(s.finish()), s.labels
    assert sizes.concestors(label["f"], label["b"]) is None
    assert sizes.concestors(label["f"], label["k_and_1"]) is None
    assert sizes.concestors(label["f"], label["n_and_1"]) == (label["f"], label["n_and_1"])


@pytest.mark.parametrize(("force", "clusters"), [(False, 2), (True, 3)])
def test_the_filter_brings_both_sums_together(force: bool, clusters: int) -> None:
    """[Rob Table 1.1]: normalize2 has two loops; if what is filtered is made by itself, the sums are apart."""
    graph = _normalize2(force).finish()
    assert plan_graph(graph, Options(cost="clusters", formulation="robinson")).cost == (clusters,)


def test_two_filters_in_a_row_and_a_generate_of_the_last_ones_size() -> None:
    """Fig. 1.8 skips the filter between if it is not in the cluster; here it stands between the two in any order."""
    s = Sketch()
    s.use("xs")
    s.filter("f1", "k1", "xs")
    s.filter("f2", "k2", "f1.0")
    s.generate("g", "k2")
    s.map("out", ["f2.0", "g"])
    s.fold("sum", "xs")
    assert disagreements(s.finish(), FORMULATIONS, installed(), COSTS, "gathers") == []


def test_a_scalar_brings_no_loops_of_different_sizes_together() -> None:
    """Both folds may be fused with the map of their results, but not with each other: transitivity says so."""
    s = Sketch()
    s.use("xs")
    s.use("ys", "m")
    s.fold("sum_x", "xs")
    s.fold("sum_y", "ys")
    s.map("both", "sum_x sum_y")
    graph = s.finish()
    assert disagreements(graph, FORMULATIONS, installed(), COSTS, "gathers") == []
    assert plan_graph(graph, Options(cost="clusters", formulation="robinson")).cost == (2,)


# ---- in front of the user


def _normalise2(ys: A.Acc[A.Vector[np.float64]]) -> tuple[A.Acc[A.Vector[np.float64]], A.Acc[A.Vector[np.float64]]]:
    xs = A.map(lambda y: 2 * y, ys)
    sum1 = A.fold(A.add, 0, xs)
    sum2 = A.fold(A.add, 0, A.scanl(A.add, 0, xs))
    return A.map(lambda x: x / A.the(sum1), xs), A.map(lambda x: x / A.the(sum2), xs)


@pytest.mark.parametrize("formulation", OTHERS)
def test_the_model_of_the_running_example(golden: Callable[[str], None], formulation: FormulationName) -> None:
    program = _normalise2(A.use(np.arange(1.0, 6.0)))
    explained = A.explain(program, cost="reads_writes", formulation=formulation)
    assert (explained.cost, explained.proved) == ((7,), True)
    golden(explained.stages["model"])


@pytest.mark.llvm
def test_robinson_knows_no_gathers() -> None:
    with (
        A.using(formulation="robinson"),
        pytest.raises(AccelValueError, match="knows no gathers, and the program has one: reverse"),
    ):
        untyped.run(A.reverse(A.use(np.arange(3.0))))
    with A.using(formulation="robinson", strategy="greedy"):
        assert untyped.run(A.reverse(A.use(np.arange(3.0)))).tolist() == [2.0, 1.0, 0.0]


@pytest.mark.llvm
def test_results_do_not_depend_on_the_formulation() -> None:
    program = A.fold(A.add, 0, A.scanl(A.add, 0, A.use(np.arange(9.0))))
    for formulation in FORMULATIONS:
        assert A.run(program, formulation=formulation) == np.arange(9.0).cumsum().sum()


def test_an_unknown_formulation_is_refused() -> None:
    with pytest.raises(AccelValueError, match="formulation='megiddo' is no setting"):
        A.run(A.unit(1), formulation="megiddo")  # type: ignore[call-overload]  # what is tested
    with pytest.raises(AccelValueError, match="formulation='megiddo' is no setting"):
        Options(formulation="megiddo")  # type: ignore[arg-type]  # what is tested


class _AllTogether:
    """A solver for which all potentials are 0, all is fused, and nothing costs anything."""

    name = "all together"

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> _AllTogether:
        self.variables = list(variables)
        return self

    def add(self, rows: Iterable[Linear]) -> None:
        pass

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        return Solution({variable.number: 0.0 for variable in self.variables}, True, 0.0)


@pytest.mark.parametrize("formulation", OTHERS)
def test_a_wrong_answer_gives_greedy_and_one_warning(
    monkeypatch: pytest.MonkeyPatch, formulation: FormulationName
) -> None:
    monkeypatch.setattr(optimise, "find", lambda name: _AllTogether())
    s = Sketch()  # of two shared reads only one can be had: both would be a circle of clusters
    s.use("u")
    s.use("v")
    s.map("a1", "u")
    s.map("b1", "v", index="a1")
    s.map("b2", "v")
    s.map("a2", "u", index="b2")
    graph = s.finish()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = plan_graph(graph, Options(formulation=formulation))
    assert [each.category for each in caught] == [AccelSolverWarning]
    assert not answer.proved
    assert answer.cost == plan_graph(graph, Options(strategy="greedy")).cost
    assert refusal(graph, answer.clustering, True) is None
