"""The formulation of [Rob section 1.4], `formulation="robinson"`, for graphs without gathers.

Variables x_ij for all pairs of operations, not only for those that share something, potentials pi and stored arrays c. Sizes
are compared by `concestors`. Beyond the paper: scans in both directions; x_ij = 0 of all pairs of a cluster that differ in size
(transitivity, found when it is violated: a scalar may be fused with the folds that it is made of here, and bring together what
no x does); costs that count exactly (`costs.py`), not N², N and 1 per pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from accel.ilp.facts.analysis import Bundle
from accel.ilp.facts.reach import reach
from accel.ilp.formulations.components import Components
from accel.ilp.formulations.concestors import Sizes
from accel.ilp.formulations.draft import Draft
from accel.ilp.formulations.priced import Priced
from accel.ilp.legality.rules import fixed_direction
from accel.ilp.model.variables import Pair, pair
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.array import Label


class _Figure114(Draft):
    """The rows of [Rob Fig. 1.14]."""

    def __init__(self, graph: Graph, bundles: Sequence[Bundle]) -> None:
        super().__init__(graph, bundles)
        self._prevented = self._fusion_preventing_paths()
        sizes = Sizes(graph)
        found = {
            (a, b): sizes.concestors(a, b)
            for a, b in combinations(self.operations, 2)
            if not self._prevented[a] & self._bit[b]
        }
        self.concestors = {between: both for between, both in found.items() if both is not None}
        self._x = {(a, b): self.new(f"x_{a}_{b}", alone=True) for a, b in self._possible()}
        self._kept = {k: self.new(f"c_{self.bundles[k].label}_{k}", alone=True) for k in self.made()}
        self._backward = {
            node.label: self.new(f"backward_{node.label}") if fixed is None else Linear(int(fixed))
            for node in graph.operations
            for fixed in [fixed_direction(node)]
        }
        for u, v in self.fusible:
            self.link(u, v, 1 - self.apart(u, v))
        self.rise()
        self.contract(self._kept)
        self._together()

    def _fusion_preventing_paths(self) -> dict[Label, int]:
        """What is reached from each node over a path with a fusion-preventing edge, as bits: not `possible` [Rob Fig. 1.13]."""
        self._bit = {node.label: 1 << number for number, node in enumerate(self.graph.nodes)}
        after: dict[Label, list[Label]] = {node.label: [] for node in self.graph.nodes}
        for u, v in self.graph.arcs:
            after[u].append(v)
        fusible = frozenset(self.fusible)
        order = (node.label for node in reversed(self.graph.nodes))
        _, prevented = reach(order, self._bit, after.__getitem__, lambda u, v: (u, v) in fusible)
        return prevented

    def _possible(self) -> list[Pair]:
        """`possible'`: there are concestors, and no path prevents them from being together with a and b and each other."""

        def may(a: Label, b: Label) -> bool:
            return a == b or pair(a, b) in self.concestors

        return [
            (a, b)
            for (a, b), (first, second) in self.concestors.items()
            if may(a, first) and may(b, second) and may(first, second)
        ]

    def _together(self) -> None:
        """x_ij = 0: one potential, one direction, and the concestors are with i and j."""
        arcs = frozenset(self.graph.arcs)
        for (a, b), x in self._x.items():
            if (a, b) not in arcs:
                self.model.differ_at_most(self.potential[a], self.potential[b], x * self.most)
            first, second = self.concestors[a, b]
            for u, v in ((a, first), (b, second), (first, second)):
                if u != v and pair(u, v) != (a, b):
                    self.model.require(x - self.apart(*pair(u, v)))
            self.model.differ_at_most(self._backward[a], self._backward[b], x)

    def apart(self, u: Label, v: Label) -> Linear:
        """x_uv, u < v."""
        return self._x.get((u, v), Linear(1))

    def stored(self, number: int) -> Linear:
        """c of an array."""
        return self._kept[number]

    def shared(self, number: int, i: int, j: int) -> Linear | None:
        """1 - x_ij: without gathers, what is in one cluster has one order."""
        readers = self.bundles[number].readers
        x = self._x.get(pair(readers[i][0], readers[j][0]))
        return None if x is None else 1 - x

    def pushed_to(self, v: Label) -> Mapping[Label, Linear]:
        """Nothing is pushed."""
        return {}

    def backward(self, values: Mapping[int, float]) -> frozenset[Label]:
        """What runs backward at a point."""
        return frozenset(v for v, back in self._backward.items() if back.value(values) > 0.5)

    def of_one_size(self, a: Label, b: Label) -> bool:
        """Whether x_ab has nothing to say but that a and b have one potential."""
        return self.concestors.get(pair(a, b)) == (a, b)


class Robinson(Priced):
    """The formulation with costs, as the loop of solving sees it."""

    def __init__(self, graph: Graph, bundles: Sequence[Bundle], levels: Sequence[CostLevel], weights: Weights) -> None:
        self._draft = _Figure114(graph, bundles)
        super().__init__(self._draft, levels, weights)

    def integral_rows(self, values: Mapping[int, float]) -> list[Linear]:
        """Transitivity where sizes differ; about operations side by side."""
        components = Components(self._draft, values)
        rows = components.company()
        for cluster in components.clusters:
            for a, b in combinations(cluster, 2):
                x = self._draft.apart(a, b)
                if x.value(values) > 0.5 and not self._draft.of_one_size(a, b):
                    rows.append(total([*components.broken((a, b)), -x]))
        return rows

    def backward(self, values: Mapping[int, float]) -> frozenset[Label]:
        """What runs backward."""
        return self._draft.backward(values)
