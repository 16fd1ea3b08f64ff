"""Which arrays clusters read, store and share: what prices are made of. Shares no code with the ILP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from accel.ilp.problem.clustering import Traversal, own_order
from accel.ilp.problem.graph import Edge, Graph
from accel.labelled.array import Array, Label
from accel.labelled.operations import ORDERED, Kind, Role


def read_traversal(graph: Graph, edge: Edge, traversal: Traversal) -> Traversal:
    """In which order a consumer that runs in `traversal` reads over `edge`."""
    return own_order(graph, edge.consumer) if edge.role is Role.SOURCE else traversal


def stored(graph: Graph, labels: frozenset[Label]) -> Iterator[Array]:
    """The arrays that a cluster writes: results, and what is read outside of it."""
    for label in sorted(labels):
        for array in graph.node[label].arrays:
            if any(edge.consumer not in labels for edge in graph.readers[array]) or array in graph.results:
                yield array


def reads(graph: Graph, traversals: Mapping[Label, Traversal]) -> dict[tuple[Array, Traversal], None]:
    """The distinct pairs (array, order) that a cluster reads from memory; indexed arrays and destinations apart."""
    found: dict[tuple[Array, Traversal], None] = {}
    for label, traversal in traversals.items():
        for edge in graph.inputs[label]:
            if edge.role in ORDERED and edge.array.label not in traversals:
                found[edge.array, read_traversal(graph, edge, traversal)] = None
    return found


def fused_accesses(graph: Graph, traversals: Mapping[Label, Traversal]) -> int:
    """Pairs of accesses to one array by different operations of a cluster, in one order [Kri Def. 20]."""
    accesses: dict[tuple[Array, Traversal], int] = {}
    for label, traversal in traversals.items():
        node = graph.node[label]
        for array in node.arrays:
            made = own_order(graph, label) if node.places(array) else traversal
            accesses[array, made] = accesses.get((array, made), 0) + 1
        for edge in graph.inputs[label]:
            if edge.role in ORDERED:
                key = edge.array, read_traversal(graph, edge, traversal)
                accesses[key] = accesses.get(key, 0) + 1
    return sum(count * (count - 1) // 2 for count in accesses.values())


def all_accesses(graph: Graph) -> int:
    """Pairs of accesses to one array by different operations, in the whole graph."""
    total = 0
    for array, edges in graph.readers.items():
        labels = [edge.consumer for edge in edges if edge.role in ORDERED]
        maker = graph.node.get(array.label)
        if maker is not None and maker.kind is not Kind.BARRIER:
            labels.append(array.label)
        total += sum(first != second for first, second in combinations(labels, 2))
    return total


def data_arcs(graph: Graph) -> frozenset[tuple[Label, Label]]:
    """Pairs of operations of which the second reads, in some order, what the first makes."""
    operations = {node.label for node in graph.operations}
    return frozenset(
        (edge.array.label, edge.consumer)
        for edge in graph.edges
        if edge.array.label in operations and edge.consumer in operations and edge.role in ORDERED
    )


def fused_arcs(graph: Graph, labels: frozenset[Label]) -> int:
    """Pairs of operations of a cluster of which the second reads what the first makes."""
    return len({(e.array.label, label) for label in labels for e in graph.inputs[label] if e.array.label in labels})
