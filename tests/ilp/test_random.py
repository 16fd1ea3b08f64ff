"""The ILP's optimum is that of brute force over everything that the checker accepts, for every cost model.

More than CI runs: `python -m tests.ilp.test_random FIRST LAST OPERATIONS`.
"""

from __future__ import annotations

import sys
import warnings
from typing import get_args

import pytest

from accel.ilp.legality.checker import refusal
from accel.ilp.plan import plan_graph
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.problem.options import Options
from accel.ilp.text import graph_text
from accel.support.choices import CostName, Duplicate, Strategy
from tests.ilp.brute import brute
from tests.ilp.random_graphs import draw
from tests.marks import long, one_in, slow

BATCHES = 12
PER_BATCH = 15
RULES: tuple[Duplicate, ...] = ("gathers", "published", False)


def agree(seed: int, operations: int, segments: bool = False) -> None:
    """One graph: one cost model after the other with the seed, and the default under each rule about work."""
    graph = draw(seed, operations, nested=seed % 3 == 0, segments=segments)
    models: tuple[CostName, ...] = get_args(CostName)
    for duplicate, model in [("gathers", models[seed % len(models)]), *((rule, "default") for rule in RULES)]:
        options = Options(cost=model, duplicate=duplicate, time_limit=60)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = plan_graph(graph, options)
        best, _ = brute(graph, MODELS[model], Weights(graph, {}), duplicate)
        assert (answer.cost, answer.proved) == (best, True), f"{seed} {model} {duplicate}\n{graph_text(graph)}"


@pytest.mark.parametrize("batch", one_in(6, range(BATCHES)))
def test_the_optimum_is_brute_forces(batch: int) -> None:
    for seed in range(batch * PER_BATCH, (batch + 1) * PER_BATCH):
        agree(seed, 3 + seed % 4)


@pytest.mark.parametrize("batch", one_in(6, range(6)))
def test_the_optimum_is_brute_forces_with_segments(batch: int) -> None:
    for seed in range(batch * PER_BATCH, (batch + 1) * PER_BATCH):
        agree(seed, 3 + seed % 4, segments=True)


@pytest.mark.parametrize("seed", one_in(3, range(700, 706)))
def test_the_optimum_is_brute_forces_for_eight_operations(seed: int) -> None:
    agree(seed, 8)


@slow
@pytest.mark.parametrize("first", [0, pytest.param(4, marks=long), pytest.param(8, marks=long)])
@pytest.mark.parametrize("strategy", ["none", "greedy"])
def test_heuristics_are_legal_and_cost_no_less_than_the_optimum(strategy: Strategy, first: int) -> None:
    for seed in range(first, first + 4):
        graph = draw(seed, 25, nested=seed % 2 == 0)
        for duplicate in RULES:
            found = plan_graph(graph, Options(strategy=strategy, duplicate=duplicate))
            assert refusal(graph, found.clustering, duplicate) is None
            assert found.bound <= plan_graph(graph, Options(duplicate=duplicate)).cost <= found.cost


if __name__ == "__main__":
    first, last, size = map(int, sys.argv[1:])
    for number in range(first, last):
        agree(number, size)
    print(f"{last - first} graphs of {size} operations: all optima equal brute force's")
