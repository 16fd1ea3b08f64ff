"""The strategy "ilp": merge chains, analyse, formulate, solve part by part, decode, check with exact integers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from accel.ilp.analysis import analyse
from accel.ilp.checker import refusal
from accel.ilp.clustering import Cluster, Clustering
from accel.ilp.coarse import Coarse, merge_chains
from accel.ilp.cost import MODELS, Level, Weights
from accel.ilp.decode import clustering, components
from accel.ilp.graph import ORDERED, Graph
from accel.ilp.greedy import candidates, greedy
from accel.ilp.model import Formulation, formulate
from accel.ilp.options import Options
from accel.ilp.part import parts
from accel.ilp.price import price
from accel.ilp.solve import PartAnswer, solve
from accel.ilp.solvers import find
from accel.labelled.nodes import Label

LARGEST = 300
"""Graphs in which more operations than this hang together are clustered greedily."""

MOST_PAIRS = 2000
"""So are graphs with more pairs of operations that read one array."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """A legal clustering, its exact cost, a lower bound, whether that is reached, and what went wrong ("": nothing)."""

    clustering: Clustering
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    proved: bool
    trouble: str


def is_too_large(graph: Graph) -> bool:
    """Whether more than `LARGEST` operations hang together by arrays that might be fused or read together, and the like."""
    readers = [sum(edge.role in ORDERED for edge in edges) for edges in graph.readers.values()]
    if sum(count * (count - 1) // 2 for count in readers) > MOST_PAIRS:
        return True
    labels = [node.label for node in graph.operations]
    return any(len(group) > LARGEST for group in components(labels, candidates(graph)))


Answers = Sequence[tuple[Sequence[Label], PartAnswer | None]]
"""The operations of each part, and what was found for them."""


def coarsen(graph: Graph, options: Options) -> Coarse:
    """`graph` with its chains merged, as far as the cost model allows."""
    return merge_chains(graph, options.duplicate, any(level.access for level in MODELS[options.cost]))


def _solve_parts(formulation: Formulation, options: Options, deadline: float) -> Answers:
    solver = find(options.solver)
    return [(part.labels, solve(part, solver, deadline)) for part in parts(formulation)]


def optimise(graph: Graph, options: Options, weights: Weights) -> Optimum | str:
    """The best clustering of `graph`; or why there is none to be trusted. Lets exceptions of solvers pass."""
    deadline = time.monotonic() + options.time_limit
    model = MODELS[options.cost]
    coarse = coarsen(graph, options)
    small = Weights(coarse.graph, weights.sizes)
    formulation = formulate(analyse(coarse.graph, options.duplicate), model, small, options.duplicate)
    answers = _solve_parts(formulation, options, deadline)
    proved = all(answer is not None and answer.proved for _, answer in answers)
    sets: list[Sequence[Label]] = [
        cluster for _, answer in answers if answer is not None for cluster in answer.clusters
    ]
    backward = {label for _, answer in answers if answer is not None for label in answer.backward}
    late = {label for labels, answer in answers if answer is None for label in labels}
    if late:
        stand_in = [c for c in greedy(coarse.graph, model, small, options.duplicate) if late.issuperset(c.labels)]
        sets += [cluster.labels for cluster in stand_in]
        backward |= {label for c in stand_in for label, order in zip(c.labels, c.orders, strict=True) if order.backward}
    found = _refined(coarse, clustering(coarse.graph, sets, backward))
    reason = "its clusters stand in a circle" if found is None else refusal(graph, found, options.duplicate)
    if found is None or reason is not None:
        return f"its answer is not legal: {reason}"
    cost = price(graph, found, model, weights)
    bound = _bound(formulation, answers, model)
    if cost < bound or (proved and cost != bound):
        return f"it claims a cost of {bound} for a clustering that costs {cost}"
    trouble = "" if proved else f"after {options.time_limit} s the cost is {cost}, and at least {bound}"
    return Optimum(found, cost, bound, proved, trouble)


def _refined(coarse: Coarse, found: Clustering | None) -> Clustering | None:
    """The clustering of the original graph."""
    if found is None:
        return None
    clusters: list[Cluster] = [coarse.refine(cluster) for cluster in found.clusters]
    return Clustering(tuple(clusters))


def _bound(formulation: Formulation, answers: Answers, model: tuple[Level, ...]) -> tuple[int, ...]:
    """The sum of the parts' bounds. Lexicographic order and addition agree, so it bounds the whole."""
    least = [objective.constant for objective in formulation.model.objectives]
    for _, answer in answers:
        for level in range(len(model)):
            least[level] += 0 if answer is None else answer.bound[level]
    return tuple(least)
