"""Which producers may be recomputed where they are read (docs/ilp/recomputation.md).

A pair (maker, reader) says that reader computes what maker makes by itself, over all edges between the two.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum

from accel.ilp.legality.rules import CHEAP
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.problem.graph import Edge, Graph, Node
from accel.labelled.array import Array, Label, Shape
from accel.labelled.operations import ORDERED, Kind, Role
from accel.support.choices import Duplicate
from accel.support.dataclass import dataclass

Pair = tuple[Label, Label]

_LOAD = 3
"""How many operations more than one a load counts as, if it takes the place of none."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The pairs of `graph` that may be chosen.

    reads: for each pair the edges over which the reader reads the maker's inputs in its place. removable: the makers that are
    gone once all who read them do so by themselves.
    """

    graph: Graph
    reads: Mapping[Pair, tuple[Edge, ...]]
    removable: frozenset[Label]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs, sorted."""
        return tuple(sorted(self.reads))

    def inside(self, labels: Collection[Label]) -> Candidates:
        """What may be recomputed among some operations; a maker and its readers are among them together, or none is."""
        reads = {pair: edges for pair, edges in self.reads.items() if pair[0] in labels}
        return Candidates(self.graph, reads, frozenset(label for label in self.removable if label in labels))

    def optional(self) -> dict[Edge, tuple[Pair, ...]]:
        """The edges over which readers read only if one of these pairs is chosen."""
        own, found = frozenset(self.graph.edges), dict[Edge, tuple[Pair, ...]]()
        for pair in self.pairs:
            for edge in self.reads[pair]:
                if edge not in own:
                    found[edge] = (*found.get(edge, ()), pair)
        return found

    def extended(self) -> Graph:
        """The graph with all edges that there may be. A reader comes after what the maker comes after in any case."""
        if not self.reads:
            return self.graph
        graph = self.graph
        before = {
            (first, reader): None for maker, reader in self.pairs for first, second in graph.before if second == maker
        }
        return Graph(graph.nodes, (*graph.edges, *self.optional()), (*graph.before, *before), graph.results)

    def gone(self, chosen: Collection[Pair]) -> list[Label]:
        """The makers that are no longer read with the pairs `chosen`."""
        needed = {edge.array.label for pair in chosen for edge in self.reads[pair]}
        return [p for p in self.removable - needed if all(pair in chosen for pair in self.pairs if pair[0] == p)]


def nothing(graph: Graph) -> Candidates:
    """No pair of a graph."""
    return Candidates(graph, {}, frozenset())


class Obstacle(Enum):
    """What forbids a recomputation (docs/ilp/recomputation.md, C1 to C4)."""

    KIND = "it is no generate or map"
    HEAVY = f"it is a loop, or more than {CHEAP} operations"
    INPUTS = "what it reads need not be in memory, and is as large"
    FIRST = "it must be done before something, or is written over"
    READER = "the reader is no loop, or reads it in two orders"
    LARGER = "the reader is not known to be no larger"
    OFTEN = "the reader loads it in a loop, or too often"
    BOUNDS = "nothing else would check an index"
    NESTED = "the reader reads it for another recomputation, too"


def counts_traffic(levels: Iterable[CostLevel]) -> bool:
    """Whether a cost can tell what pays to recompute: reads and writes come first, and no level counts pairs of operations."""
    first, *_ = levels = tuple(levels)
    return first.reads and first.writes and not any(level.counts_pairs for level in levels)


def candidates(graph: Graph, weights: Weights, duplicate: Duplicate) -> Candidates:
    """The pairs of which the maker is cheap, and runs no more often than before.

    Nothing is recomputed of what a recomputation reads: a reader reads no maker that it may recompute by another one. With
    `duplicate="stencils"` only by readers that load by index.
    """
    reads: dict[Pair, tuple[Edge, ...]] = {}
    makers = list(_makers(graph))
    for label in reversed(makers):
        consumers = {edge.consumer: None for edge in outgoing(graph, label)}
        taken = {c for (_, c), edges in reads.items() if any(edge.array.label == label for edge in edges)}
        free = [c for c in consumers if c not in taken]
        fitting = {c: _roles(graph, label, c) for c in free if _no_reader(graph, label, c, weights) is None}
        if duplicate == "stencils":
            fitting = {c: roles for c, roles in fitting.items() if Role.INDEX in roles}
        is_result = not graph.results.isdisjoint(graph.node[label].arrays)
        loaded = any(Role.INDEX in roles for roles in fitting.values())
        if fitting and (len(consumers) > 1 or is_result or loaded):
            reads |= {(label, c): tuple(_in_its_place(graph, label, c, roles)) for c, roles in fitting.items()}
    removable = {
        label
        for label in makers
        if graph.results.isdisjoint(graph.node[label].arrays)
        and all((label, edge.consumer) in reads for edge in outgoing(graph, label))
    }
    return Candidates(graph, reads, frozenset(removable))


def outgoing(graph: Graph, label: Label) -> Iterator[Edge]:
    """The edges from what an operation makes."""
    for array in graph.node[label].arrays:
        yield from graph.readers[array]


def _makers(graph: Graph) -> Iterator[Label]:
    """The producers that may be recomputed."""
    found: set[Label] = set()
    for node in graph.operations:
        if _no_maker(graph, node, found) is None:
            found.add(node.label)
            yield node.label


def _no_maker(graph: Graph, node: Node, makers: Collection[Label]) -> Obstacle | None:
    """Why an operation is recomputed nowhere. `makers`: those before it that may be."""
    if node.kind not in (Kind.GENERATE, Kind.MAP):
        return Obstacle.KIND
    if node.loops or node.operations > CHEAP:
        return Obstacle.HEAVY
    overwritten = any(edge.role is Role.DESTINATION for edge in outgoing(graph, node.label))
    if overwritten or node.label in graph.waited_for:
        return Obstacle.FIRST
    streams = [edge.array for edge in graph.inputs[node.label] if edge.role is Role.STREAM]
    wanted = [array for array in streams if array.label not in makers and not _is_in_memory(graph, array)]
    saved = sum(array.element.bytes for array in node.arrays)
    return Obstacle.INPUTS if wanted and sum(array.element.bytes for array in wanted) >= saved else None


def _is_in_memory(graph: Graph, array: Array) -> bool:
    """Whether an array is stored in every clustering, unless all its readers recompute it."""
    maker = graph.node.get(array.label)
    if maker is None or maker.kind in (Kind.BARRIER, Kind.SCATTER) or array in graph.results:
        return True
    return any(e.role not in ORDERED or graph.node[e.consumer].kind is Kind.BARRIER for e in graph.readers[array])


def _roles(graph: Graph, label: Label, consumer: Label) -> frozenset[Role]:
    """How `consumer` reads what `label` makes."""
    return frozenset(edge.role for edge in outgoing(graph, label) if edge.consumer == consumer)


def work(graph: Graph, maker: Node) -> int:
    """The scalar operations that take the place of one load of what `maker` makes, but for one."""
    return maker.operations - 1 + sum(edge.role is Role.STREAM for edge in graph.inputs[maker.label])


def _places(graph: Graph, label: Label) -> int:
    """How many elements an operation loads for one of its own; what has no extents is not counted."""
    read = [edge for edge in graph.inputs[label] if edge.array.shape]
    return sum(edge.sites if edge.role is Role.INDEX else 1 for edge in read)


def _no_reader(graph: Graph, label: Label, consumer: Label, weights: Weights) -> Obstacle | None:
    """Why `consumer` may not compute by itself what `label`, which may be recomputed, makes."""
    maker, reader = graph.node[label], graph.node[consumer]
    edges = [edge for edge in outgoing(graph, label) if edge.consumer == consumer]
    roles = _roles(graph, label, consumer)
    if reader.kind is Kind.BARRIER or roles.issuperset(ORDERED):
        return Obstacle.READER
    gathers_less = Role.SOURCE in roles and not graph.is_growing(consumer)
    if roles != {Role.STREAM} and not gathers_less and not is_no_larger(reader.iteration, maker.iteration, weights):
        return Obstacle.LARGER
    loads = [edge for edge in edges if edge.role is Role.INDEX]
    more = work(graph, maker) + 1 + _LOAD * max(0, _places(graph, label) - 1)
    if loads and (reader.loops or more * sum(edge.sites for edge in loads) > CHEAP):
        return Obstacle.OFTEN
    checked = any(edge.role is Role.STREAM for edge in graph.inputs[label])
    return None if checked or all(edge.inside for edge in loads) else Obstacle.BOUNDS


class Obstacles:
    """What forbids the recomputations in a graph."""

    def __init__(self, graph: Graph, weights: Weights, duplicate: Duplicate) -> None:
        self._graph, self._weights = graph, weights
        self._candidates, self._makers = candidates(graph, weights, duplicate), frozenset(_makers(graph))

    def of(self, label: Label, consumer: Label) -> Obstacle | None:
        """Why `consumer` may not compute by itself what `label` makes; None if nothing speaks against it but the cost."""
        if (label, consumer) in self._candidates.reads:
            return None
        obstacle = _no_maker(self._graph, self._graph.node[label], self._makers)
        nested = any(label in (e.array.label for e in edges) for edges in self._candidates.reads.values())
        return (
            obstacle or _no_reader(self._graph, label, consumer, self._weights) or (Obstacle.NESTED if nested else None)
        )


def is_no_larger(one: Shape, other: Shape, weights: Weights) -> bool:
    """Whether `one` surely has no more elements than `other`: by the sizes that are planned for, or whatever sizes are.

    Then every extent of `one` is at most another one of `other`; an extent of `other` that is left counts as 1 or more.
    """
    variables = {extent.variable for extent in (*one, *other)} - {None}
    if variables <= weights.sizes.keys():
        return weights.elements(one) <= weights.elements(other)
    left = sorted(other, key=lambda extent: extent.offset)
    for extent in one:
        fitting = [e for e in left if e.variable == extent.variable and e.offset >= extent.offset]
        if fitting:
            left.remove(fitting[0])
        elif extent.variable is not None or extent.offset > 1:
            return False
    return all(extent.variable is not None or extent.offset > 0 for extent in left)


def _in_its_place(graph: Graph, label: Label, consumer: Label, roles: frozenset[Role]) -> Iterator[Edge]:
    """What a reader reads of the maker's inputs, and how: in the role in which it reads the maker; by index in any case."""
    found: dict[Edge, None] = {}
    for edge in graph.inputs[label]:
        for role in sorted(roles, key=lambda role: role.value):
            found[Edge(edge.array, consumer, role if edge.role is Role.STREAM else Role.INDEX)] = None
    yield from found
