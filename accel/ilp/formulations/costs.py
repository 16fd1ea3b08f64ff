"""What clusterings cost in the published formulations: exactly what `price.py` counts.

[vB24 section 4.1 (d)] gives no formula for reads, only that its rows are quadratic in the number of an array's readers. Here
the first of those that read an array in one cluster and order pays.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from accel.ilp.facts.analysis import Bundle
from accel.ilp.formulations.draft import Draft
from accel.ilp.model.forest import NO_FOREST, Forest, plant
from accel.ilp.problem.clustering import FORWARD, Traversal, own_order
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.operations import ORDERED, Role


class Costs:
    """The objective of each level, under construction."""

    def __init__(self, draft: Draft, levels: Sequence[CostLevel], weights: Weights) -> None:
        self.draft, self.weights = draft, weights
        self.sums: list[tuple[CostLevel, list[Linear | int]]] = [(level, []) for level in levels]
        self.inside = frozenset(draft.operations)
        self.shared: dict[tuple[int, int, int], Linear] = {}

    def share(self) -> None:
        """Which readers of an array may read it together; these are links, too."""
        for number, bundle in enumerate(self.draft.bundles):
            for i, j in combinations(range(len(bundle.readers)), 2):
                (u, _), (v, _) = bundle.readers[i], bundle.readers[j]
                shared = None if u == v else self.draft.shared(number, i, j)
                if shared is not None:
                    self.shared[number, i, j] = shared
                    self.draft.link(u, v, shared)

    def _unfused(self, bundle: Bundle, reader: int) -> Linear:
        made_here = bundle.label in self.inside
        return self.draft.apart(bundle.label, bundle.readers[reader][0]) if made_here else Linear(1)

    def reads(self) -> None:
        """read(a,j) + sum of shared(a,i,j) over i < j >= x(a,j)."""
        for number, bundle in enumerate(self.draft.bundles):
            for j, (reader, _) in enumerate(bundle.readers):
                earlier = [self.shared[number, i, j] for i in range(j) if (number, i, j) in self.shared]
                paid = self._unfused(bundle, j)
                if earlier:
                    read = self.draft.new(f"read_{number}_{reader}", integer=False, alone=True)
                    self.draft.model.require(total([read, *earlier, -paid]))
                    paid = read
                self._pay(bundle, j, paid)

    def _pay(self, bundle: Bundle, j: int, paid: Linear) -> None:
        """A read costs what its order makes it load."""
        reader, role = bundle.readers[j]
        usual = own_order(self.draft.graph, reader) if role is Role.SOURCE else FORWARD
        weights = [self._read_weight(level, bundle, usual) for level, _ in self.sums]
        for (_, costs), weight in zip(self.sums, weights, strict=True):
            costs.append(paid * weight)
        if role is Role.SOURCE:
            return
        for gather, pushed in self.draft.pushed_to(reader).items():
            more = [self._read_weight(level, bundle, Traversal(gather, False)) for level, _ in self.sums]
            if more == weights:
                continue
            both = self._both(paid, pushed, f"read_{bundle.label}_{reader}_at_{gather}")
            for (_, costs), weight, usually in zip(self.sums, more, weights, strict=True):
                costs.append(both * (weight - usually))

    def _read_weight(self, level: CostLevel, bundle: Bundle, traversal: Traversal) -> int:
        return sum(self.weights.read(level, array, traversal) for array in bundle.arrays)

    def _both(self, first: Linear, second: Linear, name: str) -> Linear:
        """first and second, exactly."""
        both = self.draft.new(f"{name}_{len(self.draft.model.variables)}", integer=False)
        self.draft.model.require(both + 1 - first - second)
        self.draft.model.require(first - both)
        self.draft.model.require(second - both)
        return both

    def writes(self) -> None:
        """The arrays that are stored."""
        for number in self.draft.made():
            bundle, stored = self.draft.bundles[number], self.draft.stored(number)
            for level, costs in self.sums:
                weight = sum(self.weights.write(level, array) for array in bundle.arrays)
                weight += 0 if bundle.result else level.intermediate * len(bundle.arrays)
                costs.append(stored * weight)

    def clusters(self) -> Forest:
        """Operations minus the edges of a forest of links. (The paper's pi_max (10) is the longest chain of clusters.)"""
        forest = plant(self.draft.links, self.draft.new, self.draft.model.require)
        for level, costs in self.sums:
            costs.append(level.cluster * len(self.inside))
            costs += [join * -level.cluster for join in forest.joined.values()]
        return forest

    def edges(self) -> None:
        """The sum of x_ab [vB24 section 4.1 (b)], over pairs of operations of which b reads what a makes."""
        arcs = {
            (edge.array.label, edge.consumer)
            for edge in self.draft.graph.edges
            if edge.role in ORDERED and edge.array.label in self.inside and edge.consumer in self.inside
        }
        for level, costs in self.sums:
            costs += [self.draft.apart(u, v) * level.edge for u, v in sorted(arcs)]

    def accesses(self) -> None:
        """Pairs of accesses to an array that are not fused [Kri Def. 20; Rob section 1.4.4, W = N²]."""
        for number, bundle in enumerate(self.draft.bundles):
            unfused: list[Linear] = []
            if bundle.label in self.inside:
                unfused += [self._unfused(bundle, reader) for reader in range(len(bundle.readers))]
            for i, j in combinations(range(len(bundle.readers)), 2):
                if bundle.readers[i][0] != bundle.readers[j][0]:
                    unfused.append(1 - self.shared.get((number, i, j), Linear(0)))
            for level, costs in self.sums:
                costs.append(total(unfused) * (level.access * len(bundle.arrays)))

    def interference(self) -> None:
        """A variable for each pair, which `Components.company` makes 1 where it must be."""
        for between, lost in self.weights.interference.items():
            beside = self.draft.beside[between] = self.draft.new("beside_{}_{}".format(*between), integer=False)
            for level, costs in self.sums:
                costs.append(beside * (level.interference * lost))


def add_costs(draft: Draft, levels: Sequence[CostLevel], weights: Weights) -> Forest:
    """One objective per level, with the variables that it needs; returns the forest that counts clusters, if one is needed."""
    costs = Costs(draft, levels, weights)
    forest = NO_FOREST
    if any(level.reads or level.cluster or level.access for level in levels):
        costs.share()
    if any(level.reads for level in levels):
        costs.reads()
    if any(level.writes or level.intermediate for level in levels):
        costs.writes()
    if any(level.cluster for level in levels):
        forest = costs.clusters()
    if any(level.edge for level in levels):
        costs.edges()
    if any(level.access for level in levels):
        costs.accesses()
    if any(level.interference for level in levels):
        costs.interference()
    draft.model.objectives += [total(parts) for _, parts in costs.sums]
    return forest
