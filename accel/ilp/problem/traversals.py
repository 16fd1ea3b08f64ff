"""The order of every operation of a cluster: given the set, it follows from the readers [vB24 section 4.2]."""

from __future__ import annotations

from collections.abc import Collection, Container

from accel.ilp.problem.accesses import read_traversal
from accel.ilp.problem.clustering import BACKWARD, FORWARD, Cluster, Traversal, cluster_of
from accel.ilp.problem.graph import Graph
from accel.labelled.array import Label
from accel.labelled.operations import ORDERED, Kind, Role


def assign(graph: Graph, labels: Collection[Label], backward: Container[Label] | None = None) -> Cluster | None:
    """The cluster of `labels` with the orders that its readers ask for, or None if they ask for several.

    An operation that is not read inside runs backward if it is in `backward`; where that is not given, if there is a right
    scan in the cluster. What comes out need not be legal; no other orders could be, but for a forward cluster that might
    as well run backward.
    """
    within = frozenset(labels)
    if backward is None:
        scans = [label for label in within if graph.node[label].kind is Kind.SCAN and graph.node[label].backward]
        backward = within if scans else ()
    traversals: dict[Label, Traversal] = {}
    led = _led(graph, within) if graph.whole else {}
    for label in sorted(within, reverse=True):
        node = graph.node[label]
        wanted = led.get(label, set[Traversal]())
        for array in node.arrays:
            for edge in graph.readers[array]:
                if edge.consumer not in within:
                    continue
                if edge.role not in ORDERED:
                    return None
                if node.places(array):
                    continue  # whoever reads it is led
                wanted.add(read_traversal(graph, edge, traversals[edge.consumer]))
        if len(wanted) > 1:
            return None
        traversals[label] = wanted.pop() if wanted else BACKWARD if label in backward else FORWARD
    return cluster_of(traversals)


def _led(graph: Graph, within: frozenset[Label]) -> dict[Label, set[Traversal]]:
    """What fused streams connect with what is read and made in the order of scans of segments, which visits all."""
    found: dict[Label, set[Traversal]] = {}
    for whole in graph.whole:
        order, members = Traversal(whole, False), within.intersection(graph.ordered[whole])
        nodes = [graph.node[label] for label in members]
        placed = [array for node in nodes for array in node.arrays if node.places(array)]
        pending = [edge.consumer for array in placed for edge in graph.readers[array]]
        read = [edge for label in members for edge in graph.inputs[label] if edge.role is Role.SOURCE]
        pending += [edge.array.label for edge in read]
        while pending:
            label = pending.pop()
            if label not in within or label in members or order in found.setdefault(label, set()):
                continue
            found[label].add(order)
            if graph.node[label].kind is Kind.SEGMENTS:
                continue
            streams = [edge for array in graph.node[label].arrays for edge in graph.readers[array]]
            pending += [edge.consumer for edge in streams if edge.role is Role.STREAM]
            makers = [edge.array for edge in graph.inputs[label] if edge.role is Role.STREAM]
            pending += [
                array.label for array in makers if array.label in within and not graph.node[array.label].places(array)
            ]
    return {label: orders for label, orders in found.items() if orders}
