"""What clusterings cost, as linear expressions (docs/ilp.md, "The model"): reads, writes, clusters, edges, and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from accel.ilp.facts.analysis import Bundle
from accel.ilp.model.forest import NO_FOREST, Forest, plant
from accel.ilp.model.variables import Pair, Variables, pair
from accel.ilp.problem.clustering import FORWARD, Traversal, own_order
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.recompute.traffic import Traffic
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.array import Label
from accel.labelled.operations import ORDERED, Role


class _Objective:
    """The cost of each level, under construction."""

    def __init__(self, variables: Variables, levels: Sequence[CostLevel], weights: Weights) -> None:
        self.variables, self.facts = variables, variables.facts
        self.levels, self.weights = levels, weights
        self.costs: list[list[Linear | int]] = [[] for _ in levels]
        self.same: dict[tuple[int, int, int], Linear] = {}

    # ---- who reads together

    def share(self) -> None:
        """same(a,i,j) = 1: readers i and j of a are in one cluster and read in one order."""
        require = self.variables.model.require
        for number, i, j in self.facts.shares:
            bundle = self.facts.bundles[number]
            (u, role_u), (v, role_v) = bundle.readers[i], bundle.readers[j]
            same = self.variables.new(f"same_{number}_{u}_{v}")
            self.same[number, i, j] = same
            require(1 - self.variables.apart(u, v) - same)
            for k in (i, j):
                require(self.variables.reads(bundle, k) - same)
            if role_u is role_v is Role.SOURCE:
                continue  # they have one order
            if Role.SOURCE in (role_u, role_v):  # the gather and what is pushed to it
                pushed, gather = (v, u) if role_u is Role.SOURCE else (u, v)
                require(self.variables.pushed(pushed, self.facts.graph.order[gather]) - same)
                continue
            self._in_one_order(u, v, 1 - same)

    def _in_one_order(self, u: Label, v: Label, allowed: Linear) -> None:
        """Two streams are read in one order, but for `allowed`."""
        variables, pushable = self.variables, self.facts.pushable
        for gather in sorted({*pushable.get(u, ()), *pushable.get(v, ())}):
            variables.model.differ_at_most(variables.pushed(u, gather), variables.pushed(v, gather), allowed)
        variables.model.differ_at_most(variables.backward(u), variables.backward(v), allowed)

    # ---- reads

    def reads(self) -> None:
        """Of the readers of an array in one cluster and order, the first pays: read(a,j) + sum of same(a,i,j) >= x."""
        partners: dict[tuple[int, int], list[int]] = {}
        for number, i, j in self.facts.shares:
            partners.setdefault((number, j), []).append(i)
            partners.setdefault((number, i), [])
        for number, bundle in enumerate(self.facts.bundles):
            pays: dict[int, Linear] = {}
            for j, (reader, _) in enumerate(bundle.readers):
                unfused, optional = self.variables.unfused(bundle, j), bool(bundle.only_if[j])
                fusible = self.variables.is_fusible(bundle, j)
                if (number, j) not in partners and not (optional and fusible):
                    pays[j] = unfused
                    continue
                pays[j] = self.variables.new(f"read_{number}_{reader}", integer=False, alone=not optional)
                borrowed = {(i, j): self._borrowed(number, i, j) for i in partners.get((number, j), ())}
                self.variables.model.require(total([pays[j], *borrowed.values(), -unfused]))
                for i in partners.get((number, j), ()):
                    self.variables.model.require(pays[i] - borrowed[i, j])
            for j, paid in pays.items():
                self._pay(bundle, j, paid)

    def _borrowed(self, number: int, i: int, j: int) -> Linear:
        """Whether j need not pay because i does: at most same(a,i,j), and all of it but where accesses count, too.

        Then same = 1 is wanted for all pairs that read together, also of those that do not pay.
        """
        same = self.same[number, i, j]
        if not any(level.access for level in self.levels):
            return same
        borrowed = self.variables.new(f"borrowed_{number}_{i}_{j}", integer=False)
        self.variables.model.require(same - borrowed)
        return borrowed

    def _pay(self, bundle: Bundle, j: int, paid: Linear) -> None:
        """A read costs by its order: a pushed reader executes as many loads as its gather has elements."""
        reader, role = bundle.readers[j]
        gathers = () if role is Role.SOURCE else self.facts.pushable.get(reader, ())
        both: dict[Label, Linear] = {}
        for level, costs in zip(self.levels, self.costs, strict=True):
            if not level.reads:
                continue
            usual = own_order(self.facts.graph, reader) if role is Role.SOURCE else FORWARD
            weight = sum(self.weights.read(level, array, usual) for array in bundle.arrays)
            costs.append(paid * weight)
            for gather in gathers:
                pushed = sum(self.weights.read(level, array, Traversal(gather, False)) for array in bundle.arrays)
                if pushed != weight:
                    if gather not in both:
                        both[gather] = self._both(paid, self.variables.pushed(reader, gather))
                    costs.append(both[gather] * (pushed - weight))

    def _both(self, first: Linear, second: Linear) -> Linear:
        """first and second, exactly."""
        both = self.variables.new(f"both_{len(self.variables.model.variables)}", integer=False)
        self.variables.model.require(both + 1 - first - second)
        self.variables.model.require(first - both)
        self.variables.model.require(second - both)
        return both

    # ---- writes

    def writes(self) -> None:
        """stored(a) >= x(a,b) for every reader b that does not recompute the maker."""
        for bundle in self.facts.bundles:
            if not bundle.made_here or bundle.label not in self.facts.operations:
                continue
            stored = Linear(1)
            if not bundle.stored:
                apart = [self.variables.unfused(bundle, j) for j in range(len(bundle.readers))]
                apart += [1 - self.variables.recomputed[bundle.label, reader] for reader in bundle.loaders]
                apart += [self.variables.recomputed[arc] for arc in bundle.loaded_if]
                stored = apart[0]
                if any(other != stored for other in apart):
                    stored = self.variables.new(f"stored_{bundle.label}", integer=False, alone=True)
                    for other in apart:
                        self.variables.model.require(stored - other)
            for level, costs in zip(self.levels, self.costs, strict=True):
                weight = sum(self.weights.write(level, array) for array in bundle.arrays)
                weight += 0 if bundle.result else level.intermediate * len(bundle.arrays)
                costs.append(stored * weight)

    # ---- clusters, edges, accesses

    def clusters(self) -> Forest:
        """Operations minus the edges of a forest of links: a link is a fused array or a shared read."""
        links: dict[Pair, list[Linear]] = {}
        for u, v in self.facts.arcs:
            if (u, v) not in self.facts.infusible:
                links.setdefault((u, v), []).append(1 - self.variables.apart(u, v))  # where v recomputes u, that is 0
        for each in self.facts.loose:
            if each.fusible:
                edge = pair(each.label, each.reader)
                linked = self.variables.new(f"through_{each.label}_{each.reader}", integer=False)
                self.variables.model.require(1 - self.variables.apart(*edge) - linked)
                self.variables.model.require(self.variables.some(each.only_if) - linked)
                links.setdefault(edge, []).append(linked)
        for number, i, j in self.facts.shares:
            readers = self.facts.bundles[number].readers
            links.setdefault(pair(readers[i][0], readers[j][0]), []).append(self.same[number, i, j])
        forest = plant(links, self.variables.new, self.variables.model.require)
        gone = [self.variables.gone(label) for label in self.facts.candidates.removable]
        for level, costs in zip(self.levels, self.costs, strict=True):
            costs.append((len(self.facts.operations) - total(gone)) * level.cluster)
            costs += [join * -level.cluster for join in forest.joined.values()]
        return forest

    def triangles(self, joined: Mapping[Pair, Linear]) -> None:
        """No circle in the forest among three operations that use one array."""
        done: set[tuple[Label, ...]] = set()
        for bundle in self.facts.bundles:
            near = {reader for reader, _ in bundle.readers} | ({bundle.label} if bundle.made_here else set())
            for triple in combinations(sorted(near), 3) if len(near) <= 8 else ():
                sides = [joined[p] for p in combinations(triple, 2) if p in joined]
                if len(sides) == 3 and triple not in done:
                    done.add(triple)
                    self.variables.model.require(2 - total(sides))

    def edges(self) -> None:
        """x(a,b) for all pairs of operations of which b reads what a makes."""
        inside = frozenset(self.facts.operations)
        pairs = {
            (edge.array.label, edge.consumer)
            for edge in self.facts.graph.edges
            if edge.role in ORDERED and edge.array.label in inside and edge.consumer in inside
        }
        for level, costs in zip(self.levels, self.costs, strict=True):
            costs += [self.variables.apart(u, v) * level.edge for u, v in sorted(pairs)]

    def accesses(self) -> None:
        """For every pair of accesses to an array: 1 - same, or x for maker and reader [Kri Def. 20]."""
        for number, bundle in enumerate(self.facts.bundles):
            unfused: list[Linear] = []
            if bundle.made_here:
                unfused += [self.variables.unfused(bundle, j) for j in range(len(bundle.readers))]
            for i, j in combinations(range(len(bundle.readers)), 2):
                if bundle.readers[i][0] != bundle.readers[j][0]:
                    unfused.append(1 - self.same.get((number, i, j), Linear(0)))
            for level, costs in zip(self.levels, self.costs, strict=True):
                costs.append(total(unfused) * (level.access * len(bundle.arrays)))

    def interference(self) -> None:
        """beside(u,v) >= 1 - x(u,v); `cuts.py` finds pairs that are in one cluster through others."""
        facts, inside = self.facts, frozenset(self.facts.operations)
        for (u, v), lost in self.weights.interference.items():
            if u not in inside or v not in inside or facts.separation.are_separate(u, v):
                continue
            beside = self.variables.beside[u, v] = self.variables.new(f"beside_{u}_{v}", integer=False)
            if (u, v) in self.variables.x:
                self.variables.model.require(beside + self.variables.apart(u, v) - 1)
            for level, costs in zip(self.levels, self.costs, strict=True):
                costs.append(beside * (level.interference * lost))

    # ---- recomputation

    def loads(self) -> None:
        """What recomputations read more by index."""
        found = self.facts.candidates
        for level, costs in zip(self.levels, self.costs, strict=True):
            traffic = Traffic(found, level, self.weights)
            costs += [self.variables.recomputed[pair] * traffic.recomputed(pair) for pair in found.pairs]
            costs += [self.variables.gone(label) * -traffic.gone(label) for label in sorted(found.removable)]


def add_objectives(variables: Variables, levels: Sequence[CostLevel], weights: Weights) -> Forest:
    """Add one objective per level to the model, with the variables that it needs; returns the forest of clusters.

    Where something may be recomputed the last objective is how often that is done; of as many, later readers are better.
    """
    objective = _Objective(variables, levels, weights)
    forest = NO_FOREST
    if any(level.reads or level.cluster or level.access for level in levels):
        objective.share()
    if any(level.reads for level in levels):
        objective.reads()
    if any(level.writes or level.intermediate for level in levels):
        objective.writes()
    if any(level.cluster for level in levels):
        forest = objective.clusters()
        objective.triangles(forest.joined)
    if any(level.edge for level in levels):
        objective.edges()
    if any(level.access for level in levels):
        objective.accesses()
    if any(level.interference for level in levels):
        objective.interference()
    objective.loads()
    variables.model.objectives += [total(costs) for costs in objective.costs]
    if variables.recomputed:
        number = len(variables.recomputed)
        ranks = [number * number + number - place for place in range(number)]
        ranked = zip(variables.recomputed.values(), ranks, strict=True)
        variables.model.objectives.append(total(recomputed * rank for recomputed, rank in ranked))
    return forest
