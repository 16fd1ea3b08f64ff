"""Who may run in an order of scans of segments, in which all elements are visited: docs/ilp.md, D5.

The model's side. Such an order is reached over fused streams only, from what those that have it make and from what they read;
in one cluster all whom these connect have it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from accel.ilp.legality.rules import may_follow
from accel.ilp.problem.graph import Edge, Graph
from accel.labelled.array import Label
from accel.labelled.operations import Role

_Arc = tuple[Label, Label]


def followers(graph: Graph, order: Label, fusible: Collection[_Arc], among: Collection[Label]) -> frozenset[Label]:
    """Those of some operations that fusible arcs connect with folds and scans of segments so that they might run in their
    order."""
    found: set[Label] = set()
    pending = list(graph.ordered[order])
    while pending:
        fresh = {
            label
            for label in _neighbours(graph, pending.pop(), order, fusible)
            if label in among and label not in found and may_follow(graph, graph.node[label], order)
        }
        found |= fresh
        pending += fresh
    return frozenset(found)


def _neighbours(graph: Graph, label: Label, order: Label, fusible: Collection[_Arc]) -> Iterator[Label]:
    """Who reads in order what an operation makes in that order, and who makes what it reads in it."""
    has_it = label in graph.ordered[order]
    node, reading = graph.node[label], Role.SOURCE if has_it else Role.STREAM
    for array in node.arrays:
        if not has_it or node.places(array):
            yield from (
                edge.consumer
                for edge in graph.readers[array]
                if edge.role is Role.STREAM and (label, edge.consumer) in fusible
            )
    for edge in graph.inputs[label]:
        if edge.role is reading and (edge.array.label, label) in fusible:
            yield edge.array.label


def leading(graph: Graph, order: Label, lost: Collection[Label], arcs: Iterable[_Arc]) -> list[_Arc]:
    """The arcs between some operations and others over which they would be led to an order, sorted: not those to and from what
    a gather reads in an order of its own, or what makes an order's index."""
    members = graph.ordered[order]

    def leads(edge: Edge) -> bool:
        if edge.role is Role.SOURCE:
            return edge.consumer in members
        maker = graph.node.get(edge.array.label)
        placed = maker is not None and (maker.label not in members or maker.places(edge.array))
        return edge.role is Role.STREAM and edge.consumer not in members and placed

    border = {(u, v) for u, v in arcs if (u in lost) != (v in lost)}
    return sorted((u, v) for u, v in border if any(edge.array.label == u and leads(edge) for edge in graph.inputs[v]))


def adrift(graph: Graph, orders: Mapping[Label, Label | None]) -> tuple[Label, frozenset[Label]] | None:
    """Of a cluster, given the order of each operation that is pushed: an order of scans of segments and operations that would
    run in it, although fused arrays do not connect them with what has it; None if there are no such."""
    for order in graph.whole:
        there = {label for label, gather in orders.items() if gather == order}
        if not there:
            continue
        inside = there.union(orders.keys() & set(graph.ordered[order]))
        arcs = {arc for arc in graph.arcs if arc[0] in inside and arc[1] in inside}
        lost = there - followers(graph, order, arcs, there)
        if lost:
            return order, frozenset(lost)
    return None
