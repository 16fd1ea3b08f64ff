"""From sets of operations to a clustering: orders, pieces that really share something, dependency order."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Container, Iterable, Mapping

from accel.ilp.problem.accesses import read_traversal
from accel.ilp.problem.clustering import Cluster, Clustering, Traversal
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.traversals import assign
from accel.labelled.array import Array, Label
from accel.labelled.operations import ORDERED
from accel.support.union_find import UnionFind


def components(members: Iterable[Label], links: Iterable[tuple[Label, Label]]) -> list[list[Label]]:
    """Connected components, each rising, in order of their first members."""
    connected = UnionFind[Label]()
    for first, second in links:
        connected.unite(first, second)
    groups: dict[Label, list[Label]] = {}
    for label in sorted(members):
        groups.setdefault(connected.find(label), []).append(label)
    return list(groups.values())


def real_links(graph: Graph, traversals: Mapping[Label, Traversal]) -> list[tuple[Label, Label]]:
    """Pairs of a cluster that share an array: maker and reader, or two readers in one order."""
    links: list[tuple[Label, Label]] = []
    first: dict[tuple[Array, Traversal], Label] = {}
    for label, traversal in traversals.items():
        for edge in graph.inputs[label]:
            if edge.array.label in traversals:
                links.append((edge.array.label, label))
            elif edge.role in ORDERED:
                read = read_traversal(graph, edge, traversal)
                links.append((first.setdefault((edge.array, read), label), label))
    return links


def split(graph: Graph, labels: Collection[Label], backward: Container[Label]) -> list[Cluster] | None:
    """The clusters of a set of operations that the model puts together: its pieces that share something."""
    whole = assign(graph, labels, backward)
    if whole is None:
        return None
    links = real_links(graph, whole.members)
    clusters = [assign(graph, piece) for piece in components(whole.labels, links)]
    return [cluster for cluster in clusters if cluster is not None]


def in_order(graph: Graph, clusters: Iterable[Cluster]) -> Clustering | None:
    """The clusters in dependency order, that of lowest labels first; None if they depend on each other in a circle."""
    position = {label: cluster for cluster in clusters for label in cluster.labels}
    waiting: dict[Label, int] = {cluster.labels[0]: 0 for cluster in position.values()}
    followers: dict[Label, list[Cluster]] = {}
    for earlier, later in graph.arcs:
        first, second = position[earlier], position[later]
        if first is not second:
            waiting[second.labels[0]] += 1
            followers.setdefault(first.labels[0], []).append(second)
    ready = [label for label, count in waiting.items() if not count]
    heapq.heapify(ready)
    done: list[Cluster] = []
    while ready:
        cluster = position[heapq.heappop(ready)]
        done.append(cluster)
        for follower in followers.get(cluster.labels[0], ()):
            waiting[follower.labels[0]] -= 1
            if not waiting[follower.labels[0]]:
                heapq.heappush(ready, follower.labels[0])
    return Clustering(tuple(done)) if len(done) == len(waiting) else None


def clustering(
    graph: Graph, sets: Iterable[Collection[Label]], backward: Container[Label] = frozenset()
) -> Clustering | None:
    """The clustering of sets of operations; what is in no set is a cluster of one. None if it cannot be one.

    `backward`: the operations that run backward where what they make is not read in their set.
    """
    clusters: list[Cluster] = []
    placed: set[Label] = set()
    for labels in sets:
        pieces = split(graph, labels, backward)
        if pieces is None:
            return None
        clusters += pieces
        placed.update(labels)
    for node in graph.nodes:
        if node.label not in placed:
            alone = assign(graph, (node.label,))
            assert alone is not None
            clusters.append(alone)
    return in_order(graph, clusters)
