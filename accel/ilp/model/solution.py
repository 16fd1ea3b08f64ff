"""What a solution says, made into clusters: sets of operations, and what is recomputed.

Everything is decided on a graph with its chains merged (`contraction.py`), which are recomputed whole.
`expanded` goes back to the original graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from accel.ilp.facts.contraction import Contraction, merge_chains
from accel.ilp.facts.lower_bound import price_of
from accel.ilp.problem.clustering import BACKWARD, Cluster, Clustering, Traversal
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.problem.decode import in_order, split
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Duplicate
from accel.ilp.recompute.candidates import Candidates, Pair, candidates
from accel.ilp.recompute.graph import RecomputedGraph, recompute
from accel.ilp.recompute.traffic import moved
from accel.labelled.array import Label
from accel.labelled.passes.recompute import Recomputed


@dataclass(frozen=True, slots=True)
class Solution:
    """Sets of operations that share a nest, those that run backward where they are not read in their set, who recomputes."""

    sets: tuple[tuple[Label, ...], ...]
    backward: frozenset[Label] = frozenset()
    pairs: tuple[Pair, ...] = ()

    def __add__(self, other: Solution) -> Solution:
        return Solution(self.sets + other.sets, self.backward | other.backward, self.pairs + other.pairs)


def solution_of(clusters: Iterable[Cluster]) -> Solution:
    """What clusters without recomputations say."""
    found = tuple(clusters)
    pairs = [pair for cluster in found for pair in zip(cluster.labels, cluster.traversals, strict=True)]
    backward = frozenset(label for label, traversal in pairs if traversal == BACKWARD)
    return Solution(tuple(cluster.labels for cluster in found), backward)


@dataclass(frozen=True, slots=True)
class Placed:
    """Clusters of the graph in which the recomputations stand."""

    changed: RecomputedGraph
    recomputed: tuple[Recomputed, ...]
    clusters: tuple[Cluster, ...]


def placed(graph: Graph, answer: Solution) -> Placed:
    """The clusters that an answer asks for, split where nothing is shared. Raises ValueError if there are no such clusters."""
    recomputed = tuple(Recomputed((maker,), (reader,)) for maker, reader in answer.pairs)
    changed = recompute(graph, recomputed)
    made = changed.of_readers(recomputed)
    backward = frozenset(changed.label[label] for label in answer.backward if label in changed.label)
    clusters: list[Cluster] = []
    for labels in answer.sets:
        members = [changed.label[label] for label in labels if label in changed.label]
        members += [own for label in members for own in made.get(label, ())]
        found = split(changed.graph, members, backward) if members else []
        if found is None:
            raise ValueError("it asks for two orders of one operation")
        clusters += found
    return Placed(changed, recomputed, tuple(clusters))


def priced(
    graph: Graph, answer: Solution, found: Candidates, levels: tuple[CostLevel, ...], weights: Weights
) -> tuple[int, ...]:
    """What the clusters of an answer cost together, and what is read more by index. Raises ValueError like `placed`."""
    parts = placed(graph, answer)
    own = Weights(parts.changed.graph, weights.sizes)
    cost = price_of(parts.changed.graph, parts.clusters, levels, own)
    return tuple(map(sum, zip(cost, moved(found, answer.pairs, levels, weights), strict=True)))


@dataclass(frozen=True, slots=True)
class Expanded:
    """A clustering of `changed.graph`, which is the original graph with `recomputed`: itself, if nothing is."""

    clustering: Clustering
    recomputed: tuple[Recomputed, ...]
    changed: RecomputedGraph


def expanded(graph: Graph, contraction: Contraction, answer: Solution) -> Expanded | None:
    """An answer about all operations of a contraction, in the original graph; None if its clusters stand in a circle.

    Readers in one cluster and order share what they recompute.
    """
    parts = placed(contraction.graph, answer)
    old = {new: label for label, new in parts.changed.label.items()}
    maker = {
        own: each.run[-1] for each, labels in zip(parts.recomputed, parts.changed.made, strict=True) for own in labels
    }
    shared: dict[tuple[Label, int, Traversal], list[Label]] = {}
    home: dict[Label, tuple[int, Traversal]] = {}
    for number, cluster in enumerate(parts.clusters):
        home |= {
            label: (number, traversal) for label, traversal in zip(cluster.labels, cluster.traversals, strict=True)
        }
    recomputed: list[Recomputed] = []
    for each, labels in zip(parts.recomputed, parts.changed.made, strict=True):
        (reader,) = each.readers
        members = [label for label in contraction.runs[reader] if _reads(graph, label, each.run[-1])]
        if labels:
            shared.setdefault((each.run[-1], *home[labels[0]]), []).extend(members)
        else:
            recomputed.append(Recomputed(contraction.runs[each.run[-1]], tuple(members)))
    places = list(shared)
    recomputed += [Recomputed(contraction.runs[label], tuple(sorted(shared[label, n, o]))) for label, n, o in places]
    changed = recompute(graph, recomputed)
    made = dict(zip(places, changed.made[len(recomputed) - len(places) :], strict=True))

    def original(traversal: Traversal) -> Traversal:
        return traversal if traversal.gather is None else Traversal(changed.label[old[traversal.gather]], False)

    clusters = []
    for number, cluster in enumerate(parts.clusters):
        traversals: dict[Label, Traversal] = {}
        for label, traversal in zip(cluster.labels, cluster.traversals, strict=True):
            if label in maker:
                members = list(made[maker[label], number, traversal])
            else:
                members = [changed.label[member] for member in contraction.runs[old[label]]]
            traversals |= dict.fromkeys(members, original(traversal))
        rising = tuple(sorted(traversals))
        clusters.append(Cluster(rising, tuple(traversals[label] for label in rising)))
    ordered = in_order(changed.graph, clusters)
    return None if ordered is None else Expanded(ordered, tuple(recomputed), changed)


def loads(
    graph: Graph,
    recomputed: Iterable[Recomputed],
    duplicate: Duplicate,
    levels: tuple[CostLevel, ...],
    weights: Weights,
) -> tuple[int, ...]:
    """What recomputations in the original graph read more by index. Raises ValueError if they may not be made."""
    contraction = merge_chains(graph, duplicate, levels)
    own = Weights(contraction.graph, weights.sizes)
    found = candidates(contraction.graph, own)
    home = {member: last for last, run in contraction.runs.items() for member in run}
    pairs = {
        (each.run[-1], home[reader]): contraction.runs.get(each.run[-1]) == each.run
        for each in recomputed
        for reader in each.readers
    }
    if not all(pairs.values()) or not pairs.keys() <= found.reads.keys():
        raise ValueError("it asks for recomputations that may not be made")
    return moved(found, pairs, levels, own)


def _reads(graph: Graph, label: Label, maker: Label) -> bool:
    return any(edge.array.label == maker for edge in graph.inputs[label])
