"""Costs of the user's own: models of weights, functions over clusters, and what is wrong with some."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.calling.building import _COMPILED
from accel.errors import AccelValueError
from accel.ilp.plan import plan_graph
from accel.ilp.problem.cost import MODELS
from accel.ilp.problem.cost_function import CostFunction
from accel.ilp.problem.function_key import FunctionKey
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.support.choices import STRATEGIES, CostName
from tests import untyped
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch

BY_FUNCTION: dict[str, CostFunction] = {
    "clusters": lambda cluster: 1,
    "edges": lambda cluster: -cluster.fused_edges,
    "intermediates": lambda cluster: sum(not array.is_result for array in cluster.writes),
    "reads": lambda cluster: len(cluster.reads),
    "reads_writes": lambda cluster: len(cluster.reads) + len(cluster.writes),
    "bytes": lambda cluster: sum(array.bytes for array in (*cluster.reads, *cluster.writes)),
    "max_contract": lambda cluster: len(cluster.writes),
    "max_locality": lambda cluster: -cluster.fused_accesses,
    "robinson": lambda cluster: (-cluster.fused_accesses, len(cluster.writes), 1),
    "memory": lambda cluster: (
        sum(array.bytes for array in (*cluster.reads, *cluster.writes)),
        sum(not array.is_result for array in cluster.writes),
        1,
    ),
    "default": lambda cluster: (
        sum(array.bytes for array in (*cluster.reads, *cluster.writes)) + cluster.interference,
        sum(not array.is_result for array in cluster.writes),
        1,
    ),
}
"""The named models once more, but for a constant."""


def test_all_models_can_be_said_as_functions() -> None:
    assert BY_FUNCTION.keys() == MODELS.keys()


def gathered() -> Sketch:
    """A gather of sixteen of a vector's elements, and a scatter of what a map makes of them."""
    s = Sketch()
    s.use("xs")
    s.use("is", "16")
    s.map("a", "xs")
    s.gather("g", "is", "xs")
    s.scatter("s", "a", "xs")
    return s


def test_costs_that_are_counted_by_hand() -> None:
    """A gather reads as many elements as it makes, of whatever it reads; results are no intermediates."""
    graph = gathered().finish(["g"])

    def cost(name: CostName) -> int:
        return plan_graph(graph, Options(strategy="none", cost=name)).cost[0]

    mapped, taken, scattered = 1024 + 1024, 16 + 16 + 16, 1024 + 1024
    assert cost("bytes") == 4 * (mapped + taken + scattered)
    assert cost("intermediates") == 1
    assert cost("reads") == 4
    assert cost("clusters") == 3


@pytest.mark.parametrize("name", MODELS)
def test_a_function_finds_what_the_model_finds(name: str) -> None:
    """Over all clusters they differ by what the model counts before anything is fused."""
    for seed in range(12):
        graph = draw(seed, 3 + seed % 4, nested=seed % 3 == 0)
        costs = [
            plan_graph(graph, Options(strategy=strategy, cost=cost)).cost
            for strategy in ("none", "branch_and_bound")
            for cost in (MODELS[name], BY_FUNCTION[name])
        ]
        differences = [tuple(a - b for a, b in zip(x, y, strict=True)) for x, y in (costs[:2], costs[2:])]
        assert differences[0] == differences[1], seed


@pytest.mark.parametrize("name", MODELS)
def test_a_model_without_its_name_gives_the_same_plan(name: str) -> None:
    graph = draw(5, 12)
    for strategy in STRATEGIES:
        named, own = (
            plan_graph(graph, Options(strategy=strategy, cost=model))
            for model in (MODELS[name], A.CostModel(MODELS[name].levels))
        )
        assert (named.cost, named.clustering, named.proved) == (own.cost, own.clustering, own.proved)


@pytest.mark.parametrize(
    "levels",
    [
        (A.CostLevel(read_bytes=1, write_bytes=3, cluster=5000),),
        (A.CostLevel(read=2, write=3, intermediate=1), A.CostLevel(edge=1)),
        (
            A.CostLevel(cluster=4, access=1),
            A.CostLevel(read_bytes=1),
        ),  # who reads together, and who pays for it, differ
        (A.CostLevel(read=5, access=2, edge=1, write_bytes=1),),
        (A.CostLevel(read_bytes=1, interference=1), A.CostLevel(cluster=1, interference=2)),
        (A.CostLevel(),),
    ],
)
def test_sums_of_weights_have_one_optimum_by_the_solver_and_by_search(levels: tuple[A.CostLevel, ...]) -> None:
    for seed in range(15):
        graph = draw(seed, 6, nested=seed % 3 == 0)
        options = [Options(strategy=s, cost=A.CostModel(levels), duplicate=False) for s in ("ilp", "branch_and_bound")]
        by_solver, by_search = (plan_graph(graph, each) for each in options)
        assert (by_solver.cost, by_solver.proved) == (by_search.cost, by_search.proved) == (by_search.bound, True)


def _two_maps() -> Graph:
    s = Sketch()
    s.use("us")
    s.map("a", "us")
    s.map("b", "a")
    return s.finish()


def test_a_function_sees_the_cluster() -> None:
    seen: list[A.CostCluster] = []

    def look(cluster: A.CostCluster) -> int:
        seen.append(cluster)
        return len(cluster.operations)

    s = Sketch()
    s.use("us", "16")
    s.map("a", "us", result=True, operations=3)
    s.fold("b", "a")
    assert plan_graph(s.finish(), Options(strategy="linear", cost=look)).cost == (2,)
    (cluster,) = seen
    assert [(o.label, o.name, o.kind, o.elements, o.operations, o.loops, o.order) for o in cluster.operations] == [
        (1, "a", "map", 16, 3, False, "0"),
        (2, "b", "fold", 16, 1, False, "0"),
    ]
    assert [(a.name, a.elements, a.bytes, a.is_result, a.order) for a in cluster.reads] == [("%0", 16, 64, False, "0")]
    assert [(a.name, a.bytes, a.is_result) for a in cluster.writes] == [("%1", 64, True), ("%2", 4, True)]
    assert (cluster.elements, cluster.fused_edges, cluster.fused_accesses) == (16, 1, 1)


def test_a_function_may_make_fusion_dear() -> None:
    """Loops of two operations cost too much: nothing is fused, by any strategy that looks at the cost."""

    def few(cluster: A.CostCluster) -> int:
        return len(cluster.operations) ** 2 - 5

    for strategy in ("greedy", "unintrusive", "branch_and_bound"):
        answer = plan_graph(_two_maps(), Options(strategy=strategy, cost=few))
        assert (answer.cost, len(answer.clustering.clusters)) == ((-8,), 3)


def _fails(cluster: A.CostCluster) -> int:
    raise KeyError("bandwidth")


def _uneven(cluster: A.CostCluster) -> tuple[int, ...]:
    return (1,) * len(cluster.operations)


ANSWER = (
    "\n  hint: a cost function returns an integer, or a tuple of as many for every cluster; "
    "it may be negative, but not a float"
)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_fails, "The cost function _fails raised KeyError for the cluster a %1: 'bandwidth'"),
        (lambda cluster: 0.5, "The cost function <lambda> returned 0.5 for the cluster a %1."),
        (lambda cluster: math.nan, "The cost function <lambda> returned nan for the cluster a %1."),
        (lambda cluster: -math.inf, "The cost function <lambda> returned -inf for the cluster a %1."),
        (lambda cluster: None, "The cost function <lambda> returned None for the cluster a %1."),
        (lambda cluster: (), "The cost function <lambda> returned () for the cluster a %1."),
        (lambda cluster: (1, "2"), "The cost function <lambda> returned (1, '2') for the cluster a %1."),
        (_uneven, "The cost function _uneven returned 1 number for one cluster and 2 for another."),
    ],
)
def test_a_function_that_fails_is_named(function: Callable[[A.CostCluster], Any], message: str) -> None:
    for strategy in ("greedy", "branch_and_bound"):
        with pytest.raises(AccelValueError) as caught:
            plan_graph(_two_maps(), Options(strategy=strategy, cost=function))
        assert caught.value.message == message
        assert str(caught.value).endswith(ANSWER)
        assert "test_costs.py" in str(caught.value)


@pytest.mark.parametrize("weight", [-1, 0.5, True, "1"])
def test_weights_are_integers_from_0(weight: Any) -> None:
    with pytest.raises(AccelValueError) as caught:
        A.CostLevel(read=weight)
    assert caught.value.message == f"The weight read={weight!r} is no integer from 0."


def test_a_model_has_levels() -> None:
    for levels in ((), [A.CostLevel(read=1)], ("bytes",)):
        with pytest.raises(AccelValueError) as caught:
            A.CostModel(levels)  # type: ignore[arg-type]  # what is wrong with it
        assert caught.value.message == f"A cost model is a tuple of one CostLevel or more, not {levels!r}."


def test_settings_say_what_a_cost_is() -> None:
    for cost in ("time", A.CostLevel(read=1), 3):
        with pytest.raises(AccelValueError) as caught, A.using(cost=cost):  # type: ignore[arg-type]  # refused
            pass
        assert caught.value.message == f"cost={cost!r} is no setting"
        assert "'bytes'" in str(caught.value.hint)
        assert str(caught.value.hint).endswith("a CostModel, or a function over a CostCluster")


def test_plans_name_their_cost() -> None:
    program = A.fold(A.add, 0, A.map(lambda x: x + 1, A.use(np.arange(3.0))))
    found = A.explain(program, cost=BY_FUNCTION["bytes"], strategy="branch_and_bound")
    assert (found.cost_model, found.strategy, found.proved) == ("<lambda>", "branch_and_bound", True)
    model = A.CostModel((A.CostLevel(read_bytes=1, write_bytes=2), A.CostLevel(cluster=1)))
    assert A.explain(program, cost=model).cost_model == "read_bytes + 2 write_bytes; cluster"
    assert A.explain(program, cost=A.CostModel(model.levels, "mine")).cost_model == "mine"
    assert A.explain(program, cost="bytes").cost_model == "bytes"


@pytest.mark.llvm
def test_results_do_not_depend_on_the_cost() -> None:
    xs = np.arange(100.0)
    program = A.fold(A.add, 0, A.map(lambda x: x + 1, A.scanl(A.add, 0, A.use(xs))))
    expected = untyped.run(program)
    for name in ("bytes", "clusters", "edges"):
        for strategy in ("branch_and_bound", "greedy", "unintrusive"):
            np.testing.assert_array_equal(untyped.run(program, cost=BY_FUNCTION[name], strategy=strategy), expected)


class Machine:
    """A cost function as a method."""

    def __init__(self, weight: int) -> None:
        self.weight = weight
        self.calls = 0

    def cost(self, cluster: A.CostCluster) -> int:
        self.calls += 1
        return self.weight * len(cluster.reads)

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]  # an unhashable object is a key, too


def test_a_function_is_a_key_by_identity() -> None:
    one, two = Machine(1), Machine(1)
    assert FunctionKey(one.cost) == FunctionKey(one.cost)
    assert hash(FunctionKey(one.cost)) == hash(FunctionKey(one.cost))
    assert FunctionKey(one.cost) != FunctionKey(two.cost)
    first, second = (lambda cluster: 1 for _ in range(2))
    assert FunctionKey(first) == FunctionKey(first) != FunctionKey(second)


@pytest.mark.llvm
def test_what_was_compiled_for_a_function_is_found_again() -> None:
    machine = Machine(3)
    program = A.map(lambda x: x * 12345.0, A.use(np.arange(3.0)))
    untyped.run(program, cost=machine.cost, strategy="greedy")
    calls = machine.calls
    assert calls > 0
    untyped.run(program, cost=machine.cost, strategy="greedy")
    assert machine.calls == calls
    untyped.run(program, cost=Machine(3).cost, strategy="greedy")
    assert machine.calls == calls


@pytest.mark.llvm
def test_caches_do_not_keep_functions_alive() -> None:
    machine = Machine(1)
    compiled = untyped.runN(lambda xs: A.map(lambda x: x * 54321.0, xs))
    with A.using(cost=machine.cost, strategy="branch_and_bound"):
        compiled(np.arange(3.0))
        untyped.run(A.map(lambda x: x * 54322.0, A.use(np.arange(3.0))))
    compiled(np.arange(4.0))
    assert len(_COMPILED) > 0
    watched = weakref.ref(machine)
    del machine
    gc.collect()
    assert watched() is None
