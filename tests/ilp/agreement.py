"""Every formulation, solver and cost model against brute force, graph by graph. More than CI runs:

    python -m tests.ilp.agreement FIRST LAST OPERATIONS [--formulation NAME] [--solver NAME] [--cost NAME] [--duplicate RULE]

takes the random graphs FIRST to LAST - 1 of that many operations, and all names of what is not given. Half of the graphs have
no gathers, and only those are asked of Robinson's formulation.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import get_args

from accel.ilp.brute import brute_all
from accel.ilp.cost import MODELS, CostName, Weights
from accel.ilp.graph import Graph, Kind
from accel.ilp.options import Duplicate, FormulationName, Options
from accel.ilp.plan import plan_graph
from accel.ilp.solvers import NAMES, SolverName, is_installed
from accel.ilp.text import graph_text
from tests.ilp.random_graphs import draw

FORMULATIONS: tuple[FormulationName, ...] = get_args(FormulationName)
RULES: tuple[Duplicate, ...] = ("gathers", "published", False)


def installed() -> tuple[SolverName, ...]:
    """The solvers that can be used here."""
    return tuple(filter(is_installed, NAMES))


def graph_of(seed: int, operations: int) -> Graph:
    """A random graph of all kinds; odd ones have no gathers."""
    return draw(seed, operations, nested=seed % 3 == 0, gathers=seed % 2 == 0)


def expressible(graph: Graph, formulations: Iterable[FormulationName]) -> list[FormulationName]:
    """Those formulations that can express a graph."""
    gathers = any(node.kind is Kind.GATHER for node in graph.nodes)
    return [name for name in formulations if name != "robinson" or not gathers]


def disagreements(
    graph: Graph, formulations: Sequence[FormulationName], solvers: Sequence[str], costs: Sequence[CostName],
    duplicate: Duplicate,
) -> list[str]:  # fmt: skip
    """The plans of a graph that are not proved, warn, or cost something else than the best of all clusterings."""
    found = []
    truth = brute_all(graph, [MODELS[cost] for cost in costs], Weights(graph, {}), duplicate)
    for cost, best in zip(costs, truth, strict=True):
        for formulation in expressible(graph, formulations):
            for solver in solvers:
                options = Options(cost=cost, solver=solver, duplicate=duplicate, formulation=formulation, time_limit=60)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    answer = plan_graph(graph, options)
                if (answer.cost, answer.proved) != (best, True):
                    found.append(f"{cost}, {formulation}, {solver}, {duplicate}: {answer.cost}, but {best} can be had")
    return found


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.ilp.agreement")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--formulation", choices=FORMULATIONS, nargs="+", default=FORMULATIONS)
    parser.add_argument("--solver", choices=NAMES, nargs="+", default=installed())
    parser.add_argument("--cost", choices=get_args(CostName), nargs="+", default=get_args(CostName))
    parser.add_argument("--duplicate", choices=tuple(map(str, RULES)), nargs="+", default=("gathers",))
    return parser.parse_args()


def main() -> int:
    """Compare, print what disagrees; 1 if something does."""
    given = _given()
    rules = [rule for rule in RULES if str(rule) in given.duplicate]
    wrong = 0
    for seed in range(given.first, given.last):
        graph = graph_of(seed, given.operations)
        for rule in rules:
            for each in disagreements(graph, given.formulation, given.solver, given.cost, rule):
                wrong += 1
                print(f"graph {seed}: {each}\n{graph_text(graph)}", flush=True)
        if (seed + 1 - given.first) % 100 == 0:
            print(f"{seed + 1 - given.first} graphs, {wrong} disagreements", flush=True)
    print(f"{given.last - given.first} graphs of {given.operations} operations, {wrong} disagreements with brute force")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
