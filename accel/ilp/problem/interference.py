"""Operations that slow each other down in one loop: what sharing it costs beyond the bytes that move.

In: the operations of a graph. Out: for pairs of them, how many bytes could be moved in the time that they lose to each other.
Processors hide the latency of random reads behind each other, if little stands between them and one table has the cache; they
run folds that do not commute element by element, and whatever shares their loop. Figures: docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from types import MappingProxyType

from accel.ilp.problem.graph import Graph, Manner, Node
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.operations import Role

SMALL_TABLE = 1 << 18
"""Bytes of a table that stays in a core's own cache, whatever else is read."""

_MUCH = 32
"""Bytes for each element: more than storing something and reading it again takes."""

_LOST: Mapping[frozenset[Manner], int] = MappingProxyType(
    {
        frozenset({Manner.RANDOM}): _MUCH,
        frozenset({Manner.RANDOM, Manner.DEAR}): _MUCH,
        frozenset({Manner.RANDOM, Manner.SCAN}): _MUCH,
        frozenset({Manner.RANDOM, Manner.FILTER}): _MUCH,
        frozenset({Manner.RANDOM, Manner.FOLD}): 6,
        frozenset({Manner.RANDOM, Manner.SERIAL}): _MUCH,
        frozenset({Manner.SERIAL, Manner.DEAR}): _MUCH,
        frozenset({Manner.SERIAL, Manner.SCAN}): _MUCH,
        frozenset({Manner.SERIAL, Manner.FILTER}): _MUCH,
        frozenset({Manner.SERIAL, Manner.FOLD}): _MUCH,
        frozenset({Manner.SCAN, Manner.DEAR}): _MUCH,
    }
)
"""Bytes that are lost for each element that both visit."""


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


def _lost(graph: Graph, one: Node, two: Node) -> int:
    """Bytes that two operations lose for each element, if they share a loop."""
    assert one.manner is not None
    assert two.manner is not None
    if one.manner is two.manner is Manner.RANDOM and _tables(graph, one) & _tables(graph, two):
        return 0
    for scan, other in ((one, two), (two, one)):
        behind = other.filtered is not None and scan.iteration == (Extent(other.filtered, 0),)
        if scan.manner is Manner.SCAN and not scan.exact and behind:
            return _MUCH
    return _LOST.get(frozenset({one.manner, two.manner}), 0)


def interferences(
    graph: Graph, sizes: Mapping[SizeVariable, int], elements: Callable[[Shape], int]
) -> Iterator[tuple[tuple[Label, Label], int]]:
    """Pairs of operations that lose time in one loop, the lower label first, and how many bytes."""
    loud = [
        node
        for node in graph.operations
        if node.manner is not None
        and not (node.manner is Manner.RANDOM and all(_is_small(array, sizes) for array in _tables(graph, node)))
    ]
    for one, two in combinations(loud, 2):
        lost = _lost(graph, one, two)
        lost = lost and lost * min(elements(one.iteration), elements(two.iteration))
        if lost:
            yield (one.label, two.label), lost
