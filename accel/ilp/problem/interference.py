"""Operations that slow each other down in one loop: what sharing it costs beyond the bytes that move.

In: the operations of a graph. Out: for pairs of them, how many bytes could be moved in the time that they lose to each other.
Tables that are read at random share the caches, and a random read of what is read at random waits for it. A scan of what a
filter leaves, unless it is exact, runs element by element, and so does whatever shares its loop. Figures: docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from accel.ilp.problem.graph import Graph, Node
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.operations import Kind, Role

SMALL_TABLE = 1 << 18
"""Bytes of a table that stays in a core's own cache, whatever else is read."""

_MUCH = 32
"""Bytes for each element: more than storing something and reading it again takes."""


def _tables(graph: Graph, node: Node) -> frozenset[Array]:
    return frozenset(edge.array for edge in graph.inputs[node.label] if edge.role is Role.SOURCE)


def _is_small(array: Array, sizes: Mapping[SizeVariable, int]) -> bool:
    """Whether an array is known to stay in a core's own cache."""
    count = array.element.bytes
    for extent in array.shape:
        if extent.variable is not None and extent.variable not in sizes:
            return False
        count *= extent.offset + (0 if extent.variable is None else sizes[extent.variable])
    return count <= SMALL_TABLE


def _disturb(graph: Graph, one: Node, two: Node) -> bool:
    """Whether two operations lose time if they share a loop."""
    if one.random and two.random:
        return not _tables(graph, one) & _tables(graph, two)
    return any(
        scan.kind is Kind.SCAN
        and not scan.exact
        and kept.filtered is not None
        and scan.iteration == (Extent(kept.filtered, 0),)
        for scan, kept in ((one, two), (two, one))
    )


def interferences(
    graph: Graph, sizes: Mapping[SizeVariable, int], elements: Callable[[Shape], int]
) -> Iterator[tuple[tuple[Label, Label], int]]:
    """Pairs of operations that lose time in one loop, the lower label first, and how many bytes."""
    some = [
        node
        for node in graph.operations
        if node.kind in (Kind.SCAN, Kind.FILTER)
        or (node.random and not all(_is_small(array, sizes) for array in _tables(graph, node)))
    ]
    for one, two in combinations(some, 2):
        if _disturb(graph, one, two) and (visited := min(elements(one.iteration), elements(two.iteration))):
            yield (one.label, two.label), _MUCH * visited
