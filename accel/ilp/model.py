"""The integer linear program of a graph (docs/ilp.md, "The model"): structure here, costs in `objective.py`.

No big numbers: potentials of clusters are replaced by rows against cycles, which `cuts.py` finds when they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accel.ilp.analysis import Analysis
from accel.ilp.cost import Level, Weights
from accel.ilp.linear import Linear, Model, total
from accel.ilp.objective import add_objectives
from accel.ilp.options import Duplicate
from accel.ilp.rules import CHEAP
from accel.ilp.spaces import is_loop_free
from accel.ilp.variables import Pair, Variables
from accel.labelled.nodes import Label


@dataclass(frozen=True, slots=True)
class Formulation:
    """A model, and what its variables mean."""

    model: Model
    facts: Analysis
    apart: Mapping[Pair, Linear]
    """x(u,v) for every pair that may be in one cluster and share something."""
    pushed: Mapping[Label, Linear]
    backward: Mapping[Label, Linear]
    joined: Mapping[Pair, Linear]
    """Of the forest that counts clusters: pairs that are linked; empty if no cost needs it."""
    home: Mapping[int, Label]
    """For each variable some operation that it is about."""
    alone: frozenset[int]
    """The variables that are 1 when all operations are clusters of their own; the others are 0."""


def _orders(variables: Variables) -> None:
    """Maker and reader in one cluster have one order; what is pushed is fused away whole [vB24 section 4.2]."""
    facts, require = variables.facts, variables.model.require
    for u, v in facts.arcs:
        if (u, v) in facts.infusible:
            continue
        x, pushed = variables.apart(u, v), variables.pushed(u)
        if (u, v) not in facts.streams:  # v is the gather: pushed(u) = 1 - x
            require(pushed + x - 1)
            require(1 - x - pushed)
            continue
        require(1 - pushed - x)
        require(variables.pushed(v) - pushed)
        require(x + pushed - variables.pushed(v))
        variables.differ_at_most(variables.backward(u), variables.backward(v), x)


def _work(variables: Variables, duplicate: Duplicate) -> None:
    """W1: what is done again for each element of a growing gather is cheap, all together."""
    facts, graph = variables.facts, variables.facts.graph
    if duplicate == "published":
        return
    burdens: dict[Label, list[Linear]] = {}
    for v, target in sorted(facts.pushable.items()):
        node = graph.node[v]
        repeated, gather = variables.pushed(v), target
        while True:
            if graph.is_growing(gather):
                if duplicate is False or not is_loop_free(node):
                    variables.model.require(-repeated)
                burdens.setdefault(gather, []).append(repeated * node.operations)
            above = facts.pushable.get(gather)
            if above is None:
                break
            both = variables.new(f"again_{v}_{above}", v, integer=False)
            variables.model.require(both + 1 - repeated - variables.pushed(gather))
            repeated, gather = both, above
    for parts in burdens.values():
        variables.model.require(CHEAP - total(parts))


def formulate(facts: Analysis, levels: tuple[Level, ...], weights: Weights, duplicate: Duplicate) -> Formulation:
    """The model whose solutions, once no row of `cuts.py` is violated, are the legal clusterings of the graph."""
    variables = Variables(facts)
    _orders(variables)
    _work(variables, duplicate)
    joined = add_objectives(variables, levels, weights)
    pushed = {v: variables.pushed(v) for v in facts.pushable}
    backward = {node.label: variables.backward(node.label) for node in facts.graph.operations}
    alone = frozenset(variables.alone)
    return Formulation(variables.model, facts, variables.x, pushed, backward, joined, variables.home, alone)
