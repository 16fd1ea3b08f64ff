"""The dependency graph of a program: all that clustering knows [vB24 section 4.1].

A node is an operation, an edge is a use of one array; shapes are symbolic and compared for equality only. Built by
`build.py` from a labelled program, or by hand in tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.operations import GATHERS, Kind, Role
from accel.labelled.programs import shared_order
from accel.support.dataclass import dataclass
from accel.support.lazy import lazy
from accel.support.union_find import UnionFind


@dataclass(frozen=True, slots=True)
class Node:
    """One operation. `iteration`: the shape that it visits, when it is not pushed (docs/ilp.md, E1)."""

    label: Label
    kind: Kind
    arrays: tuple[Array, ...]
    iteration: Shape
    name: str
    backward: bool = False
    """A right scan, of rows or of segments."""
    exclusive: bool = False
    """A scan from n elements to n+1."""
    exact: bool = True
    """Of a fold: any order of combination gives the same bits."""
    shrinking: bool = False
    """Of a gather: known to have at most as many elements as each source."""
    operations: int = 1
    """Scalar operations per element, for what may be recomputed; an elementary function or a division counts as eight."""
    loops: bool = False
    """Its scalar function holds a loop."""
    filtered: SizeVariable | None = None
    """Of a filter: the size that it finds."""
    random: bool = False
    """A gather at indices that are data."""
    placed: int = 0
    """How many of its arrays, the first ones, are made in the order in which it reads its sources, and which visits all
    elements: those of scans of segments."""

    def places(self, array: Array) -> bool:
        """Whether an array of this operation is made in the order in which it reads its sources."""
        return array in self.arrays[: self.placed]


@dataclass(frozen=True, slots=True)
class Edge:
    """`consumer` reads `array`.

    sites: of an indexed array, how many loads of it the scalar functions hold. inside: all of them are known to be in bounds.
    passes: over the array that these loads are; neighbours are one (`labelled/scalars/neighbours.py`). moves: with which
    indices of a function of three or more the places of its loads do. slides: with several at once along some dimension.
    """

    array: Array
    consumer: Label
    role: Role
    sites: int = field(default=1, compare=False)
    inside: bool = field(default=True, compare=False)
    passes: int = field(default=1, compare=False)
    moves: tuple[int, ...] = field(default=(), compare=False)
    slides: bool = field(default=False, compare=False)


def together(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Each edge once, with the sites and passes of all of its kind."""
    found: dict[Edge, Edge] = {}
    for edge in edges:
        before = found.get(edge)
        if before is not None:
            sites, passes = edge.sites + before.sites, edge.passes + before.passes
            inside, slides = edge.inside and before.inside, edge.slides or before.slides
            moves = tuple(sorted({*edge.moves, *before.moves}))
            edge = replace(edge, sites=sites, inside=inside, passes=passes, moves=moves, slides=slides)
        found[edge] = edge
    return tuple(found.values())


@dataclass(frozen=True)
class Graph:
    """Nodes in rising order of labels, edges, and pairs (earlier, later) of operations that may not share a cluster.

    Arrays whose label is no node are made outside: by the caller, or outside of a sub-program.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    before: tuple[tuple[Label, Label], ...] = ()
    results: frozenset[Array] = field(default_factory=frozenset)

    @lazy
    def node(self) -> Mapping[Label, Node]:
        """The node of a label."""
        return {node.label: node for node in self.nodes}

    @lazy
    def operations(self) -> tuple[Node, ...]:
        """The nodes that are no barriers."""
        return tuple(node for node in self.nodes if node.kind is not Kind.BARRIER)

    @lazy
    def waited_for(self) -> frozenset[Label]:
        """What must be done before something else begins."""
        return frozenset(earlier for earlier, _ in self.before)

    @lazy
    def readers(self) -> Mapping[Array, tuple[Edge, ...]]:
        """The edges of every array that is made or read, in order of consumers."""
        found: dict[Array, list[Edge]] = {array: [] for node in self.nodes for array in node.arrays}
        for edge in self.edges:
            found.setdefault(edge.array, []).append(edge)
        return {array: tuple(edges) for array, edges in found.items()}

    @lazy
    def uses(self) -> Mapping[Array, int]:
        """How many operations read an array; that it is a result counts as one more."""
        return {
            array: len({edge.consumer for edge in edges}) + (array in self.results)
            for array, edges in self.readers.items()
        }

    @lazy
    def inputs(self) -> Mapping[Label, tuple[Edge, ...]]:
        """The edges into every node."""
        found: dict[Label, list[Edge]] = {node.label: [] for node in self.nodes}
        for edge in self.edges:
            found[edge.consumer].append(edge)
        return {label: tuple(edges) for label, edges in found.items()}

    @lazy
    def arcs(self) -> tuple[tuple[Label, Label], ...]:
        """All dependences between nodes, of edges and of `before`, each once, sorted."""
        data = {(edge.array.label, edge.consumer) for edge in self.edges if edge.array.label in self.node}
        return tuple(sorted(data | set(self.before)))

    @lazy
    def aligned(self) -> Mapping[Extent, Extent]:
        """A representative for each inner extent that exclusive scans connect with another one (E4)."""
        aligned = UnionFind[Extent]()
        connected: dict[Extent, None] = {}
        for node in self.nodes:
            if node.exclusive:
                source = next(edge.array for edge in self.inputs[node.label] if edge.role is Role.STREAM)
                aligned.unite(node.iteration[-1], source.shape[-1])
                connected |= dict.fromkeys((node.iteration[-1], source.shape[-1]))
        return {extent: aligned.find(extent) for extent in connected}

    @lazy
    def order(self) -> Mapping[Label, Label]:
        """Of gathers and segments the order in which each reads its sources (`accel/labelled/programs.py`)."""
        return shared_order((node.label, node.kind, node.iteration) for node in self.nodes if node.kind in GATHERS)

    @lazy
    def ordered(self) -> Mapping[Label, tuple[Label, ...]]:
        """Those that have each order, rising."""
        found: dict[Label, list[Label]] = {}
        for label, order in self.order.items():
            found.setdefault(order, []).append(label)
        return {order: tuple(labels) for order, labels in found.items()}

    @lazy
    def whole(self) -> tuple[Label, ...]:
        """The orders in which others may run, whoever reads what they make, since all elements are visited: those of scans of
        segments."""
        return tuple(dict.fromkeys(self.order[node.label] for node in self.nodes if node.placed))

    def shapes_in_order(self, order: Label) -> tuple[Shape, ...]:
        """The shape of what is gathered from in an order, and of what is made in it: from that an exclusive scan of segments
        makes more."""
        placing = [self.node[label] for label in self.ordered[order] if self.node[label].placed]
        return self._source(order), *[node.arrays[0].shape for node in placing]

    def rank_of_sources(self, gather: Label) -> int:
        """The rank of what gather `gather` gathers from."""
        return len(self._source(gather))

    def _source(self, gather: Label) -> Shape:
        return next(edge.array.shape for edge in self.inputs[gather] if edge.role is Role.SOURCE)

    def is_growing(self, gather: Label) -> bool:
        """Whether gather `gather` may be larger than its source: what is pushed to it may be done more than once."""
        node = self.node[gather]
        sources = [edge.array.shape for edge in self.inputs[gather] if edge.role is Role.SOURCE]
        return not node.shrinking and any(shape != node.iteration for shape in sources)
