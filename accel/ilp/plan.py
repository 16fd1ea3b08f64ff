"""The planner: from a labelled program to clusters [vB24 section 4]. It never fails because a solver does."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

from accel.errors import AccelInternalError, AccelSolverWarning
from accel.ilp.build import build, sub_programs
from accel.ilp.checker import refusal
from accel.ilp.clustering import Clustering, Plan
from accel.ilp.cost import MODELS, Weights
from accel.ilp.decode import clustering, in_order
from accel.ilp.graph import Graph
from accel.ilp.greedy import greedy
from accel.ilp.optimise import coarsen, is_too_large, optimise
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


def _legal(graph: Graph, found: Clustering | None, options: Options) -> Clustering:
    """`found`, which our own heuristics made: that it is illegal would be a bug."""
    reason = "clusters in a circle" if found is None else refusal(graph, found, options.duplicate)
    if found is None or reason is not None:
        raise AccelInternalError(f"The {options.strategy} strategy made an illegal clustering: {reason}")
    return found


def _heuristic(graph: Graph, options: Options, weights: Weights) -> Answer:
    model = MODELS[options.cost]
    if options.strategy == "none":
        found = clustering(graph, ())
    else:
        found = in_order(graph, greedy(graph, model, weights, options.duplicate))
    legal = _legal(graph, found, options)
    strategy = "none" if options.strategy == "none" else "greedy"
    return Answer(legal, price(graph, legal, model, weights), (0,) * len(model), False, strategy, None)


def plan_graph(graph: Graph, options: Options = DEFAULT) -> Answer:
    """A legal clustering of `graph`, by the strategy of `options`. Warns once if greedy had to stand in for the ILP."""
    sizes: Mapping[SizeVariable, int] = {} if options.sizes == "nominal" else options.sizes
    weights = Weights(graph, sizes)
    if options.strategy != "ilp":
        return _heuristic(graph, options, weights)
    if is_too_large(coarsen(graph, options).graph):
        return _heuristic(graph, options, weights)
    try:
        found = optimise(graph, options, weights)
        trouble = found if isinstance(found, str) else found.trouble
    except Exception as error:  # whatever a solver does wrong, the program still runs
        found, trouble = "", f"{type(error).__name__}: {error}"
    if not trouble and not isinstance(found, str):
        return Answer(found.clustering, found.cost, found.bound, found.proved, "ilp", options.solver)
    warnings.warn(f"The solver {options.solver!r} gave no proved answer: {trouble}", AccelSolverWarning, stacklevel=2)
    answer = _heuristic(graph, options, weights)
    if isinstance(found, str):
        return answer
    if answer.cost < found.cost:
        return replace(answer, bound=found.bound)
    return Answer(found.clustering, found.cost, found.bound, found.proved, "ilp", options.solver)


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
