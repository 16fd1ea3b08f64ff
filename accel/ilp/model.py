"""The integer linear program of a graph (docs/ilp.md, "The model"): structure here, costs in `objective.py`.

No big numbers: potentials of clusters are replaced by rows against cycles, which `cuts.py` finds when they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accel.ilp.analysis import Analysis, restrict
from accel.ilp.cost import CostLevel, Weights
from accel.ilp.forest import Forest
from accel.ilp.linear import Linear, Model, total
from accel.ilp.objective import add_objectives
from accel.ilp.options import Duplicate
from accel.ilp.rules import CHEAP
from accel.ilp.spaces import Spaces, is_loop_free
from accel.ilp.variables import Pair, Variables
from accel.labelled.nodes import Label


@dataclass(frozen=True, slots=True)
class Formulation:
    """The model of one part of a graph, and what its variables mean. The optima of the parts add up to the whole's."""

    labels: tuple[Label, ...]
    model: Model
    arcs: tuple[tuple[Label, Label, Linear], ...]
    """Dependences (u, v) with x(u,v), constantly 1 where they are never fused."""
    apart: Mapping[Pair, Linear]
    """x(u,v) for every pair that may be in one cluster and share something."""
    pushed: Mapping[Label, Linear]
    pushable: Mapping[Label, Label]
    backward: Mapping[Label, Linear]
    forest: Forest
    """What counts clusters; empty if no cost needs it."""
    alone: tuple[int, ...]
    """What the objectives are, constants apart, when all operations are clusters of their own."""
    spaces: Spaces


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
            both = variables.new(f"again_{v}_{above}", integer=False)
            variables.model.require(both + 1 - repeated - variables.pushed(gather))
            repeated, gather = both, above
    for parts in burdens.values():
        variables.model.require(CHEAP - total(parts))


def formulate(
    whole: Analysis, part: tuple[Label, ...], levels: tuple[CostLevel, ...], weights: Weights, duplicate: Duplicate
) -> Formulation:
    """The model whose solutions, once no row of `cuts.py` is violated, are the legal clusterings of a part."""
    facts = restrict(whole, part)
    variables = Variables(facts)
    _orders(variables)
    _work(variables, duplicate)
    forest = add_objectives(variables, levels, weights)
    objectives = variables.model.objectives
    return Formulation(
        labels=part,
        model=variables.model,
        arcs=tuple(
            (u, v, variables.apart(u, v) if (u, v) not in facts.infusible else Linear(1)) for u, v in facts.arcs
        ),
        apart=variables.x,
        pushed={v: variables.pushed(v) for v in facts.pushable},
        pushable=facts.pushable,
        backward={v: variables.backward(v) for v in facts.operations},
        forest=forest,
        alone=tuple(sum(c for number, c in cost.terms.items() if number in variables.alone) for cost in objectives),
        spaces=Spaces(facts.graph),
    )
