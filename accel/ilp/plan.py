"""The planner: from a labelled program to clusters [vB24 section 4]. It never fails because a solver does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from accel.errors import AccelInternalError, AccelSolverWarning, warn
from accel.ilp.cache import plan_cache
from accel.ilp.facts.lower_bound import lower_bounds
from accel.ilp.formulations.choose import demand
from accel.ilp.legality.checker import refusal
from accel.ilp.optimise import asked, bound_of, optimise, study, with_greedy, with_optimum
from accel.ilp.problem.answer import Answer
from accel.ilp.problem.build import build
from accel.ilp.problem.clustering import Clustering, Plan
from accel.ilp.problem.cost import CostModel, Weights
from accel.ilp.problem.cost_function import name_of
from accel.ilp.problem.decode import in_order
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import DEFAULT, Options
from accel.ilp.problem.price import Prices
from accel.ilp.solvers.protocol import SolverError
from accel.ilp.stencils import with_taken_in
from accel.ilp.strategies.branch_and_bound import branch_and_bound
from accel.ilp.strategies.by_edges import greedy_bottom_up, greedy_top_down
from accel.ilp.strategies.found import Found
from accel.ilp.strategies.greedy import greedy
from accel.ilp.strategies.linear import linear
from accel.ilp.strategies.none import none
from accel.ilp.strategies.unintrusive import unintrusive
from accel.labelled.array import Label
from accel.labelled.nodes import Program
from accel.labelled.operations import parts
from accel.support.choices import Duplicate, Strategy

QUICK: tuple[Strategy, ...] = ("greedy", "greedy_top_down", "greedy_bottom_up", "linear", "unintrusive")
"""Strategies that come to an end soon, the quickest first."""

_BESIDE_GREEDY: tuple[Strategy, ...] = ("greedy_top_down", "greedy_bottom_up", "linear")
"""Those that may do better in graphs that are too large to be analysed. There `unintrusive` makes short clusters, and takes
longest: it never cost less than greedy in 60 random graphs of 300 to 700 operations."""


def _run(strategy: Strategy, graph: Graph, prices: Prices, duplicate: Duplicate, deadline: float) -> Found:
    """What a strategy other than `ilp` finds; that one's own answer, where it cannot be used, is greedy's."""
    match strategy:
        case "none":
            return none(graph)
        case "linear":
            return linear(graph, duplicate)
        case "ilp" | "greedy":
            return greedy(graph, prices, duplicate)
        case "greedy_top_down":
            return greedy_top_down(graph, duplicate)
        case "greedy_bottom_up":
            return greedy_bottom_up(graph, duplicate)
        case "unintrusive":
            return unintrusive(graph, prices, duplicate)
        case "branch_and_bound":
            return branch_and_bound(graph, prices, duplicate, deadline)
        case _:
            assert_never(strategy)


def _bound(graph: Graph, prices: Prices, duplicate: Duplicate) -> tuple[int, ...]:
    """What no clustering costs less than, as far as that is plain to see; () if nothing is known."""
    if not isinstance(prices.cost, CostModel):
        return ()
    problem = study(graph, prices.cost, prices.weights, duplicate)
    if problem.facts is None:
        return (0,) * len(problem.model)
    return bound_of(problem, lower_bounds(problem.facts, problem.model, problem.weights))


def _legal(strategy: Strategy, graph: Graph, found: Found, duplicate: Duplicate) -> Clustering:
    """What a strategy found, in order, checked."""
    ordered = in_order(graph, found.clusters)
    reason = "clusters in a circle" if ordered is None else refusal(graph, ordered, duplicate)
    if ordered is None or reason is not None:
        raise AccelInternalError(f"The {strategy} strategy made an illegal clustering: {reason}")
    return ordered


def _heuristic(graph: Graph, prices: Prices, options: Options) -> Answer:
    """The answer of a strategy other than `ilp`. Raises `AccelValueError` if a cost function fails."""
    strategy: Strategy = "greedy" if options.strategy == "ilp" else options.strategy
    found = _run(strategy, graph, prices, options.duplicate, time.monotonic() + options.time_limit)
    ordered = _legal(strategy, graph, found, options.duplicate)
    cost = prices.total(ordered.clusters)
    bound = _bound(graph, prices, options.duplicate) if found.bound is None else found.bound
    unfinished = bool(found.trouble) and cost != bound
    if unfinished:
        _warn(f"The strategy {strategy!r}", f"{found.trouble}; the cost is {cost}{_at_least(bound)}")
    return Answer(ordered, cost, bound, cost == bound, strategy, None, not unfinished)


def _no_dearer(answer: Answer, graph: Graph, prices: Prices, options: Options, others: Sequence[Strategy]) -> Answer:
    """The answer of `ilp`, or that of another strategy that costs less: what is not proved need not be the best there is."""
    deadline = time.monotonic() + max(options.time_limit, 1.0)  # the limit is the solver's
    for strategy in others:
        if answer.proved or time.monotonic() > deadline:
            return answer
        found = _run(strategy, graph, prices, options.duplicate, deadline)
        clusters = _legal(strategy, graph, found, options.duplicate)
        cost = prices.total(clusters.clusters)
        if cost < answer.cost:
            proved = cost == answer.bound
            answer = Answer(clusters, cost, answer.bound, proved, strategy, None, proved or answer.finished)
    return answer


def _by_heuristics(graph: Graph, prices: Prices, options: Options, others: Sequence[Strategy]) -> Answer:
    """The answer of `ilp` where no solver gives one: greedy's, or that of another strategy."""
    return _no_dearer(_heuristic(graph, prices, options), graph, prices, options, others)


def _at_least(bound: tuple[int, ...]) -> str:
    return f", and at least {bound}" if bound else ""


def plan_graph(graph: Graph, options: Options = DEFAULT) -> Answer:
    """As `search`, which is done once for equal graphs, in this process and on this machine."""
    return plan_cache.answered(graph, options, lambda: search(graph, options))


def search(graph: Graph, options: Options = DEFAULT) -> Answer:
    """A legal clustering of `graph`, by the strategy of `options`. Warns once if a search gave no proved answer.

    Raises `AccelValueError` if the formulation that `options` ask for cannot express `graph`.
    """
    if options.strategy != "ilp" or options.model is None:
        return _heuristic(graph, Prices(graph, options.what_costs, Weights(graph, options.extents)), options)
    demand(options.formulation, graph)
    plain = _optimum(graph, options.stored)
    answer = with_taken_in(graph, options, plain, lambda changed: _optimum(changed, options.stored))
    if answer.trouble:
        trouble = f"{answer.trouble} the cost is {answer.cost}{_at_least(answer.bound)}"
        _warn(f"The solver {options.solver!r}", trouble)
    return answer


def _optimum(graph: Graph, options: Options) -> Answer:
    """The answer of the strategy `ilp`."""
    assert options.model is not None
    weights = Weights(graph, options.extents)
    prices = Prices(graph, options.what_costs, weights)
    problem = asked(graph, options.model, weights, options)
    facts = problem.facts
    if facts is None:
        return _by_heuristics(graph, prices, options, _BESIDE_GREEDY)
    try:
        if facts.candidates.reads:
            plain = with_greedy(study(graph, options.model, weights, "gathers"), "gathers")
            problem = with_optimum(problem, plain, options)
        else:
            problem = with_greedy(problem, options.duplicate)
        found = optimise(problem, facts, options)
    except SolverError as error:  # whatever a solver does wrong, the program still runs
        return replace(_by_heuristics(graph, prices, options, QUICK[1:]), finished=False, trouble=f"{error};")
    finished = found.proved or not (found.trouble or found.late)
    name = None if found.strategy == "greedy" else options.solver
    answer = Answer(
        found.clustering, found.cost, found.bound, found.proved, found.strategy, name, finished, found.recomputed
    )
    answer = _no_dearer(answer, graph, prices, options, QUICK)
    if answer.finished:
        return answer
    return replace(answer, trouble=f"{found.trouble};" if found.trouble else f"after {options.time_limit} s")


def _warn(who: str, trouble: str) -> None:
    warn(f"{who} gave no proved answer: {trouble}", AccelSolverWarning)


def plan(program: Program, options: Options = DEFAULT) -> Plan:
    """Plans for `program` and all programs inside of it. Equal programs are planned once."""
    return plan_cache.planned(program, options, lambda: _plan(program, options))


def _plan(program: Program, options: Options) -> tuple[Plan, bool]:
    """The plan, made innermost first, and whether every search for it came to its end."""
    done: dict[int, Plan] = {}
    finished = True
    pending: list[tuple[Program, bool]] = [(program, False)]
    while pending:
        current, ready = pending.pop()
        inner = [(binding.label, parts(binding.operation)) for binding in current.bindings]
        if not ready:
            pending.append((current, True))
            pending += [(part, False) for _, programs in inner for part in programs]
            continue
        plans = tuple((label, (done[id(programs[0])], done[id(programs[1])])) for label, programs in inner if programs)
        start = time.perf_counter()
        answer = plan_graph(build(current, options.recomputes), options)
        finished = finished and answer.finished
        done[id(current)] = _described(answer, plans, options, time.perf_counter() - start)
    return done[id(program)], finished


def _described(
    answer: Answer, inner: tuple[tuple[Label, tuple[Plan, Plan]], ...], options: Options, seconds: float
) -> Plan:
    return Plan(
        clustering=answer.clustering,
        inner=inner,
        strategy=answer.strategy,
        cost_model=name_of(options.what_costs),
        solver=answer.solver,
        cost=answer.cost,
        bound=answer.bound,
        proved=answer.proved,
        seconds=seconds,
        recomputed=answer.recomputed,
        recalled=answer.recalled,
    )
