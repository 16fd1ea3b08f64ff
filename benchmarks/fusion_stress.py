"""Times to the proof over many random graphs that are out to be hard: `python -m benchmarks.fusion_stress [--help]`."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from typing import get_args

from accel.ilp.problem.options import Options
from accel.ilp.solvers import NAMES
from accel.support.choices import CostName
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_measure import planned
from benchmarks.fusion_random import random_drawing, stress


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The command line. Raises SystemExit if it is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fusion_stress", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("--graphs", type=int, default=20, help="how many graphs (20)")
    parser.add_argument("--operations", type=int, default=100, help="of each graph (100)")
    parser.add_argument("--solver", choices=NAMES, default="cbc", help="the solver (cbc)")
    parser.add_argument(
        "--cost", choices=get_args(CostName), default="reads_writes", help="the cost model (reads_writes)"
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="the time limit of a plan (10)")
    found = parser.parse_args(given)
    if found.graphs < 1 or found.operations < 1 or not found.seconds > 0:
        parser.error("--graphs, --operations and --seconds are positive")
    return found


def main(given: Sequence[str]) -> None:
    """Print one line: processor seconds of the median graph, of one in ten, of the worst; what was not proved; greedy's gap."""
    asked = arguments(given)
    options = Options(cost=asked.cost, solver=asked.solver, time_limit=asked.seconds)
    greedy = Options(cost=asked.cost, strategy="greedy")
    planned(graph_of(random_drawing(25, 25)), options)  # imports the solver
    times, gaps, unproved, first_level = [], [], 0, 0
    for seed in range(asked.graphs):
        graph = graph_of(stress(asked.operations, seed))
        found, heuristic = planned(graph, options), planned(graph, greedy).answer.cost
        times.append(found.seconds)
        unproved += not found.answer.proved
        first_level += found.answer.cost[0] == found.answer.bound[0]
        gaps.append(100 * (heuristic[0] - found.answer.cost[0]) / max(1, found.answer.cost[0]))
    times.sort()
    print(
        f"{asked.graphs} graphs of {asked.operations} operations, {asked.cost} by {asked.solver}, limit {asked.seconds} s: "
        f"median {statistics.median(times):.3f} s, nine of ten within {times[(9 * len(times) - 1) // 10]:.3f} s, "
        f"worst {times[-1]:.3f} s; {unproved} not proved, {asked.graphs - first_level} not in the first level; "
        f"greedy is {statistics.mean(gaps):.2f} % above it on average, {max(gaps):.1f} % at worst"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
