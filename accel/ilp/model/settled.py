"""What a solution says, made into clusters: sets of operations, and copies of producers.

Everything is decided on a graph with its chains merged (`coarse.py`); copies there are copies of whole chains. `whole` goes
back to the original graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from accel.ilp.facts.coarse import Coarse, merge_chains
from accel.ilp.facts.floor import price_of
from accel.ilp.problem.clustering import BACKWARD, Cluster, Clustering, Order
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.problem.decode import in_order, split
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Duplicate
from accel.ilp.recompute.copying import Choices, Pair, choices, moved
from accel.ilp.recompute.substitute import Substituted, substitute
from accel.labelled.array import Label
from accel.labelled.passes.duplicate import Copied


@dataclass(frozen=True, slots=True)
class Settled:
    """Sets of operations that share a nest, those that run backward where nobody in their set reads them, and copies."""

    sets: tuple[tuple[Label, ...], ...]
    backward: frozenset[Label] = frozenset()
    pairs: tuple[Pair, ...] = ()

    def __add__(self, other: Settled) -> Settled:
        return Settled(self.sets + other.sets, self.backward | other.backward, self.pairs + other.pairs)


def settled(clusters: Iterable[Cluster]) -> Settled:
    """What clusters without copies say."""
    found = tuple(clusters)
    pairs = [pair for cluster in found for pair in zip(cluster.labels, cluster.orders, strict=True)]
    backward = frozenset(label for label, order in pairs if order == BACKWARD)
    return Settled(tuple(cluster.labels for cluster in found), backward)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Clusters of the graph in which the copies stand."""

    changed: Substituted
    copied: tuple[Copied, ...]
    clusters: tuple[Cluster, ...]


def pieces(graph: Graph, answer: Settled) -> Pieces:
    """The clusters that an answer asks for, split where nothing is shared. Raises ValueError if there are no such clusters."""
    copied = tuple(Copied((maker,), (reader,)) for maker, reader in answer.pairs)
    changed = substitute(graph, copied)
    copies = changed.clones(copied)
    backward = frozenset(changed.label[label] for label in answer.backward if label in changed.label)
    clusters: list[Cluster] = []
    for labels in answer.sets:
        members = [changed.label[label] for label in labels if label in changed.label]
        members += [copy for label in members for copy in copies.get(label, ())]
        found = split(changed.graph, members, backward) if members else []
        if found is None:
            raise ValueError("it asks for two orders of one operation")
        clusters += found
    return Pieces(changed, copied, tuple(clusters))


def priced(
    graph: Graph, answer: Settled, found: Choices, levels: tuple[CostLevel, ...], weights: Weights
) -> tuple[int, ...]:
    """What the clusters of an answer cost together, with what copies read more by index. Raises ValueError like `pieces`."""
    parts = pieces(graph, answer)
    own = Weights(parts.changed.graph, weights.sizes)
    cost = price_of(parts.changed.graph, parts.clusters, levels, own)
    return tuple(map(sum, zip(cost, moved(graph, found, answer.pairs, levels, weights), strict=True)))


@dataclass(frozen=True, slots=True)
class Whole:
    """A clustering of `changed.graph`, which is the original graph with `copied`: itself, if nothing is."""

    clustering: Clustering
    copied: tuple[Copied, ...]
    changed: Substituted


def whole(graph: Graph, coarse: Coarse, answer: Settled) -> Whole | None:
    """An answer about all operations of `coarse`, in the original graph; None if its clusters stand in a circle.

    Readers in one cluster and order share one copy.
    """
    parts = pieces(coarse.graph, answer)
    old = {new: label for label, new in parts.changed.label.items()}
    maker = {
        copy: each.run[-1] for each, labels in zip(parts.copied, parts.changed.copies, strict=True) for copy in labels
    }
    shared: dict[tuple[Label, int, Order], list[Label]] = {}
    home: dict[Label, tuple[int, Order]] = {}
    for number, cluster in enumerate(parts.clusters):
        home |= {label: (number, order) for label, order in zip(cluster.labels, cluster.orders, strict=True)}
    copied: list[Copied] = []
    for each, labels in zip(parts.copied, parts.changed.copies, strict=True):
        (reader,) = each.readers
        members = [label for label in coarse.runs[reader] if _reads(graph, label, each.run[-1])]
        if labels:
            shared.setdefault((each.run[-1], *home[labels[0]]), []).extend(members)
        else:
            copied.append(Copied(coarse.runs[each.run[-1]], tuple(members)))
    places = list(shared)
    copied += [Copied(coarse.runs[label], tuple(sorted(shared[label, n, o]))) for label, n, o in places]
    changed = substitute(graph, copied)
    copies = dict(zip(places, changed.copies[len(copied) - len(places) :], strict=True))

    def original(order: Order) -> Order:
        return order if order.gather is None else Order(changed.label[old[order.gather]], False)

    clusters = []
    for number, cluster in enumerate(parts.clusters):
        orders: dict[Label, Order] = {}
        for label, order in zip(cluster.labels, cluster.orders, strict=True):
            if label in maker:
                members = list(copies[maker[label], number, order])
            else:
                members = [changed.label[member] for member in coarse.runs[old[label]]]
            orders |= dict.fromkeys(members, original(order))
        rising = tuple(sorted(orders))
        clusters.append(Cluster(rising, tuple(orders[label] for label in rising)))
    ordered = in_order(changed.graph, clusters)
    return None if ordered is None else Whole(ordered, tuple(copied), changed)


def loads(
    graph: Graph, copied: Iterable[Copied], duplicate: Duplicate, levels: tuple[CostLevel, ...], weights: Weights
) -> tuple[int, ...]:
    """What copies in the original graph read more by index. Raises ValueError if they may not be made."""
    coarse = merge_chains(graph, duplicate, levels)
    own = Weights(coarse.graph, weights.sizes)
    found = choices(coarse.graph, own)
    home = {member: last for last, run in coarse.runs.items() for member in run}
    pairs = {
        (each.run[-1], home[reader]): coarse.runs.get(each.run[-1]) == each.run
        for each in copied
        for reader in each.readers
    }
    if not all(pairs.values()) or not pairs.keys() <= found.reads.keys():
        raise ValueError("it asks for copies that may not be made")
    return moved(coarse.graph, found, pairs, levels, own)


def _reads(graph: Graph, label: Label, maker: Label) -> bool:
    return any(edge.array.label == maker for edge in graph.inputs[label])
