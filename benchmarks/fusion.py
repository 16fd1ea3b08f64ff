"""How good and how fast clustering is: `python -m benchmarks.fusion [FILE.json ...] [--solver ...] [--cost ...]`.

Every graph is planned by every formulation with every solver, next to the plans without fusion and by greedy. Without files:
the graphs of `benchmarks/graphs`, of attention as accel programs, and families of made-up ones (docs/benchmarks/clustering.md).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from accel.backends.llvm.machine.system import processors
from accel.errors import AccelValueError
from accel.ilp.plan import search
from accel.ilp.problem.cost import MODELS
from accel.ilp.problem.options import Options
from accel.ilp.solvers import NAMES, is_installed
from accel.support.choices import CostName, FormulationName, SolverName
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_measure import measure, warm_up
from benchmarks.fusion_random import random_drawing
from benchmarks.fusion_reader import GraphFileError
from benchmarks.fusion_suite import Subject, everything, from_file
from benchmarks.fusion_table import COLUMNS, LEGEND, head, line, printable, published_text, reference

FORMULATIONS: tuple[FormulationName, ...] = get_args(FormulationName)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be run.

    Other formulations than our own run for the first cost model only, on graphs of at most `largest` operations.
    """

    solvers: tuple[SolverName, ...]
    formulations: tuple[FormulationName, ...]
    costs: tuple[CostName, ...]
    seconds: float
    repeat: int
    largest: int


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The command line. Raises SystemExit if it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fusion", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE.json", help="graph files; without any, the default graphs"
    )
    parser.add_argument(
        "--solver", action="append", choices=NAMES, help="may be given again; all that are installed if not"
    )
    parser.add_argument("--formulation", action="append", choices=FORMULATIONS, help="may be given again; all if not")
    parser.add_argument(
        "--cost", action="append", choices=tuple(MODELS), help="may be given again; reads_writes and default if not"
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="the time limit of a plan (3)")
    parser.add_argument("--repeat", type=int, default=1, help="times are medians of so many runs (1)")
    parser.add_argument(
        "--largest", type=int, default=100, help="operations up to which other formulations than accel's run (100)"
    )
    parser.add_argument("--only", default="", help="only graphs with this in their name")
    found = parser.parse_args(given)
    if not found.seconds > 0 or found.repeat < 1 or found.largest < 0:
        parser.error("--seconds and --repeat are positive, --largest is not negative")
    return found


def subjects(files: Iterable[Path]) -> list[Subject]:
    """The graphs of all files. Raises SystemExit, having said what is wrong with each, if some are none."""
    found: list[Subject] = []
    wrong = []
    for path in files:
        try:
            found += from_file(path)
        except GraphFileError as error:
            wrong.append(str(error))
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        raise SystemExit(1)
    return found


def report(subject: Subject, request: Request) -> Iterator[str]:
    """The lines about one graph."""
    yield head(subject)
    for model in request.costs:
        plain = Options(cost=model, strategy="none")
        unfused = search(subject.graph, plain).cost
        greedy = search(subject.graph, Options(cost=model, strategy="greedy")).cost
        lines, costs = [], [greedy]
        for formulation in request.formulations:
            if formulation != "accel" and (subject.operations > request.largest or model != request.costs[0]):
                continue
            for solver in request.solvers:
                options = Options(cost=model, solver=solver, formulation=formulation, time_limit=request.seconds)
                try:
                    found = measure(subject.graph, options, request.repeat)
                except AccelValueError as error:
                    lines.append(f"    {formulation:12} {error.message}")
                    break
                lines.append(line(formulation, solver, found))
                costs.append(found.answer.cost)
        yield reference(model, unfused, greedy, min(costs))
        yield from lines


def main(given: Sequence[str]) -> None:
    """Print the report. Raises SystemExit with status 1 if a file is no graph file, with status 2 for a wrong command line."""
    asked = arguments(given)
    chosen = subjects(asked.files) if asked.files else everything()
    request = Request(
        solvers=tuple(asked.solver or filter(is_installed, NAMES)),
        formulations=tuple(asked.formulation or FORMULATIONS),
        costs=tuple(asked.cost or ("reads_writes", "default")),
        seconds=asked.seconds,
        repeat=asked.repeat,
        largest=asked.largest,
    )
    for solver in request.solvers:
        warm_up(graph_of(random_drawing(25, 25)), Options(cost="reads_writes", solver=solver))
    start = time.perf_counter()
    cores = processors()
    print(f"time limit {request.seconds} s a plan; load of the machine {os.getloadavg()[0]:.1f} on {cores} cores")
    print(COLUMNS)
    for subject in chosen:
        if asked.only in subject.name:
            for text in report(subject, request):
                print(printable(text), flush=True)
    print(LEGEND, published_text(), f"{time.perf_counter() - start:.0f} s in all", sep="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
