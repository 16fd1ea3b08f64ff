"""Operations that slow each other down in one loop: what sharing it costs beyond the bytes that move.

In: the operations of a graph. Out: for pairs of them, how many bytes could be moved in the time that they lose to each other.
Tables that are read at random share the caches, and a random read of what is read at random waits for it. A scan of what a
filter leaves, unless it is exact, runs element by element, and so does whatever shares its loop. A fold of that, unless it is
exact, stores it a second time, in blocks of the order. A product of matrices runs in tiles, but not row by row, as a fold of
its rows would have it: schedules run both some rows at a time. Windows are no products: where their functions of indices load
moves with every index, or with that which is folded next, as that of what they are multiplied with does. Figures:
docs/benchmarks/optimum.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from accel.ilp.problem.graph import Edge, Graph, Node
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.operations import Kind, Role

SMALL_TABLE = 1 << 18
"""Bytes of a table that stays in a core's own cache, whatever else is read."""

_NEAR = 16
"""How many of the random reads that follow one are compared with it: clusters have few, and programs may have thousands."""

_MUCH = 32
"""Bytes for each element: more than storing something and reading it again takes."""

_SOME = 6
"""Bytes for each element: more than reading again what is stored anyway, less than storing it for that."""


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


def interferences(
    graph: Graph, sizes: Mapping[SizeVariable, int], elements: Callable[[Shape], int]
) -> Iterator[tuple[tuple[Label, Label], int]]:
    """Pairs of operations that lose time in one loop, the lower label first, and how many bytes."""
    rules = (
        _random_reads(graph, sizes),
        _readers_of_what_is_kept(graph),
        _readers_of_products(graph),
        _readers_of_rows(graph),
    )
    for one, two, weight in chain.from_iterable(rules):
        if visited := min(elements(one.iteration), elements(two.iteration)):
            yield (min(one.label, two.label), max(one.label, two.label)), weight * visited


def _random_reads(graph: Graph, sizes: Mapping[SizeVariable, int]) -> Iterator[tuple[Node, Node, int]]:
    """Random reads of different tables that are large, or may be."""
    tables = {node: _tables(graph, node) for node in graph.operations if node.random}
    large = [node for node, arrays in tables.items() if not all(_is_small(array, sizes) for array in arrays)]
    for place, one in enumerate(large):
        for two in large[place + 1 : place + 1 + _NEAR]:
            if not tables[one] & tables[two]:
                yield one, two, _MUCH


def _readers_of_what_is_kept(graph: Graph) -> Iterator[tuple[Node, Node, int]]:
    """Filters, and scans and folds that are not exact of what they leave."""
    filters = {(Extent(node.filtered, 0),): node for node in graph.operations if node.filtered is not None}
    for reader in graph.operations:
        if reader.kind in _WEIGHTS and not reader.exact and reader.iteration in filters:
            yield filters[reader.iteration], reader, _WEIGHTS[reader.kind]


def _readers_of_products(graph: Graph) -> Iterator[tuple[Node, Node, int]]:
    """Folds of cubes that two arrays of fewer dimensions are repeated to, and what folds or scans what they make."""
    for product in graph.operations:
        if product.kind is Kind.FOLD and len(product.iteration) > 2 and _is_of_matrices(graph, product):
            for reader in _consumers(graph, product, frozenset(_WEIGHTS)):
                yield product, reader, _MUCH


def _readers_of_rows(graph: Graph) -> Iterator[tuple[Node, Node, int]]:
    """Folds of rows, and what takes one of their results after the other."""
    for fold in graph.operations:
        if fold.kind is Kind.FOLD and fold.arrays[0].shape:
            for reader in _consumers(graph, fold, _IN_TURN):
                yield fold, reader, _MUCH


def _is_of_matrices(graph: Graph, product: Node) -> bool:
    """Whether an operation reads two arrays with fewer dimensions than it visits, each element several times: those of gathers
    beyond maps, and matrices, or larger ones, of which functions of all indices read elements.

    Not so windows that move with all indices. Nor where windows are multiplied with what moves along the innermost dimension of
    the results as they do, and one dimension is folded: what is folded along that is a part of one sum, no row of products.
    """
    rank, innermost = len(product.iteration), len(product.arrays[0].shape) - 1
    gathered, read = 0, list[Edge]()
    for node in _producers(graph, product):
        if node.kind is Kind.GATHER and not node.random:
            gathered += graph.rank_of_sources(node.label) < rank
        if node.kind in {Kind.MAP, Kind.GENERATE}:
            indexed = [edge for edge in graph.inputs[node.label] if edge.role is Role.INDEX]
            read += [edge for edge in indexed if 1 < len(edge.array.shape) < rank and len(edge.moves) < rank]
    together = not gathered and innermost == rank - 2 and all(innermost in edge.moves for edge in read)
    return gathered + len({edge.array for edge in read}) > 1 and not (together and any(edge.slides for edge in read))


def _producers(graph: Graph, node: Node) -> Iterator[Node]:
    """What makes the elements that an operation reads: maps, and what stands beyond them."""
    pending, seen = [node.label], {node.label}
    while pending:
        for edge in graph.inputs[pending.pop()]:
            found = graph.node.get(edge.array.label)
            if found is not None and edge.role is Role.STREAM and found.label not in seen:
                seen.add(found.label)
                if found.kind is Kind.MAP:
                    pending.append(found.label)
                yield found


def _consumers(graph: Graph, node: Node, kinds: frozenset[Kind]) -> Iterator[Node]:
    """Operations of some kinds that read in order what an operation makes, or maps of that."""
    pending, seen = [node], {node.label}
    while pending:
        for array in pending.pop().arrays:
            for edge in graph.readers[array]:
                found = graph.node[edge.consumer]
                if edge.role is Role.STREAM and found.label not in seen:
                    seen.add(found.label)
                    if found.kind is Kind.MAP:
                        pending.append(found)
                    elif found.kind in kinds:
                        yield found


_WEIGHTS: Mapping[Kind, int] = {Kind.SCAN: _MUCH, Kind.FOLD: _SOME}

_IN_TURN = frozenset({Kind.SCAN, Kind.SCATTER, Kind.FILTER})
"""What needs one element after the other, as it is scheduled."""
