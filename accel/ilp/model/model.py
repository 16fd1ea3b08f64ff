"""The integer linear program of a graph (docs/ilp.md, "The model"): structure here, costs in `objective.py`.

No big numbers: potentials of clusters are replaced by rows against cycles, which `cuts.py` finds when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accel.ilp.facts.analysis import Analysis, restrict
from accel.ilp.facts.spaces import Spaces, is_loop_free
from accel.ilp.legality.rules import CHEAP
from accel.ilp.model.forest import Forest
from accel.ilp.model.inequalities import inequalities
from accel.ilp.model.objective import add_objectives
from accel.ilp.model.variables import Pair, Variables
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.recompute.candidates import work
from accel.ilp.solvers.linear import Linear, Model, total
from accel.labelled.array import Label
from accel.labelled.operations import Role
from accel.support.choices import Duplicate
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Formulation:
    """The model of one part of a graph, and what its variables mean. The optima of the parts add up to the whole's."""

    labels: tuple[Label, ...]
    model: Model
    arcs: tuple[tuple[Label, Label, Linear, Linear | None], ...]
    """Dependences (u, v) with x(u,v), constantly 1 where they are never fused, and what is 1 where there is none."""
    recomputed: Mapping[Pair, Linear]
    """recompute(u,v): v computes by itself what u makes."""
    apart: Mapping[Pair, Linear]
    """x(u,v) for every pair that may be in one cluster and share something."""
    beside: Mapping[Pair, Linear]
    """beside(u,v) for every pair that loses time in one cluster, where a cost counts that."""
    pushed: Mapping[Pair, Linear]
    """pushed(v,l) for each v and gather l."""
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
        x, graph = variables.apart(u, v), facts.graph
        if (u, v) not in facts.streams:  # v is the gather: pushed(u,v) = 1 - x
            _gathered(variables, u, graph.order[v], x)
            continue
        if graph.node[u].placed and graph.order[u] in facts.pushable.get(
            v, ()
        ):  # a scan of segments makes it in its order
            require(variables.pushed(v, graph.order[u]) + x - 1)
            continue
        for gather in sorted({*facts.pushable.get(u, ()), *facts.pushable.get(v, ())}):
            pushed, reader = variables.pushed(u, gather), variables.pushed(v, gather)
            if gather not in graph.whole:
                require(1 - pushed - x)
                require(reader - pushed)
            else:
                require(x + reader - pushed)
            require(x + pushed - reader)
        variables.model.differ_at_most(variables.backward(u), variables.backward(v), x)
    for v, gathers in facts.pushable.items():
        if len(gathers) > 1:
            require(1 - variables.moved(v))


def _gathered(variables: Variables, maker: Label, order: Label, apart: Linear) -> None:
    """A maker is `apart` from one that reads it as a source in `order`, or is pushed there. It is pushed there by nobody else,
    unless several have the order and it visits all. What has the order itself makes what is read in it, and is not pushed."""
    graph = variables.facts.graph
    if graph.order.get(maker) == order:
        return
    pushed = variables.pushed(maker, order)
    variables.model.require(pushed + apart - 1)
    if order not in graph.whole or len(graph.ordered[order]) == 1:
        variables.model.require(1 - apart - pushed)


def _recomputations(variables: Variables) -> None:
    """Who recomputes a maker does not read it; a maker that somebody recomputes is not pushed; one that is gone is nowhere."""
    facts, require = variables.facts, variables.model.require
    for (p, c), recomputed in variables.recomputed.items():
        if (p, c) not in facts.infusible:
            require(variables.apart(p, c) - recomputed)
        require(1 - variables.moved(p) - recomputed)
        require(1 - variables.gone(c) - recomputed)
        if p in facts.candidates.removable:
            require(recomputed - variables.gone(p))
    for each in facts.loose:
        apart, read = variables.apart(each.label, each.reader), variables.some(each.only_if)
        if each.fusible:
            variables.model.differ_at_most(variables.backward(each.label), variables.backward(each.reader), apart)
        else:
            require(apart - read)
    removable = facts.candidates.removable
    for label in sorted(removable):  # one that stayed unread could join the clusters around it
        kept = [1 - recomputed for (p, _), recomputed in variables.recomputed.items() if p == label]
        other = [
            variables.recomputed[arc]
            for arc, edges in facts.candidates.reads.items()
            if any(edge.array.label == label for edge in edges)
        ]
        require(variables.gone(label) + total([*kept, *other]) - 1)
        for nested in other:
            require(1 - nested - variables.gone(label))
    for (u, v), x in variables.x.items() if removable else ():
        for label in removable.intersection((u, v)):
            require(x - variables.gone(label))


def _work(variables: Variables, duplicate: Duplicate) -> None:
    """W1: what is recomputed for each element of a growing gather is cheap, all together."""
    facts, graph = variables.facts, variables.facts.graph
    if duplicate == "published":
        return
    work = _Work(variables)
    for v in sorted(facts.pushable):
        node, target = graph.node[v], facts.narrow(v)
        if target is not None:
            allowed = duplicate is not False and is_loop_free(node)
            work.add(v, variables.pushed(v, target), target, node.operations if allowed else CHEAP + 1)
    for p, c in facts.candidates.pairs:
        work.add_recomputed(p, c)
    for parts in work.burdens.values():
        variables.model.require(CHEAP - total(parts))


class _Work:
    """What is recomputed for every gather that may be larger than its source: scalar operations."""

    def __init__(self, variables: Variables) -> None:
        self.variables = variables
        self.burdens: dict[Label, list[Linear]] = {}

    def add(self, v: Label, recomputed: Linear, gather: Label, operations: int) -> None:
        """`operations` of v run in the order of `gather` where `recomputed` is 1, and where that is pushed in its turn."""
        facts = self.variables.facts
        while True:
            if facts.graph.is_growing(gather):
                if operations > CHEAP:
                    self.variables.model.require(-recomputed)
                self.burdens.setdefault(gather, []).append(recomputed * operations)
            above = facts.narrow(gather)
            if above is None:
                return
            pushed = self.variables.pushed(gather, above)
            recomputed, gather = self._both(f"again_{v}_{above}", recomputed, pushed), above

    def add_recomputed(self, p: Label, c: Label) -> None:
        """What is recomputed runs in the order of its reader, or in that of the gather that its reader is."""
        facts, recomputed = self.variables.facts, self.variables.recomputed[p, c]
        graph = facts.candidates.graph
        maker = graph.node[p]
        edges = [edge for edge in graph.inputs[c] if edge.array.label == p]
        loads = sum(edge.sites for edge in edges if edge.role is Role.INDEX)
        operations = loads * work(graph, maker)
        if any(edge.role is Role.SOURCE for edge in edges):
            self.add(p, recomputed, c, maker.operations)
        elif any(edge.role is Role.STREAM for edge in edges):
            operations += maker.operations
        target = facts.narrow(c)
        if target is not None and operations:
            pushed = self.variables.pushed(c, target)
            self.add(p, self._both(f"pushed_{p}_{c}", recomputed, pushed), target, operations)

    def _both(self, name: str, first: Linear, second: Linear) -> Linear:
        both = self.variables.new(name, integer=False)
        self.variables.model.require(both + 1 - first - second)
        return both


def _dependences(variables: Variables) -> Iterator[tuple[Label, Label, Linear, Linear | None]]:
    """Those that are always there, those that a recomputation takes away, those that one brings."""
    facts = variables.facts
    for u, v in facts.arcs:
        apart = variables.apart(u, v) if (u, v) not in facts.infusible else Linear(1)
        yield u, v, apart, variables.recomputed.get((u, v))
    for each in facts.loose:
        apart = variables.apart(each.label, each.reader) if each.fusible else Linear(1)
        yield each.label, each.reader, apart, 1 - variables.some(each.only_if)


def formulate(
    whole: Analysis, part: tuple[Label, ...], levels: tuple[CostLevel, ...], weights: Weights, duplicate: Duplicate
) -> Formulation:
    """The model whose solutions, once no row of `cuts.py` is violated, are the legal clusterings of a part."""
    facts = restrict(whole, part)
    variables = Variables(facts)
    _orders(variables)
    _recomputations(variables)
    _work(variables, duplicate)
    forest = add_objectives(variables, levels, weights)
    for row in inequalities(variables):
        variables.model.require(row)
    objectives = variables.model.objectives
    return Formulation(
        labels=part,
        model=variables.model,
        arcs=tuple(_dependences(variables)),
        recomputed=variables.recomputed,
        apart=variables.x,
        beside=variables.beside,
        pushed={(v, gather): variables.pushed(v, gather) for v in facts.pushable for gather in facts.pushable[v]},
        backward={v: variables.backward(v) for v in facts.operations},
        forest=forest,
        alone=tuple(sum(c for number, c in cost.terms.items() if number in variables.alone) for cost in objectives),
        spaces=Spaces(facts.graph),
    )
