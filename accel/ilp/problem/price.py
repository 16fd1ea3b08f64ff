"""What a clustering costs, counted with exact integers; shares no code with the ILP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from accel.errors import AccelValueError, here
from accel.ilp.problem.accesses import all_accesses, data_arcs, fused_accesses, fused_arcs, reads, stored
from accel.ilp.problem.clustering import Cluster, Clustering
from accel.ilp.problem.cost import CostLevel, CostModel, Weights, added
from accel.ilp.problem.cost_function import ANSWER, Cost, call, name_of
from accel.ilp.problem.graph import Graph
from accel.labelled.operations import Kind


def cluster_price(graph: Graph, cluster: Cluster, levels: Sequence[CostLevel], weights: Weights) -> tuple[int, ...]:
    """What one cluster contributes to each level; pairs that it fuses count negative."""
    if is_barrier(graph, cluster):
        return (0,) * len(levels)
    traversals = cluster.members
    labels = frozenset(cluster.labels)
    read = list(reads(graph, traversals)) if any(level.reads for level in levels) else []
    written = list(stored(graph, labels)) if any(level.writes or level.intermediate for level in levels) else []
    found = []
    for level in levels:
        price = level.cluster
        if level.reads:
            price += sum(weights.read(level, array, traversal) for array, traversal in read)
        if level.writes or level.intermediate:
            for array in written:
                price += weights.write(level, array)
                price += level.intermediate * (array not in graph.results)
        if level.edge:
            price -= level.edge * fused_arcs(graph, labels)
        if level.access:
            price -= level.access * fused_accesses(graph, traversals)
        if level.interference:
            price += level.interference * weights.lost(labels)
        found.append(price)
    return tuple(found)


def constant_price(graph: Graph, level: CostLevel) -> int:
    """What a level counts before anything is fused: `cluster_price` subtracts from it."""
    price = level.edge * len(data_arcs(graph)) if level.edge else 0
    return price + (level.access * all_accesses(graph) if level.access else 0)


def is_barrier(graph: Graph, cluster: Cluster) -> bool:
    """Whether this is a barrier by itself, which costs nothing."""
    return any(graph.node[label].kind is Kind.BARRIER for label in cluster.labels)


class Prices:
    """What clusters of a graph cost, by a model or a function; a function is asked once for each cluster."""

    def __init__(self, graph: Graph, cost: Cost, weights: Weights) -> None:
        self.graph, self.cost, self.weights = graph, cost, weights
        self._known: dict[Cluster, tuple[int, ...]] = {}
        self._numbers: int | None = None

    def __call__(self, cluster: Cluster) -> tuple[int, ...]:
        """What a cluster contributes, one number per level; of a barrier, none.

        Raises `AccelValueError` if a cost function fails, or has another number of levels than before.
        """
        if is_barrier(self.graph, cluster):
            return ()
        if isinstance(self.cost, CostModel):
            return cluster_price(self.graph, cluster, self.cost.levels, self.weights)
        if cluster not in self._known:
            found = call(self.cost, self.graph, cluster, self.weights)
            self._numbers = len(found) if self._numbers is None else self._numbers
            if len(found) != self._numbers:
                before = f"{self._numbers} number{'s' * (self._numbers != 1)} for one cluster"
                message = f"The cost function {name_of(self.cost)} returned {before} and {len(found)} for another."
                raise AccelValueError(message, here(), hint=ANSWER)
            self._known[cluster] = found
        return self._known[cluster]

    @property
    def constant(self) -> tuple[int, ...]:
        """What is added to what the clusters cost, whatever they are; of a function, nothing."""
        levels = self.cost.levels if isinstance(self.cost, CostModel) else ()
        return tuple(constant_price(self.graph, level) for level in levels)

    def sum(self, clusters: Iterable[Cluster]) -> tuple[int, ...]:
        """What some clusters contribute together; () if all are barriers."""
        return added(*filter(None, map(self, clusters)))

    def total(self, clusters: Iterable[Cluster]) -> tuple[int, ...]:
        """What a whole clustering costs: (0,) if there is nothing to count."""
        parts = filter(None, (self.constant, self.sum(clusters)))
        return added(*parts) or (0,)


def price(graph: Graph, clustering: Clustering, cost: Cost, weights: Weights) -> tuple[int, ...]:
    """The cost of a clustering, one number per level."""
    return Prices(graph, cost, weights).total(clustering.clusters)
