"""The strategy `greedy`: merge the pair of clusters that saves most, as long as one saves anything [Kri section V-C, Fig. 7].

Every cluster takes part in at most one merge per round, so that clusters grow evenly and long programs take little more
than linear time. In short programs a cluster waits for its best partner, and several that save the same join it at once.
Every step is judged by the legality checker and by exact prices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from accel.ilp.facts.contraction import only_reader
from accel.ilp.problem.clustering import Cluster
from accel.ilp.problem.cost import CostModel
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.price import Prices
from accel.ilp.strategies.contracted import contracted
from accel.ilp.strategies.found import Found
from accel.ilp.strategies.partition import Partition, data_pairs, reader_pairs
from accel.labelled.array import Label
from accel.support.choices import Duplicate

_PATIENT = 64
"""With no more clusters than this, one that could not have its best partner in a round waits for the next."""


def greedy(graph: Graph, prices: Prices, duplicate: Duplicate) -> Found:
    """Chains of maps first, then the best pairs, in rounds. It takes little more than linear time."""
    contraction = contracted(graph, prices, duplicate)
    return Found(
        tuple(
            contraction.refine(cluster) for cluster in merge_greedily(contraction.graph, contraction.prices, duplicate)
        )
    )


def merge_greedily(graph: Graph, prices: Prices, duplicate: Duplicate) -> list[Cluster]:
    """Clusters of all operations and barriers, in no particular order."""
    # Weights count nothing that fusing a chain adds to but interference; what a function thinks of it must be asked.
    cost, adds = prices.cost, frozenset[Label]()
    if isinstance(cost, CostModel) and any(level.interference for level in cost.levels):
        adds = prices.weights.interfering
    merger = _Merger(Partition(graph, duplicate, chains(graph, adds) if isinstance(cost, CostModel) else None), prices)
    pairs = [*data_pairs(graph), *reader_pairs(graph)]
    while merger.round(sorted(merger.partition.pairs(pairs))):
        pass
    return list(merger.partition.cluster.values())


def chains(graph: Graph, apart: Collection[Label]) -> list[list[Label]]:
    """Runs of maps of which each reads all that the one before makes, as its only reader: fusing them is never illegal.

    Those of `apart` are runs by themselves.
    """
    earlier = {first for first, _ in graph.before}
    run_of: dict[Label, list[Label]] = {}
    runs: list[list[Label]] = []
    for node in graph.operations:
        run = run_of.get(node.label)
        if run is None:
            run = [node.label]
            runs.append(run)
        heir = None if node.label in earlier or node.label in apart else only_reader(graph, node)
        if heir is not None and heir not in run_of and heir not in apart:
            run.append(heir)
            run_of[heir] = run
    return runs


Offer: TypeAlias = tuple[tuple[int, ...], Cluster]
"""What merging two clusters saves, and what comes out."""


class Savings:
    """What merging two clusters of a partition saves, and what comes out; each pair is looked at once.

    To judge a cluster takes several times as long as to price it, so only what saves something is judged, and only where it is
    to be merged. A cost function is asked about legal clusters alone.
    """

    def __init__(self, partition: Partition, prices: Prices) -> None:
        self._partition, self._price = partition, prices
        # By the clusters' identities: to hash one takes as long as to walk it.
        self._costs: dict[int, tuple[Cluster, tuple[int, ...]]] = {}
        self._offers: dict[tuple[int, int], tuple[Cluster, Cluster, Offer | None]] = {}

    def _cost(self, cluster: Cluster) -> tuple[int, ...]:
        if id(cluster) not in self._costs:
            self._costs[id(cluster)] = cluster, self._price(cluster)
        return self._costs[id(cluster)][1]

    def if_legal(self, first: Label, second: Label) -> Offer | None:
        """None if that saves nothing, or is plainly illegal."""
        one, two = self._partition.cluster[first], self._partition.cluster[second]
        if (id(one), id(two)) not in self._offers:
            self._offers[id(one), id(two)] = one, two, self._offer((first, second), one, two)
        return self._offers[id(one), id(two)][2]

    def of(self, first: Label, second: Label) -> Offer | None:
        """None if that is illegal, or saves nothing."""
        offer = self.if_legal(first, second)
        return offer if offer is not None and self._partition.is_legal(offer[1]) else None

    def _offer(self, names: tuple[Label, Label], one: Cluster, two: Cluster) -> Offer | None:
        whole = self._partition.assigned(names)
        if whole is None or not (isinstance(self._price.cost, CostModel) or self._partition.is_legal(whole)):
            return None
        costs = zip(self._cost(one), self._cost(two), self._cost(whole), strict=True)
        saved = tuple(a + b - c for a, b, c in costs)
        return (saved, whole) if saved > (0,) * len(saved) else None


class _Merger:
    """Rounds of merging."""

    def __init__(self, partition: Partition, prices: Prices) -> None:
        self.partition, self._savings = partition, Savings(partition, prices)

    def round(self, pairs: Iterable[tuple[Label, Label]]) -> bool:
        """Merge disjoint pairs, the most saving first; whether there was one."""
        offers = []
        for first, second in pairs:
            offer = self._savings.if_legal(first, second)
            if offer is not None:
                offers.append((tuple(-saving for saving in offer[0]), first, second, offer[1]))
        offers.sort(key=lambda offer: offer[:3])
        patient = len(self.partition.cluster) <= _PATIENT
        touched: dict[Label, tuple[int, ...] | None] = {}
        merged = False
        for cost, first, second, whole in offers:
            taken = first in touched or second in touched
            if (taken and not patient) or not self.partition.is_legal(whole):
                continue
            if taken:
                joins = self._as_well(cost, first, second, touched)
                touched |= dict.fromkeys((first, second), cost if joins else None)
            elif self.partition.is_next_to(first, second):
                self.partition.merge((first, second), whole)
                touched |= {first: cost, second: cost}
                merged = True
        return merged

    def _as_well(
        self, cost: tuple[int, ...], first: Label, second: Label, touched: Mapping[Label, tuple[int, ...] | None]
    ) -> bool:
        """Whether one cluster, of several to which a merge with the same other one was worth the same, joins them."""
        names = [name for name in (first, second) if name in touched]
        if len(names) != 1 or touched[names[0]] != cost:
            return False
        first, second = sorted(self.partition.home[name] for name in (first, second))
        offer = self._savings.of(first, second)
        if offer is None or tuple(-saving for saving in offer[0]) > cost:
            return False
        if not self.partition.is_next_to(first, second):
            return False
        self.partition.merge((first, second), offer[1])
        return True
