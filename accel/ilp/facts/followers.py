"""Who may run in the order of a scan of segments, in which all elements are visited: docs/ilp.md, D5.

The model's side. Such an order is reached over fused streams only, from what the scan makes and from what it reads; in one
cluster all whom these connect have it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from accel.ilp.legality.rules import may_follow
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Label
from accel.labelled.operations import Role

_Arc = tuple[Label, Label]


def followers(graph: Graph, segments: Label, fusible: Collection[_Arc], among: Collection[Label]) -> frozenset[Label]:
    """Those of some operations that fusible arcs connect with a scan of segments so that they might run in its order."""
    found: set[Label] = set()
    pending = [segments]
    while pending:
        fresh = {
            label
            for label in _neighbours(graph, pending.pop(), segments, fusible)
            if label in among and label not in found and may_follow(graph, graph.node[label], segments)
        }
        found |= fresh
        pending += fresh
    return frozenset(found)


def _neighbours(graph: Graph, label: Label, segments: Label, fusible: Collection[_Arc]) -> Iterator[Label]:
    """Who reads in order what an operation makes in that order, and who makes what it reads in it."""
    node, reading = graph.node[label], Role.SOURCE if label == segments else Role.STREAM
    for array in node.arrays:
        if label != segments or node.places(array):
            yield from (
                edge.consumer
                for edge in graph.readers[array]
                if edge.role is Role.STREAM and (label, edge.consumer) in fusible
            )
    for edge in graph.inputs[label]:
        if edge.role is reading and (edge.array.label, label) in fusible:
            yield edge.array.label


def adrift(graph: Graph, orders: Mapping[Label, Label | None]) -> tuple[Label, frozenset[Label]] | None:
    """Of a cluster, given the gather to which each operation is pushed: a scan of segments and operations that would run in its
    order, although fused arrays do not connect them with it; None if there are no such."""
    for segments in graph.whole:
        there = {label for label, gather in orders.items() if gather == segments}
        if not there:
            continue
        inside = there | ({segments} & orders.keys())
        arcs = {arc for arc in graph.arcs if arc[0] in inside and arc[1] in inside}
        lost = there - (followers(graph, segments, arcs, there) if segments in inside else frozenset())
        if lost:
            return segments, frozenset(lost)
    return None
