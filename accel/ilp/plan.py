"""The planner: from a labelled program to clusters [vB24 section 4]. It never fails because a solver does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from accel.errors import AccelInternalError, AccelSolverWarning, warn
from accel.ilp.build import build, sub_programs
from accel.ilp.checker import refusal
from accel.ilp.clustering import Clustering, Plan
from accel.ilp.cost import Weights
from accel.ilp.decode import clustering
from accel.ilp.floor import floors
from accel.ilp.graph import Graph
from accel.ilp.optimise import Problem, bound_of, finish, optimise, pose
from accel.ilp.options import DEFAULT, Options
from accel.ilp.price import price
from accel.labelled.nodes import Label, Program, SizeVariable


@dataclass(frozen=True, slots=True)
class Answer:
    """A legal clustering, its cost, and what is known about all others."""

    clustering: Clustering
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    proved: bool
    strategy: str
    solver: str | None


def _heuristic(problem: Problem, options: Options) -> Answer:
    """The answer without a solver: greedy's, or every operation by itself."""
    graph = problem.graph
    found = clustering(graph, ()) if options.strategy == "none" else finish(problem, problem.first)
    reason = "clusters in a circle" if found is None else refusal(graph, found, options.duplicate)
    if found is None or reason is not None:
        raise AccelInternalError(f"The {options.strategy} strategy made an illegal clustering: {reason}")
    cost = price(graph, found, problem.model, Weights(graph, problem.weights.sizes))
    bound = (0,) * len(cost)
    if problem.facts is not None:
        bound = bound_of(problem, floors(problem.facts, problem.model, problem.weights))
    strategy = "none" if options.strategy == "none" else "greedy"
    return Answer(found, cost, bound, cost == bound, strategy, None)


def plan_graph(graph: Graph, options: Options = DEFAULT) -> Answer:
    """A legal clustering of `graph`, by the strategy of `options`. Warns once if the ILP gave no proved answer."""
    sizes: Mapping[SizeVariable, int] = {} if options.sizes == "nominal" else options.sizes
    problem = pose(graph, options, Weights(graph, sizes))
    if options.strategy != "ilp" or problem.facts is None:
        return _heuristic(problem, options)
    try:
        found = optimise(problem, problem.facts, options)
    except Exception as error:  # whatever a solver does wrong, the program still runs
        _warn(options, f"{type(error).__name__}: {error}")
        return _heuristic(problem, options)
    if found.late:
        _warn(options, f"after {options.time_limit} s the cost is {found.cost}, and at least {found.bound}")
    strategy, solver = ("greedy", None) if found.heuristic else ("ilp", options.solver)
    return Answer(found.clustering, found.cost, found.bound, found.proved, strategy, solver)


def _warn(options: Options, trouble: str) -> None:
    warn(f"The solver {options.solver!r} gave no proved answer: {trouble}", AccelSolverWarning)


def plan(program: Program, options: Options = DEFAULT) -> Plan:
    """Plans for `program` and all programs inside of it, innermost first."""
    done: dict[int, Plan] = {}
    pending: list[tuple[Program, bool]] = [(program, False)]
    while pending:
        current, ready = pending.pop()
        inner = [(binding.label, sub_programs(binding)) for binding in current.bindings]
        if not ready:
            pending.append((current, True))
            pending += [(part, False) for _, parts in inner for part in parts]
            continue
        plans = tuple((label, (done[id(parts[0])], done[id(parts[1])])) for label, parts in inner if parts)
        done[id(current)] = _plan_one(current, plans, options)
    return done[id(program)]


def _plan_one(program: Program, inner: tuple[tuple[Label, tuple[Plan, Plan]], ...], options: Options) -> Plan:
    start = time.perf_counter()
    answer = plan_graph(build(program), options)
    seconds = time.perf_counter() - start
    return Plan(
        answer.clustering, inner, answer.strategy, options.cost, answer.solver, answer.cost, answer.bound, answer.proved,
        seconds,
    )  # fmt: skip
