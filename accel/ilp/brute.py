"""The best of all clusterings that the checker accepts, by trying them all: the truth for tests, up to some 8 operations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from accel.ilp.checker import cluster_refusal, refusal
from accel.ilp.clustering import BACKWARD, FORWARD, Cluster, Clustering, Order
from accel.ilp.cost import Weights
from accel.ilp.cost_function import Cost
from accel.ilp.decode import in_order
from accel.ilp.graph import Graph, Kind, Role
from accel.ilp.options import Duplicate
from accel.ilp.price import Prices
from accel.labelled.nodes import Label

_Cost = tuple[int, ...]


def _orders(graph: Graph, labels: tuple[Label, ...]) -> Iterator[Cluster]:
    """The set with every assignment of orders in which readers inside read as their makers make."""
    gathers = [Order(label, False) for label in labels if graph.node[label].kind is Kind.GATHER]
    chosen: list[dict[Label, Order]] = [{}]
    for label in reversed(labels):
        longer = []
        for orders in chosen:
            wanted = {
                Order(edge.consumer, False) if edge.role is Role.SOURCE else orders[edge.consumer]
                for array in graph.node[label].arrays
                for edge in graph.readers[array]
                if edge.consumer in orders
            }
            for order in (FORWARD, BACKWARD, *gathers):
                if wanted <= {order}:
                    longer.append({**orders, label: order})
        chosen = longer
    for orders in chosen:
        yield Cluster(labels, tuple(orders[label] for label in labels))


def _best_cluster(
    graph: Graph, labels: tuple[Label, ...], prices: Prices, duplicate: Duplicate
) -> tuple[_Cost, Cluster] | None:
    """The cheapest legal orders of a set of operations."""
    inside = set(labels)
    if any(first in inside and second in inside for first, second in graph.before):
        return None
    best: tuple[_Cost, Cluster] | None = None
    for cluster in _orders(graph, labels):
        if cluster_refusal(graph, cluster, duplicate) is None:
            cost = prices(cluster)
            if best is None or cost < best[0]:
                best = (cost, cluster)
    return best


def brute(graph: Graph, cost: Cost, weights: Weights, duplicate: Duplicate) -> tuple[tuple[int, ...], Clustering]:
    """The least cost, and a clustering that has it."""
    operations = tuple(node.label for node in graph.operations)
    prices = Prices(graph, cost, weights)
    legal: dict[frozenset[Label], tuple[_Cost, Cluster]] = {}
    for size in range(1, len(operations) + 1):
        for labels in combinations(operations, size):
            found = _best_cluster(graph, labels, prices, duplicate)
            if found is not None:
                legal[frozenset(labels)] = found
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
    raise ValueError("no clustering is legal")
