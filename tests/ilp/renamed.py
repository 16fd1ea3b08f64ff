"""A graph under other names."""

from __future__ import annotations

from dataclasses import replace

from accel.ilp.problem.graph import Graph, Node
from accel.labelled.array import Array, Extent, SizeVariable


def renamed(graph: Graph, step: int = 3, first: int = 7, shift: int = 5) -> Graph:
    """The graph with other labels, in the same order, and other size variables, in another."""
    labels = sorted({array.label for array in graph.readers} | {node.label for node in graph.nodes})
    to = {label: first + step * place for place, label in enumerate(labels)}

    def extent(old: Extent) -> Extent:
        return old if old.variable is None else replace(old, variable=SizeVariable(1000 - shift * old.variable.number))

    def array(old: Array) -> Array:
        return replace(old, label=to[old.label], shape=tuple(map(extent, old.shape)))

    def node(old: Node) -> Node:
        size = None if old.filtered is None else extent(Extent(old.filtered, 0)).variable
        arrays, visited = tuple(map(array, old.arrays)), tuple(map(extent, old.iteration))
        return replace(old, label=to[old.label], arrays=arrays, iteration=visited, filtered=size)

    return Graph(
        tuple(map(node, graph.nodes)),
        tuple([replace(edge, array=array(edge.array), consumer=to[edge.consumer]) for edge in graph.edges]),
        tuple([(to[a], to[b]) for a, b in graph.before]),
        frozenset(map(array, graph.results)),
    )
