"""Every formulation, solver and cost model against brute force, graph by graph. More than CI runs:

    python -m tests.ilp.agreement FIRST LAST OPERATIONS [--formulation NAME] [--solver NAME] [--cost NAME] [--duplicate RULE]
        [--sizes NAME] [--ranks] [--without-brute-force]

takes the random graphs FIRST to LAST - 1 of that many operations, and all names of what is not given. Half of the graphs have
no gathers, and only those are asked of Robinson's formulation. `--ranks`: graphs of arrays of ranks 0 to 5. `--sizes actual`:
of large and odd sizes. `--without-brute-force`: answers are compared with each other only; for more than 8 operations.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Literal, TypeAlias, get_args

from accel.ilp.plan import search
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.solvers import NAMES, is_installed
from accel.ilp.text import graph_text
from accel.labelled.array import SizeVariable
from accel.labelled.operations import GATHERS
from accel.support.choices import CostName, Duplicate, FormulationName, SolverName
from tests.ilp.brute import brute_all
from tests.ilp.random_graphs import draw, odd_sizes

SizesName: TypeAlias = Literal["nominal", "actual"]
Sizes: TypeAlias = Literal["nominal"] | Mapping[SizeVariable, int]

FORMULATIONS: tuple[FormulationName, ...] = get_args(FormulationName)
RULES: tuple[Duplicate, ...] = ("gathers", "published", False, True)
SIZES: tuple[SizesName, ...] = get_args(SizesName)


def installed() -> tuple[SolverName, ...]:
    """The solvers that can be used here."""
    return tuple(filter(is_installed, NAMES))


def graph_of(seed: int, operations: int, ranks: bool = False) -> Graph:
    """A random graph of all kinds; odd ones have no gathers."""
    return draw(seed, operations, nested=seed % 3 == 0, gathers=seed % 2 == 0, ranks=ranks)


def sizes_of(seed: int, graph: Graph, name: SizesName) -> Sizes:
    """The sizes that a graph is planned for."""
    return "nominal" if name == "nominal" else odd_sizes(seed, graph)


def expressible(graph: Graph, formulations: Iterable[FormulationName]) -> list[FormulationName]:
    """Those formulations that can express a graph."""
    gathers = any(node.kind in GATHERS for node in graph.nodes)
    return [name for name in formulations if name != "robinson" or not gathers]


def disagreements(
    graph: Graph, formulations: Sequence[FormulationName], solvers: Sequence[str], costs: Sequence[CostName],
    duplicate: Duplicate, sizes: Sizes = "nominal", brute: bool = True,
) -> list[str]:  # fmt: skip
    """The plans of a graph that are not proved, warn, or cost something else than the best of all clusterings.

    Without `brute` force: something else than the first of them. Copies, `duplicate=True`, are for our formulation only.
    """
    found = []
    models = [MODELS[cost] for cost in costs]
    weights = Weights(graph, Options(sizes=sizes).extents)
    truth = brute_all(graph, models, weights, duplicate) if brute else [None] * len(models)
    asked: list[FormulationName] = ["accel"] if duplicate is True else expressible(graph, formulations)
    for cost, least in zip(costs, truth, strict=True):
        best = least
        for formulation in asked:
            for solver in solvers:
                options = Options(cost=cost, solver=solver, sizes=sizes, duplicate=duplicate, formulation=formulation,
                                  time_limit=60)  # fmt: skip
                who = f"{cost}, {formulation}, {solver}, {duplicate}"
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    answer = search(graph, options)
                best = answer.cost if best is None else best
                found += [f"{who}: {warning.message}" for warning in caught]
                if (answer.cost, answer.proved) != (best, True):
                    found.append(f"{who}: {answer.cost}, at least {answer.bound}, but {best} can be had")
    return found


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.ilp.agreement")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("operations", type=int)
    parser.add_argument("--formulation", candidates=FORMULATIONS, nargs="+", default=FORMULATIONS)
    parser.add_argument("--solver", candidates=NAMES, nargs="+", default=installed())
    parser.add_argument("--cost", candidates=get_args(CostName), nargs="+", default=get_args(CostName))
    parser.add_argument("--duplicate", candidates=tuple(map(str, RULES)), nargs="+", default=("gathers",))
    parser.add_argument("--sizes", candidates=SIZES, nargs="+", default=("nominal",))
    parser.add_argument("--ranks", action="store_true")
    parser.add_argument("--without-brute-force", action="store_true")
    given = parser.parse_args()
    if "True" in given.duplicate and not given.without_brute_force:
        parser.error("recomputation is not compared with brute force here: python -m tests.ilp.test_recompute")
    return given


def main() -> int:
    """Compare, print what disagrees; 1 if something does."""
    given = _given()
    rules = [rule for rule in RULES if str(rule) in given.duplicate]
    wrong = 0
    for seed in range(given.first, given.last):
        graph = graph_of(seed, given.operations, given.ranks)
        for rule, sizes in product(rules, given.sizes):
            extents, brute = sizes_of(seed, graph, sizes), not given.without_brute_force
            for each in disagreements(graph, given.formulation, given.solver, given.cost, rule, extents, brute):
                wrong += 1
                print(f"graph {seed}, {sizes} sizes: {each}\n{graph_text(graph)}", flush=True)
        if (seed + 1 - given.first) % 100 == 0:
            print(f"{seed + 1 - given.first} graphs, {wrong} disagreements", flush=True)
    what = "each other" if given.without_brute_force else "brute force"
    print(f"{given.last - given.first} graphs of {given.operations} operations, {wrong} disagreements with {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
