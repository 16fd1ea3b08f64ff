"""The best of all clusterings that the checker accepts, by trying them all: the truth for tests, up to some 8 operations.

With recomputation (docs/ilp/recomputation.md) by trying all sets of pairs, up to some 6 operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from accel.ilp.legality.checker import cluster_refusal, refusal
from accel.ilp.problem.clustering import BACKWARD, FORWARD, Cluster, Clustering, Traversal, own_order
from accel.ilp.problem.cost import CostModel, Weights
from accel.ilp.problem.cost_function import Cost
from accel.ilp.problem.decode import in_order
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.price import Prices
from accel.ilp.recompute.candidates import Pair, candidates
from accel.ilp.recompute.graph import RecomputedGraph, recompute
from accel.ilp.recompute.traffic import moved
from accel.labelled.array import Label
from accel.labelled.operations import GATHERS, Kind, Role
from accel.labelled.passes.recompute import Recomputed
from accel.support.choices import Duplicate

_Cost = tuple[int, ...]
_Best = tuple[_Cost, Clustering]
_Legal = Mapping[frozenset[Label], tuple[Cluster, ...]]
"""For every set of operations that may be a cluster, its legal orders; and for every operation, if there are any."""


@dataclass(frozen=True, slots=True)
class _Recomputed:
    """What is recomputed in a graph, and makers that are never pushed."""

    changed: RecomputedGraph
    unpushed: frozenset[Label] = frozenset()

    def whole(self, labels: tuple[Label, ...]) -> tuple[Label, ...]:
        """Operations and what they recompute."""
        return tuple(sorted(self.changed.whole(labels)))


def _orders(graph: Graph, labels: tuple[Label, ...], unpushed: frozenset[Label]) -> Iterator[Cluster]:
    """The set with every assignment of orders in which readers inside read as their makers make."""
    gathers = dict.fromkeys(own_order(graph, label) for label in labels if graph.node[label].kind in GATHERS)
    chosen: list[dict[Label, Traversal]] = [{}]
    for label in reversed(labels):
        longer = []
        for orders in chosen:
            wanted = {
                own_order(graph, edge.consumer) if edge.role is Role.SOURCE else orders[edge.consumer]
                for array in graph.node[label].arrays
                for edge in graph.readers[array]
                if edge.consumer in orders and not graph.node[label].places(array)
            }
            for order in (FORWARD, BACKWARD, *gathers):
                if wanted <= {order} and (order.gather is None or label not in unpushed):
                    longer.append({**orders, label: order})
        chosen = longer
    for orders in chosen:
        yield Cluster(labels, tuple(orders[label] for label in labels))


def _legal_orders(
    graph: Graph, labels: tuple[Label, ...], duplicate: Duplicate, recomputed: _Recomputed
) -> tuple[Cluster, ...]:
    """A set of operations with every legal assignment of orders."""
    labels = recomputed.whole(labels)
    inside = set(labels)
    if any(first in inside and second in inside for first, second in graph.before):
        return ()
    return tuple(
        cluster
        for cluster in _orders(graph, labels, recomputed.unpushed)
        if cluster_refusal(graph, cluster, duplicate) is None
    )


def brute(graph: Graph, cost: Cost, weights: Weights, duplicate: Duplicate) -> tuple[tuple[int, ...], Clustering]:
    """The least cost, and a clustering that has it; without recomputation."""
    return _found(_brute(graph, cost, weights, duplicate, _nothing(graph)))


def brute_all(
    graph: Graph, costs: Sequence[Cost], weights: Weights, duplicate: Duplicate
) -> tuple[tuple[int, ...], ...]:
    """The least of every cost; without recomputation. What is legal is found out once."""
    clusters = _legal_clusters(graph, duplicate, _nothing(graph))
    return tuple(_found(_best(graph, Prices(graph, cost, weights), clusters, duplicate))[0] for cost in costs)


def _nothing(graph: Graph) -> _Recomputed:
    return _Recomputed(RecomputedGraph(graph, (), ()))


def _found(best: _Best | None) -> _Best:
    """Without recomputation there is always a clustering: every operation by itself."""
    assert best is not None
    return best


def brute_with_recomputations(
    graph: Graph, model: CostModel, weights: Weights, duplicate: Duplicate = True
) -> tuple[tuple[int, ...], tuple[Pair, ...]]:
    """The least cost where readers may recompute, with reads by index as far as that changes them, and the fewest pairs."""
    best: tuple[_Cost, tuple[Pair, ...]] | None = None
    found = candidates(graph, weights, duplicate)
    for count in range(len(found.pairs) + 1):
        for chosen in combinations(found.pairs, count):
            recomputed = [Recomputed((maker,), (reader,)) for maker, reader in chosen]
            changed = recompute(graph, recomputed)
            if not all(changed.new(reader) in changed.graph.node for _, reader in chosen):
                continue  # nobody is there to compute anything
            makers = frozenset(changed.new(maker) for maker, _ in chosen)
            own = Weights(changed.graph, weights.sizes)
            without_loads = _brute(changed.graph, model, own, duplicate, _Recomputed(changed, makers))
            if without_loads is None:
                continue  # together they are too much work for their reader
            more = moved(found, chosen, model.levels, weights)
            total = tuple(map(sum, zip(without_loads[0], more, strict=True)))
            if best is None or total < best[0]:
                best = (total, chosen)
    assert best is not None
    return best


def _brute(graph: Graph, cost: Cost, weights: Weights, duplicate: Duplicate, recomputed: _Recomputed) -> _Best | None:
    return _best(graph, Prices(graph, cost, weights), _legal_clusters(graph, duplicate, recomputed), duplicate)


def _legal_clusters(graph: Graph, duplicate: Duplicate, recomputed: _Recomputed) -> _Legal:
    stuck = {own for labels in recomputed.changed.made for own in labels}
    operations = tuple(node.label for node in graph.operations if node.label not in stuck)
    sets = (labels for size in range(1, len(operations) + 1) for labels in combinations(operations, size))
    legal = {frozenset(labels): _legal_orders(graph, labels, duplicate, recomputed) for labels in sets}
    return {labels: clusters for labels, clusters in legal.items() if clusters or len(labels) == 1}


def _best(graph: Graph, prices: Prices, clusters_of: _Legal, duplicate: Duplicate) -> _Best | None:
    """The cheapest partition of the operations into legal clusters that stand in an order, if there is one."""
    legal = {
        labels: min(((prices(cluster), cluster) for cluster in clusters), key=lambda priced: priced[0])
        for labels, clusters in clusters_of.items()
        if clusters
    }
    operations = sorted(frozenset[Label]().union(*clusters_of))
    partial: list[tuple[frozenset[Label], _Cost, tuple[Cluster, ...]]] = [(frozenset(), (), ())]
    complete: list[tuple[_Cost, tuple[Cluster, ...]]] = []
    while partial:
        done, summed, clusters = partial.pop()
        if len(done) == len(operations):
            complete.append((summed, clusters))
            continue
        first = next(label for label in operations if label not in done)
        for members, (price, cluster) in legal.items():
            if first in members and not members & done:
                longer = tuple(map(sum, zip(summed, price, strict=True))) if summed else price
                partial.append((done | members, longer, (*clusters, cluster)))
    barriers = [Cluster((node.label,), (FORWARD,)) for node in graph.nodes if node.kind is Kind.BARRIER]
    for _, clusters in sorted(complete, key=lambda candidate: candidate[0]):
        ordered = in_order(graph, (*clusters, *barriers))
        if ordered is not None and refusal(graph, ordered, duplicate) is None:
            return prices.total(ordered.clusters), ordered
    return None
