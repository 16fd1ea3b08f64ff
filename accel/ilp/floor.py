"""What no clustering can avoid: a lower bound on the cost of a part, without a solver.

Where a heuristic reaches it, it is optimal. In the sums of `price.cluster_price`, level by level.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from accel.ilp.analysis import Analysis, Bundle
from accel.ilp.clustering import FORWARD, Cluster, Order
from accel.ilp.cost import Level, Unit, Weights
from accel.ilp.graph import Graph, Role
from accel.ilp.price import cluster_price
from accel.labelled.nodes import Label

Cost = tuple[int, ...]


def _cheapest_read(facts: Analysis, bundle: Bundle, number: int, level: Level, weights: Weights) -> int:
    """The least that a reader pays for all arrays of a bundle, over the orders that it may have."""
    reader, role = bundle.readers[number]
    orders = [Order(reader, False) if role is Role.SOURCE else FORWARD]
    if role is Role.STREAM and reader in facts.pushable:
        orders.append(Order(facts.pushable[reader], False))
    return min(sum(weights.read(level.read, array, order) for array in bundle.arrays) for order in orders)


def _reads(facts: Analysis, bundle: Bundle, inside: Collection[Label], level: Level, weights: Weights) -> int:
    """Readers that cannot be fused with the maker read at least once, whoever does it for the others."""
    must = [
        number
        for number, (reader, _) in enumerate(bundle.readers)
        if reader in inside and (not bundle.made_here or (bundle.label, reader) in facts.infusible)
    ]
    return min((_cheapest_read(facts, bundle, number, level, weights) for number in must), default=0)


def floor(facts: Analysis, labels: Iterable[Label], levels: tuple[Level, ...], weights: Weights) -> Cost:
    """A lower bound on what the clusters of `labels`, one of the parts of the analysis, cost together."""
    inside = frozenset(labels)
    costs = []
    for level in levels:
        cost = level.cluster
        for bundle in facts.bundles:
            if level.read is not Unit.NOTHING:
                cost += _reads(facts, bundle, inside, level, weights)
            if not bundle.made_here or bundle.label not in inside:
                continue
            if bundle.stored:
                cost += sum(weights.write(level.write, array) for array in bundle.arrays)
                cost += 0 if bundle.result else level.intermediate * len(bundle.arrays)
            fusible = sum((bundle.label, reader) not in facts.infusible for reader, _ in bundle.readers)
            cost -= level.access * len(bundle.arrays) * fusible
        if level.edge:
            cost -= level.edge * sum(u in inside and (u, v) not in facts.infusible for u, v in facts.arcs)
        if level.access:
            for number, i, _ in facts.shares:
                bundle = facts.bundles[number]
                cost -= level.access * len(bundle.arrays) * (bundle.readers[i][0] in inside)
        costs.append(cost)
    return tuple(costs)


def price_of(graph: Graph, clusters: Iterable[Cluster], levels: tuple[Level, ...], weights: Weights) -> Cost:
    """What clusters cost together, in the same sums."""
    found = list(clusters)
    return tuple(sum(cluster_price(graph, cluster, level, weights) for cluster in found) for level in levels)
