"""A second first answer for wide programs: every operation joins the earliest cluster that it may.

Where many operations read one array and wait for each other, that is what fewest passes over it take: pairs of clusters, of
which greedy merges the best, do not show it.
"""

from __future__ import annotations

from collections.abc import Iterable

from accel.ilp.facts.analysis import Separation
from accel.ilp.problem.clustering import Cluster
from accel.ilp.problem.graph import Graph
from accel.ilp.strategies.partition import Partition
from accel.labelled.array import Array, Label
from accel.labelled.operations import ORDERED
from accel.support.choices import Duplicate


def first_fit(graph: Graph, separation: Separation, duplicate: Duplicate) -> list[Cluster]:
    """Clusters of all operations and barriers, in no particular order: first with makers, then with other readers."""
    partition = Partition(graph, duplicate)
    users: dict[Array, dict[Label, None]] = {}
    members = {name: separation.bit[name] for name in partition.cluster}
    beyond = {name: separation.beyond[name] for name in partition.cluster}
    for node in graph.operations:
        read = [edge.array for edge in graph.inputs[node.label] if edge.role in ORDERED]
        makers = [partition.home[array.label] for array in read if array.label in partition.home]
        others = sorted({partition.home[user] for array in read for user in users.get(array, ())})
        for name in dict.fromkeys([*sorted(makers, reverse=True), *others]):
            if beyond[name] & members[node.label] or beyond[node.label] & members[name]:
                continue
            if _join(partition, name, node.label):
                members[name] |= members[node.label]
                beyond[name] |= beyond[node.label]
                break
        _note(users, read, partition.home[node.label])
    return list(partition.cluster.values())


def _note(users: dict[Array, dict[Label, None]], read: Iterable[Array], name: Label) -> None:
    for array in read:
        users.setdefault(array, {})[name] = None


def _join(partition: Partition, name: Label, label: Label) -> bool:
    """Whether an operation may join a cluster; then it does."""
    whole = partition.whole((name, label))
    if whole is None or not partition.is_next_to(name, label):
        return False
    partition.merge((name, label), whole)
    return True
