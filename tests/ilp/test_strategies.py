"""Every strategy is legal, and none costs less than the proved optimum; branch and bound gives it, whatever the cost.

More than CI runs: `python -m tests.ilp.test_strategies FIRST LAST OPERATIONS`.
"""

from __future__ import annotations

import sys
import warnings
from typing import get_args

import pytest

import accel as A
from accel.errors import AccelSolverWarning
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import plan_graph
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.problem.decode import in_order
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.traversals import assign
from accel.ilp.text import graph_text
from accel.support.choices import STRATEGIES, CostName, Strategy
from tests.ilp.brute import brute
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch
from tests.ilp.test_random import RULES
from tests.marks import one_in

BATCHES = 10
PER_BATCH = 12
NEVER_WORSE: tuple[Strategy, ...] = ("ilp", "greedy", "unintrusive", "branch_and_bound")
"""The strategies that merge only where that saves something."""


def plans(graph: Graph, options: Options) -> tuple[tuple[int, ...], set[frozenset[int]]]:
    """Cost and clusters of a plan that is legal."""
    answer = plan_graph(graph, options)
    assert refusal(graph, answer.clustering, options.duplicate) is None
    assert answer.strategy == options.strategy
    return answer.cost, {frozenset(cluster.labels) for cluster in answer.clustering.clusters}


def quirky(cluster: A.CostCluster) -> tuple[int, ...]:
    """A cost that is no sum of weights, negative here and there."""
    operations = [operation.label for operation in cluster.operations]
    return (sum(operations) * len(operations)) % 11 - 5, len(cluster.reads) - 2 * len(cluster.writes)


def agree(seed: int, operations: int) -> None:
    """One graph, one cost model after the other with the seed, under each rule about work."""
    graph = draw(seed, operations, nested=seed % 3 == 0)
    names: tuple[CostName, ...] = get_args(CostName)
    name, duplicate = names[seed % len(names)], RULES[seed // len(names) % len(RULES)]
    weights = Weights(graph, {})
    best, _ = brute(graph, MODELS[name], weights, duplicate)
    unfused = plan_graph(graph, Options(strategy="none", cost=name, duplicate=duplicate)).cost
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for strategy in STRATEGIES:
            found = plan_graph(graph, Options(strategy=strategy, cost=name, duplicate=duplicate, time_limit=60))
            what = f"{seed} {strategy} {name} {duplicate}\n{graph_text(graph)}"
            if strategy == "ilp":  # it may compute producers again, which the others never do
                assert found.cost <= best, what
                continue
            assert refusal(graph, found.clustering, duplicate) is None, what
            assert found.bound <= best <= found.cost, what
            assert found.proved == (found.cost == found.bound), what
            assert found.cost <= unfused or strategy not in NEVER_WORSE, what
            assert strategy != "branch_and_bound" or (found.cost, found.proved) == (best, True), what
        own = plan_graph(graph, Options(strategy="branch_and_bound", cost=quirky, duplicate=duplicate))
    assert (own.cost, own.proved) == (brute(graph, quirky, weights, duplicate)[0], True), f"{seed} {graph_text(graph)}"


@pytest.mark.parametrize("batch", one_in(3, range(BATCHES)))
def test_strategies_are_legal_and_branch_and_bound_is_brute_force(batch: int) -> None:
    for seed in range(batch * PER_BATCH, (batch + 1) * PER_BATCH):
        agree(seed, 3 + seed % 4)


@pytest.mark.parametrize("strategy", one_in(7, [strategy for strategy in STRATEGIES if strategy != "ilp"]))
def test_strategies_on_graphs_of_25_operations(strategy: Strategy) -> None:
    for seed in range(6):
        graph = draw(seed, 25, nested=seed % 2 == 0)
        for duplicate in RULES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AccelSolverWarning)
                cost, _ = plans(graph, Options(strategy=strategy, duplicate=duplicate, time_limit=1.0))
            assert plan_graph(graph, Options(duplicate=duplicate)).cost <= cost


def _two_chains() -> tuple[Sketch, Graph]:
    s = Sketch()
    s.use("us")
    s.use("vs", "m")
    s.map("a1", "us")
    s.map("b1", "vs")
    s.map("a2", "a1")
    s.map("b2", "b1")
    return s, s.finish()


def test_linear_cuts_where_the_program_turns_to_something_else() -> None:
    """[Kri section V-E]: operations join the current cluster only, here none does."""
    s, graph = _two_chains()
    linear = plan_graph(graph, Options(strategy="linear"))
    assert s.sets(linear.clustering) == {frozenset({name}) for name in ("a1", "b1", "a2", "b2")}
    best = plan_graph(graph, Options(strategy="branch_and_bound"))
    assert s.sets(best.clustering) == {frozenset({"a1", "a2"}), frozenset({"b1", "b2"})}


def test_linear_joins_what_follows() -> None:
    s = Sketch()
    s.use("us")
    s.map("a", "us")
    s.fold("b", "a")
    s.use("vs")  # a barrier that waits for nothing may come first
    s.map("c", "us vs")
    s.map("d", "c", index="b")
    graph = s.finish()
    assert s.sets(plan_graph(graph, Options(strategy="linear")).clustering) == {frozenset("abc"), frozenset("d")}


def test_unintrusive_merges_stop_where_there_is_a_choice() -> None:
    """[Kri Definition 18]: b may go with a or with d, c and d only together; a could lose its place by b."""
    s = Sketch()
    s.use("us")
    s.map("a", "us", result=True)
    s.fold("f", "a")
    s.map("b", "a", index="f")
    s.map("c", "us", index="b")
    s.fold("d", "c")
    graph = s.finish()
    merged = s.sets(plan_graph(graph, Options(strategy="unintrusive", cost="bytes")).clustering)
    assert frozenset("af") in merged
    assert frozenset("cd") in merged


def test_every_round_of_edges_fuses_what_the_last_one_allowed() -> None:
    """[vB24 section 5]: what the greedy strategies leave is locally maximal: no edge can still be fused."""
    for seed in range(40):
        graph = draw(seed, 8)
        for strategy in ("greedy_top_down", "greedy_bottom_up"):
            _, clusters = plans(graph, Options(strategy=strategy))
            home = {label: cluster for cluster in clusters for label in cluster}
            for edge in graph.edges:
                joined = home.get(edge.array.label, frozenset()) | home[edge.consumer]
                if joined in clusters:
                    continue
                others = [tuple(sorted(cluster)) for cluster in clusters if not cluster & joined]
                together = _legal(graph, [*others, tuple(sorted(joined))])
                assert not together, (seed, strategy, edge)


def _legal(graph: Graph, sets: list[tuple[int, ...]]) -> bool:
    """Whether these sets are clusters of a legal clustering; sets in pieces are none."""
    clusters = [assign(graph, labels) for labels in sets]
    if any(cluster is None for cluster in clusters):
        return False
    ordered = in_order(graph, [cluster for cluster in clusters if cluster is not None])
    return ordered is not None and refusal(graph, ordered, True) is None


def _long(operations: int) -> Graph:
    s = Sketch()
    s.use("v0")
    for number in range(1, operations + 1):
        draw_one = s.scan if number % 5 == 0 else s.map
        draw_one(f"v{number}", f"v{number - 1}")
    return s.finish()


@pytest.mark.parametrize("strategy", one_in(4, STRATEGIES))
def test_long_chains_need_no_deep_stack(strategy: Strategy) -> None:
    graph = _long(1200)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        answer = plan_graph(graph, Options(strategy=strategy, time_limit=1.0))
    finally:
        sys.setrecursionlimit(limit)
    expected = {"none": range(1201, 1202), "unintrusive": range(2, 100)}.get(strategy, range(2, 3))
    assert len(answer.clustering.clusters) in expected


def test_branch_and_bound_out_of_time_is_greedy_with_a_warning() -> None:
    s = Sketch()
    s.use("us")
    for number in range(30):
        s.map(f"v{number}", "us", index=f"v{number - 3}" if number > 2 else "")
    graph = s.finish()
    with pytest.warns(AccelSolverWarning) as caught:
        answer = plan_graph(graph, Options(strategy="branch_and_bound", cost=quirky, time_limit=0.001))
    assert [str(warning.message) for warning in caught] == [
        "The strategy 'branch_and_bound' gave no proved answer: there are too many clusters to try in 1 part of the graph; "
        f"the cost is {answer.cost}"
    ]
    assert not answer.proved
    greedy = plan_graph(graph, Options(strategy="greedy", cost=quirky))
    assert (answer.cost, answer.strategy) == (greedy.cost, "branch_and_bound")


if __name__ == "__main__":
    first, last, size = map(int, sys.argv[1:])
    for number in range(first, last):
        agree(number, size)
    print(f"{last - first} graphs of {size} operations: all optima equal brute force's")
