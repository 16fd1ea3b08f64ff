"""What a solution says, made into clusters: sets of operations, and what is recomputed.

Everything is decided on a graph with its chains merged (`contraction.py`), which are recomputed whole.
`expanded` goes back to the original graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from accel.ilp.facts.contraction import Contraction, merge_chains
from accel.ilp.facts.lower_bound import price_of
from accel.ilp.problem.clustering import BACKWARD, Cluster, Traversal
from accel.ilp.problem.cost import CostLevel, Weights, added
from accel.ilp.problem.decode import split
from accel.ilp.problem.graph import Graph
from accel.ilp.recompute.candidates import Candidates, Pair, candidates
from accel.ilp.recompute.graph import RecomputedGraph, recompute
from accel.ilp.recompute.traffic import moved
from accel.labelled.array import Label
from accel.labelled.passes.recompute import Recomputed
from accel.support.choices import Duplicate
from accel.support.dataclass import dataclass


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
    backward = [label for cluster in found for label, order in cluster.members.items() if order == BACKWARD]
    return Solution(tuple(cluster.labels for cluster in found), frozenset(backward))


@dataclass(frozen=True, slots=True)
class Placed:
    """Clusters of the graph in which the recomputations stand."""

    changed: RecomputedGraph
    clusters: tuple[Cluster, ...]


def placed(graph: Graph, answer: Solution) -> Placed:
    """The clusters that an answer asks for, split where nothing is shared. Raises ValueError if there are no such clusters."""
    changed = recompute(graph, [Recomputed((maker,), (reader,)) for maker, reader in answer.pairs])
    backward = frozenset(map(changed.new, answer.backward))
    clusters: list[Cluster] = []
    for labels in answer.sets:
        members = changed.whole(map(changed.new, labels))
        found = split(changed.graph, members, backward) if members else []
        if found is None:
            raise ValueError("it asks for two orders of one operation")
        clusters += found
    return Placed(changed, tuple(clusters))


def priced(
    graph: Graph, answer: Solution, found: Candidates, levels: tuple[CostLevel, ...], weights: Weights
) -> tuple[int, ...]:
    """What the clusters of an answer cost together, and what is read more by index. Raises ValueError like `placed`."""
    parts = placed(graph, answer)
    own = Weights(parts.changed.graph, weights.sizes)
    cost = price_of(parts.changed.graph, parts.clusters, levels, own)
    return added(cost, moved(found, answer.pairs, levels, weights))


def expanded(graph: Graph, contraction: Contraction, answer: Solution) -> Placed:
    """The clusters of an answer about all operations of a contraction, in the original graph.

    Readers in one cluster and order share what they recompute.
    """
    parts = placed(contraction.graph, answer)
    home = {label: (at, order) for at, cluster in enumerate(parts.clusters) for label, order in cluster.members.items()}
    readers: dict[tuple[Label, Label | tuple[int, Traversal]], list[Label]] = {}
    for each, made in zip(parts.changed.recomputed, parts.changed.made, strict=True):
        (maker,), (reader,) = each.run, each.readers
        members = [label for label in contraction.runs[reader] if _reads(graph, label, maker)]
        readers.setdefault((maker, home[made[0]] if made else reader), []).extend(members)
    recomputed = [Recomputed(contraction.runs[maker], tuple(sorted(them))) for (maker, _), them in readers.items()]
    changed = recompute(graph, recomputed)
    run_of = dict(zip(readers, changed.made, strict=True))
    runs = {parts.changed.new(label): tuple(map(changed.new, run)) for label, run in contraction.runs.items()}
    for each, made in zip(parts.changed.recomputed, parts.changed.made, strict=True):
        runs |= {own: run_of[each.run[-1], home[own]] for own in made}
    to = Contraction(changed.graph, runs)
    return Placed(changed, tuple(map(to.refine, parts.clusters)))


def loads(
    graph: Graph,
    recomputed: Sequence[Recomputed],
    duplicate: Duplicate,
    levels: tuple[CostLevel, ...],
    weights: Weights,
) -> tuple[int, ...]:
    """What recomputations in the original graph read more by index. Raises ValueError if they may not be made."""
    contraction = merge_chains(graph, duplicate, levels)
    own = Weights(contraction.graph, weights.sizes)
    found = candidates(contraction.graph, own, duplicate)
    home = {member: last for last, run in contraction.runs.items() for member in run}
    pairs = {
        (each.run[-1], home[reader]): contraction.runs.get(each.run[-1]) == each.run
        for each in recomputed
        for reader in each.readers
    }
    named = all(each.run and each.readers for each in recomputed)
    if not named or not all(pairs.values()) or not pairs.keys() <= found.reads.keys():
        raise ValueError("it asks for recomputations that may not be made")
    return moved(found, pairs, levels, own)


def _reads(graph: Graph, label: Label, maker: Label) -> bool:
    return any(edge.array.label == maker for edge in graph.inputs[label])
