"""The strategy "ilp": merge chains, analyse, settle what is plain, formulate, solve part by part, check exactly.

The published formulations take the graph whole and as it is, and nothing is settled before they are asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from accel.errors import AccelInternalError
from accel.ilp.facts.analysis import Analysis, analyse
from accel.ilp.facts.contraction import Contraction, merge_chains, unmerged
from accel.ilp.facts.limits import is_too_large, is_worth_solving, pairs_of_readers
from accel.ilp.facts.lower_bound import lower_bounds, price_of
from accel.ilp.formulations.choose import as_formulated, pose
from accel.ilp.formulations.own import Own
from accel.ilp.formulations.protocol import Posed
from accel.ilp.legality.checker import refusal
from accel.ilp.model.solution import Solution, expanded, priced, solution_of
from accel.ilp.problem.clustering import Cluster, Clustering, cluster_of
from accel.ilp.problem.cost import CostLevel, CostModel, Weights, added
from accel.ilp.problem.decode import in_order
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import Prices, constant_price
from accel.ilp.problem.traversals import assign
from accel.ilp.recompute.candidates import candidates, counts_traffic
from accel.ilp.recompute.traffic import moved
from accel.ilp.solve import Clock, PartAnswer, solve
from accel.ilp.solvers import find
from accel.ilp.solvers.guarded import guarded
from accel.ilp.solvers.linear import Model
from accel.ilp.solvers.protocol import Solver, SolverError
from accel.ilp.strategies.first_fit import first_fit
from accel.ilp.strategies.greedy import merge_greedily
from accel.labelled.array import Label
from accel.labelled.passes.recompute import Recomputed
from accel.support.choices import Duplicate, FormulationName
from accel.support.dataclass import dataclass

_WIDE = 3
"""Parts with so many times more pairs of such operations than operations get a second first answer."""

Labels = tuple[Label, ...]
Cost = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Optimum:
    """A legal clustering, its exact cost, a lower bound, and whether that is reached.

    `recomputed`: what is recomputed; the clustering is one of the graph in which it is (`recompute/graph.py`). `late`: the
    solver needed more time, for more than the number of clusters. `strategy`: who answered, with greedy where parts were too
    large for a solver, or it failed. `trouble`: how it did, the first time; "" if it did not.
    """

    clustering: Clustering
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    late: bool
    strategy: str
    trouble: str = ""
    recomputed: tuple[Recomputed, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether no clustering costs less."""
        return self.cost == self.bound


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be solved: the graph with its chains merged, and a first answer that is legal.

    `facts` is None for graphs that are too large for an ILP.
    """

    graph: Graph
    contraction: Contraction
    facts: Analysis | None
    model: tuple[CostLevel, ...]
    weights: Weights
    first: tuple[Cluster, ...]

    def inside(self, part: Labels) -> list[Cluster]:
        """The first answer's clusters of a part: no legal cluster reaches out of one."""
        return [cluster for cluster in self.first if cluster.labels[0] in part]


def study(
    graph: Graph,
    model: CostModel,
    weights: Weights,
    duplicate: Duplicate,
    formulation: FormulationName = "accel",
    recomputing: bool = False,
) -> Problem:
    """The problem that `graph` is, without a first answer; `recomputing`: with the choice to recompute producers."""
    contraction = merge_chains(graph, duplicate, model.levels) if formulation == "accel" else unmerged(graph)
    own = weights if contraction.graph is graph else Weights(contraction.graph, weights.sizes)
    facts = None if is_too_large(contraction.graph) else _analysed(contraction.graph, duplicate, own, recomputing)
    if facts is not None:
        facts = as_formulated(facts, formulation)
    return Problem(graph, contraction, facts, model.levels, own, ())


def asked(graph: Graph, model: CostModel, weights: Weights, options: Options) -> Problem:
    """The problem that a solver is asked about under `options`."""
    recomputing = options.duplicate is True and options.formulation == "accel" and counts_traffic(model.levels)
    return study(graph, model, weights, options.duplicate, options.formulation, recomputing)


def models(problem: Problem, options: Options) -> Iterator[tuple[Labels, Model]]:
    """The integer linear program of each part that can be clustered by itself."""
    facts = problem.facts
    for part in () if facts is None else facts.parts:
        assert facts is not None
        posed = pose(options.formulation, facts, part, problem.model, problem.weights, options.duplicate)
        yield part, posed.model


def _analysed(graph: Graph, duplicate: Duplicate, weights: Weights, recomputing: bool) -> Analysis:
    facts = analyse(graph, duplicate, candidates(graph, weights, duplicate) if recomputing else None)
    if recomputing and not all(is_worth_solving(facts, part) for part in facts.parts):
        return analyse(graph, duplicate)
    return facts


def with_greedy(problem: Problem, duplicate: Duplicate) -> Problem:
    """The problem with greedy's answer as its first; in wide parts `first_fit`'s, where that costs less."""
    graph, facts = problem.contraction.graph, problem.facts
    prices = Prices(graph, CostModel(problem.model), problem.weights)
    problem = replace(problem, first=tuple(merge_greedily(graph, prices, duplicate)))
    wide = () if facts is None else [part for part in facts.parts if pairs_of_readers(facts, part) >= _WIDE * len(part)]
    if facts is None or not wide:
        return problem
    other = replace(problem, first=tuple(first_fit(graph, facts.separation, duplicate)))
    first = [cluster for cluster in problem.first if not any(cluster.labels[0] in part for part in wide)]
    for part in wide:
        first += min(problem.inside(part), other.inside(part), key=lambda clusters: _priced(problem, clusters))
    return replace(problem, first=tuple(first))


def bound_of(problem: Problem, bounds: Mapping[Labels, tuple[int, ...]]) -> tuple[int, ...]:
    """A bound on the whole: of the parts, and of operations by themselves. Lexicographic order and addition agree."""
    decided = {label for part in bounds for label in part}
    alone = [node.label for node in problem.contraction.graph.nodes if node.label not in decided]
    constant = tuple(constant_price(problem.contraction.graph, level) for level in problem.model)
    return added(constant, _alone(problem, alone), *bounds.values())


@dataclass(frozen=True, slots=True)
class _Solved:
    """An answer about a part, a lower bound on its cost, whether there was too little time to reach it, or what went wrong."""

    answer: Solution
    bound: tuple[int, ...]
    late: bool
    trouble: str = ""
    failed: bool = False
    """It is greedy's: the solver's cannot be used."""


def _priced(problem: Problem, clusters: Iterable[Cluster]) -> tuple[int, ...]:
    return price_of(problem.contraction.graph, clusters, problem.model, problem.weights)


def _alone(problem: Problem, labels: Iterable[Label]) -> tuple[int, ...]:
    """What operations cost as clusters of their own."""
    clusters = [assign(problem.contraction.graph, (label,)) for label in labels]
    return _priced(problem, [cluster for cluster in clusters if cluster is not None])


def _decoded(facts: Analysis, part: Posed, values: Mapping[int, int], answer: PartAnswer) -> Solution:
    """The sets of an answer, with operations by themselves, and what is recomputed."""
    placed = {label for labels in answer.clusters for label in labels}
    sets = (*answer.clusters, *((label,) for label in part.labels if label not in placed))
    pairs = part.recomputed(values) if isinstance(part, Own) and facts.candidates.reads else ()
    return Solution(sets, answer.backward, pairs)


def _both_bounds(bound: Cost, known: Cost) -> Cost:
    """A lexicographic bound and one that holds level by level, as one: the first says nothing beyond where it is less."""
    levels = zip(bound, known, strict=True)
    lower = next((number for number, (solved, plain) in enumerate(levels) if solved < plain), len(bound) - 1)
    return tuple(map(max, zip(bound[: lower + 1], known, strict=False))) + known[lower + 1 :]


def _solve(problem: Problem, facts: Analysis, part: Posed, least: Cost, solver: Solver, clock: Clock) -> _Solved:
    """The best answer about one part. Raises `SolverError` where the solver fails or is wrong."""

    def price(answer: Solution) -> Cost:
        return priced(problem.contraction.graph, answer, facts.candidates, problem.model, problem.weights)

    first = solution_of(problem.inside(part.labels))
    known = price(first)
    # The last of the objectives may be the number of recomputations, which is no cost: greedy makes none.
    offset = [a - b for a, b in zip(_alone(problem, part.labels), part.alone, strict=False)]
    levels = [a - b for a, b in zip(known, offset, strict=True)] + [0] * (len(part.alone) - len(known))
    answer = solve(part, solver, clock, levels)
    if answer is None:
        return _Solved(first, least, True)
    found = first if answer.values is None else _decoded(facts, part, answer.values, answer)
    cost = price(found)
    bound = tuple(a + b for a, b in zip(offset, answer.bound, strict=False))
    if cost[: answer.proved] != bound[: answer.proved]:
        raise AccelInternalError(f"The model says {bound[: answer.proved]} of clusters that cost {cost}")
    if min(known, cost) < bound:
        raise SolverError(f"it claims that {bound} is least, but {min(known, cost)} can be had")
    return _Solved(found if cost <= known else first, _both_bounds(bound, least), answer.late, answer.trouble)


def _attempt(
    problem: Problem, facts: Analysis, labels: Labels, least: Cost, solver: Solver, clock: Clock, options: Options
) -> _Solved:
    """The best answer about one part: greedy's, if the solver fails."""
    try:
        posed = pose(options.formulation, facts, labels, problem.model, problem.weights, options.duplicate)
        return _solve(problem, facts, posed, least, solver, clock)
    except SolverError as error:
        return _Solved(solution_of(problem.inside(labels)), least, False, str(error), failed=True)


def _who(still_open: int, solved: int) -> str:
    """The strategy by the numbers of parts that greedy did not settle, and of those that a solver did."""
    return "ilp" if solved == still_open else "ilp and greedy" if solved else "greedy"


def optimise(problem: Problem, facts: Analysis, options: Options) -> Optimum:
    """The best clustering. Raises `SolverError` if there is no such solver here."""
    clock = Clock(options.time_limit)
    bounds = lower_bounds(facts, problem.model, problem.weights)
    first = {part: problem.inside(part) for part in bounds}
    asked = options.formulation != "accel"
    still_open = frozenset(part for part, least in bounds.items() if asked or _priced(problem, first[part]) != least)
    answer = solution_of(c for c in problem.first if not any(c.labels[0] in part for part in still_open))
    to_solve = [part for part in facts.parts if part in still_open and is_worth_solving(facts, part)]
    for part in still_open.difference(to_solve):
        answer += solution_of(first[part])
    outcomes: list[_Solved] = []
    if to_solve:
        solver = guarded(lambda: find(options.solver))
        outcomes = [_attempt(problem, facts, part, bounds[part], solver, clock, options) for part in to_solve]
    for part, outcome in zip(to_solve, outcomes, strict=True):
        answer += outcome.answer
        bounds[part] = outcome.bound
    found = expanded(problem.graph, problem.contraction, answer)
    graph, ordered = found.changed.graph, in_order(found.changed.graph, found.clusters)
    reason = "its clusters stand in a circle" if ordered is None else refusal(graph, ordered, options.duplicate)
    if ordered is None or reason is not None:
        raise AccelInternalError(f"The model allowed an illegal clustering: {reason}")
    prices = Prices(graph, CostModel(problem.model), Weights(graph, problem.weights.sizes))
    more = moved(facts.candidates, answer.pairs, problem.model, problem.weights)
    cost = added(prices.total(ordered.clusters), more)
    return Optimum(
        clustering=ordered,
        cost=cost,
        bound=bound_of(problem, bounds),
        late=any(outcome.late for outcome in outcomes),
        strategy=_who(len(still_open), sum(not outcome.failed for outcome in outcomes)),
        trouble=next((outcome.trouble for outcome in outcomes if outcome.trouble), ""),
        recomputed=found.changed.recomputed,
    )


def with_optimum(problem: Problem, plain: Problem, options: Options) -> Problem:
    """The problem with the best answer to `plain`, in which nothing may be recomputed, as its first: no answer costs more."""
    assert plain.facts is not None
    found = optimise(plain, plain.facts, options).clustering.clusters
    inside = problem.contraction.graph.node
    members = [{label: order for label, order in each.members.items() if label in inside} for each in found]
    return replace(problem, first=tuple(map(cluster_of, members)))
