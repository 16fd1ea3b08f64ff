"""Orders of traversal as integers [vB24 section 4.2]: 0 forward, 1 backward, 2 and more the gathers'.

d^o(v) and, where it is not the same by definition (d^i = d^o of maps and folds), d^i of Fig. 4.
"""

from __future__ import annotations

from collections.abc import Mapping

from accel.ilp.facts.followers import followers
from accel.ilp.facts.spaces import is_loop_free
from accel.ilp.formulations.draft import Draft
from accel.ilp.legality.rules import CHEAP, fixed_direction, may_be_pushed
from accel.ilp.model.variables import Pair
from accel.ilp.problem.graph import Graph
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.array import Array, Label
from accel.labelled.operations import Kind, Role
from accel.support.choices import Duplicate


def _targets(graph: Graph, fusible: frozenset[Pair], duplicate: Duplicate) -> dict[Label, tuple[Label, ...]]:
    """For every operation the gathers in whose order it might run, as far as its kind, its readers and its own work allow."""
    wanted: dict[Label, set[Label]] = {node.label: set() for node in graph.nodes}
    for node in reversed(graph.operations):
        for array in node.arrays:
            for edge in graph.readers[array]:
                if (node.label, edge.consumer) in fusible:
                    traversals = {graph.order[edge.consumer]} if edge.role is Role.SOURCE else wanted[edge.consumer]
                    wanted[node.label] |= {to for to in traversals if may_be_pushed(graph, node, to, duplicate)}
        if any(array in graph.results for array in node.arrays):
            wanted[node.label] = set()
        wanted[node.label] -= set(graph.whole)
    for order in graph.whole:
        for label in followers(graph, order, fusible, wanted):
            wanted[label].add(order)
    return {label: tuple(sorted(gathers)) for label, gathers in wanted.items()}


class TraversalVariables:
    """The order variables of a draft. `at[v][l]`: v runs in the order of gather l, which is d^o(v) = number[l]."""

    def __init__(self, draft: Draft, duplicate: Duplicate, corrected: bool) -> None:
        self._draft, self._corrected = draft, corrected
        self.number = {order: 2 + position for position, order in enumerate(draft.graph.ordered)}
        self.last = 1 + len(self.number)
        targets = _targets(draft.graph, frozenset(draft.fusible), duplicate)
        self.at: dict[Label, dict[Label, Linear]] = {}
        self.out: dict[Label, Linear] = {}
        self._scattered: dict[Label, Linear] = {}
        for node in draft.graph.operations:
            v = node.label
            self.at[v] = {gather: draft.new(f"at_{v}_{gather}") for gather in targets[v]}
            fixed = fixed_direction(node)
            if not targets[v] and fixed is not None:  # scans, filters, scatters; folds that nothing can push
                self.out[v] = Linear(int(fixed))
            else:
                self.out[v] = draft.new(f"d_{v}", upper=self.last if targets[v] else 1)
                self._define(v, fixed)
            if node.kind is Kind.SCATTER and not corrected:
                self._scattered[v] = draft.new(f"din_{v}", upper=self.last)

    def _define(self, v: Label, fixed: bool | None) -> None:
        """d(v) is a gather's number where at says so, else 0 or 1, or as its kind demands (D5)."""
        if not self.at[v]:
            return
        require, pushed = self._draft.model.require, self.at[v]
        numbered = total(at * self.number[gather] for gather, at in pushed.items())
        require(1 - total(pushed.values()))
        require(self.out[v] - numbered)
        usual = Linear(1) - total(pushed.values()) if fixed is None else Linear(0)
        require(numbered + usual - self.out[v])

    def made_in(self, maker: Label, array: Array) -> Linear:
        """The order in which an array is made: d^o, but of what scans of segments make."""
        node = self._draft.graph.node[maker]
        return Linear(self.number[self._draft.graph.order[maker]]) if node.places(array) else self.out[maker]

    def visits_all(self, v: Label) -> Linear:
        """How far d(v) may be above 1 although what v makes is manifest: a scan of segments visits all."""
        whole = self._draft.graph.whole
        return total(at * (self.number[gather] - 1) for gather, at in self.at[v].items() if gather in whole)

    def read_in(self, reader: Label, role: Role) -> Linear:
        """d^i: the order in which an operation reads an input.

        A gather "consumes its first input in the order l", its indices in the order of its output. Table 1 has a scatter visit
        its source whole, which Fig. 4 forgets.
        """
        if role is Role.SOURCE:
            return Linear(self.number[self._draft.graph.order[reader]])
        return self._scattered.get(reader, self.out[reader])

    def backward(self, values: Mapping[int, float]) -> frozenset[Label]:
        """What runs backward at a point."""
        return frozenset(v for v, traversal in self.out.items() if round(traversal.value(values)) == 1)

    def pushed(self, v: Label, values: Mapping[int, float]) -> Label | None:
        """To which gather v is pushed at a point."""
        return next((gather for gather, at in self.at[v].items() if at.value(values) > 0.5), None)

    def add_work(self, duplicate: Duplicate) -> None:
        """W1: what is recomputed for each element of a growing gather is cheap, all together. No part of the paper."""
        graph, draft = self._draft.graph, self._draft
        if duplicate == "published":
            return
        burdens: dict[Label, list[Linear]] = {}
        again: dict[Label, dict[Label, Linear]] = {}
        for v in sorted(self.at, reverse=True):  # what v is pushed to has been looked at
            again[v] = self._recomputed(v, again)
            for gather, recomputed in again[v].items():
                if not graph.is_growing(gather):
                    continue
                if duplicate is False or not is_loop_free(graph.node[v]):
                    draft.model.require(-recomputed)
                burdens.setdefault(gather, []).append(recomputed * graph.node[v].operations)
        for parts in burdens.values():
            draft.model.require(CHEAP - total(parts))

    def _recomputed(self, v: Label, again: Mapping[Label, Mapping[Label, Linear]]) -> dict[Label, Linear]:
        """For each gather whether v runs in its order, or in that of a gather that does, and so on; but for scans of segments,
        which are not larger than what they read."""
        pushed = {gather: at for gather, at in self.at[v].items() if gather not in self._draft.graph.whole}
        result = dict(pushed)
        beyond = {gather: again[gather] for gather in pushed if gather in again}  # segments are pushed to nothing
        for above in sorted({above for further in beyond.values() for above in further}):
            recomputed = result[above] = self._draft.new(f"again_{v}_{above}", integer=False)
            self._draft.model.require(recomputed - pushed.get(above, Linear(0)))
            for gather, further in beyond.items():
                if above in further:
                    self._draft.model.require(recomputed + 1 - pushed[gather] - further[above])
        return result
