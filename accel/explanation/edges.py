"""Why two operations, one reading what the other makes, do not share a loop.

In: a dependency graph, a clustering, the rule about repeated work. Out: a reason in words. Either no rule allows them in
one loop, or sharing one would force other operations apart, or it would cost more.
"""

from __future__ import annotations

from accel.ilp.checker import cluster_refusal
from accel.ilp.clustering import Cluster, Clustering
from accel.ilp.decode import in_order
from accel.ilp.graph import ORDERED, Edge, Graph, Kind
from accel.ilp.options import Duplicate
from accel.ilp.orders import assign
from accel.labelled.nodes import Label


def cluster_of(clustering: Clustering) -> dict[Label, Cluster]:
    """The cluster of every label."""
    return {label: cluster for cluster in clustering.clusters for label in cluster.labels}


def why_not(graph: Graph, clustering: Clustering, edge: Edge, strategy: str, duplicate: Duplicate) -> str:
    """Why the maker of the edge's array and its consumer are in different loops."""
    maker, reader = graph.node[edge.array.label], graph.node[edge.consumer]
    for node in (maker, reader):
        if node.kind is Kind.BARRIER:
            return f"{node.name} is no loop"
    if edge.role not in ORDERED:
        return "it must be complete first"
    pair = assign(graph, (maker.label, reader.label))
    alone = "their orders differ" if pair is None else cluster_refusal(graph, pair, duplicate)
    if alone is not None:
        return alone
    if strategy == "none":
        return "nothing is fused by the strategy none"
    return _together(graph, clustering, maker.label, reader.label, duplicate)


def _together(graph: Graph, clustering: Clustering, maker: Label, reader: Label, duplicate: Duplicate) -> str:
    """The two alone could share a loop: what their clusters say."""
    clusters = cluster_of(clustering)
    first, second = clusters[maker], clusters[reader]
    for label in second.labels:
        for edge in graph.inputs[label]:
            if edge.array.label in first.labels and edge.role not in ORDERED:
                needs = f"%{label} ({graph.node[label].name}) needs %{edge.array.label} ({graph.node[edge.array.label].name})"
                return f"their loops cannot become one: {needs} complete"
    whole = assign(graph, first.labels + second.labels)
    if whole is None:
        return "their loops run in different orders"
    refusal = cluster_refusal(graph, whole, duplicate)
    if refusal is not None:
        return f"their loops cannot become one: {refusal}"
    others = [cluster for cluster in clustering.clusters if cluster not in (first, second)]
    if in_order(graph, [*others, whole]) is None:
        return "another loop must run between theirs"
    return "it would not cost less"
