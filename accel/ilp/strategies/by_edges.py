"""The strategies `greedy_top_down` and `greedy_bottom_up` [vB24 section 5].

Both pick edges one by one and fuse what they join, if that is legal: from the top of the graph, or from its bottom. They look
at no cost, but leave nothing that could still be fused: edges that could not be are picked again until none can. An edge
is fused with all that stands between its ends, as every solution with it has to. Reading an array together counts as an edge
between the readers; such edges come after the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ilp.problem.graph import Graph
from accel.ilp.strategies.found import Found
from accel.ilp.strategies.partition import Partition, data_pairs, reader_pairs
from accel.labelled.array import Label
from accel.support.choices import Duplicate

_LARGE = 256
"""In graphs with more operations a cluster grows once in a round of all edges, else judging it would take quadratic time."""


def greedy_top_down(graph: Graph, duplicate: Duplicate) -> Found:
    """Edges of the first makers first; of those, the ones to the first readers."""
    return _fuse(graph, duplicate, [*data_pairs(graph), *reader_pairs(graph)])


def greedy_bottom_up(graph: Graph, duplicate: Duplicate) -> Found:
    """Edges of the last readers first; of those, the ones from the last makers."""
    pairs = [
        sorted(edges, key=lambda edge: edge[::-1], reverse=True) for edges in (data_pairs(graph), reader_pairs(graph))
    ]
    return _fuse(graph, duplicate, [*pairs[0], *pairs[1]])


def _fuse(graph: Graph, duplicate: Duplicate, edges: Sequence[tuple[Label, Label]]) -> Found:
    """Fuse edges in this order, round after round, until none can be."""
    partition = Partition(graph, duplicate)
    once = len(graph.operations) > _LARGE
    refused: set[frozenset[Label]] = set()
    merged = True
    while merged:
        merged = False
        grown: set[Label] = set()
        for one, two in edges:
            ends = {partition.home[one], partition.home[two]}
            if len(ends) < 2 or not grown.isdisjoint(ends):
                continue
            names = _with_between(partition, *sorted(ends))
            if names is None or not grown.isdisjoint(names):
                continue
            labels = frozenset(label for name in names for label in partition.cluster[name].labels)
            whole = None if labels in refused else partition.whole(names)
            if whole is None:
                refused.add(labels)
                continue
            kept = partition.merge(names, whole)
            grown |= {kept} if once else set()
            merged = True
    return Found(tuple(partition.cluster.values()))


def _with_between(partition: Partition, first: Label, second: Label) -> list[Label] | None:
    """Two clusters and what stands between them."""
    between = partition.between(first, second)
    return None if between is None else sorted({first, second} | between)
