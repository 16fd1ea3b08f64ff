"""From a drawing to the planner's graph, by the rules by which accel itself would build it (docs/benchmarks/clustering.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from accel.ast.tree.types import F32
from accel.ilp.problem.graph import Edge, Graph, Node
from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.operations import Kind, Role
from benchmarks.fusion_drawing import Drawing, DrawingError, Form, How, Item, Read, Size, found_sizes, in_order


class _Assembly:
    """A graph under construction."""

    def __init__(self, drawing: Drawing) -> None:
        self.makers = found_sizes(drawing)
        self.items = in_order(drawing)
        self.results = drawing.results
        self.position = {item.name: number for number, item in enumerate(self.items)}
        self.readers: dict[str, set[str]] = {item.name: set() for item in self.items}
        for item in self.items:
            for read in item.reads:
                self.readers[read.source].add(item.name)
        self.nodes: list[Node] = []
        self.edges: dict[Edge, None] = {}
        self.before: dict[tuple[Label, Label], None] = {}
        self.variables: dict[str, SizeVariable] = {}
        self.made: dict[str, Array] = {}
        """What an item makes, as its readers see it: behind a barrier, if it is forced."""
        self.filters: dict[SizeVariable, Label] = {}

    def shape(self, shape: tuple[Size, ...]) -> Shape:
        """The same shape in size variables."""
        return tuple(
            Extent(None, size.offset)
            if size.name is None
            else Extent(self.variables.setdefault(size.name, SizeVariable(len(self.variables))), size.offset)
            for size in shape
        )

    def text(self, shape: Shape) -> str:
        """A shape as a graph file writes it."""
        names = {variable: name for name, variable in self.variables.items()}
        parts = []
        for extent in shape:
            name = "" if extent.variable is None else names[extent.variable]
            offset = str(extent.offset) if extent.offset or not name else ""
            parts.append("+".join(filter(None, (name, offset))))
        return ",".join(parts) or "scalar"

    def add(self, template: Node, shape: Shape) -> Array:
        """A node with one array."""
        label = len(self.nodes)
        array = Array(label, 0, F32, shape)
        self.nodes.append(replace(template, label=label, arrays=(array,)))
        return array

    def barrier(self, source: Array, shape: Shape, name: str) -> Array:
        """What reshapes or forces `source`: a view of it."""
        seen = self.add(Node(0, Kind.BARRIER, (), shape, name), shape)
        self.edges[Edge(source, seen.label, Role.INDEX)] = None
        self.mentions(shape, seen.label)
        return seen

    def mentions(self, shape: Shape, label: Label) -> None:
        """What has to know a size comes after the filter that finds it."""
        for extent in shape:
            if extent.variable in self.filters:
                self.before[self.filters[extent.variable], label] = None

    def seen_as(self, read: Read, shape: Shape) -> Array:
        """What is read, in the shape in which it is visited: through a reshape, if that is not its own."""
        array = self.made[read.source]
        return array if array.shape == shape else self.barrier(array, shape, "reshape")

    def streams(self, item: Item) -> list[Read]:
        """What an item visits in its own order. A map's or gather's aligned load from an array of its shape is one, too."""
        return [read for read in item.reads if read.how is How.STREAM or self._is_aligned(item, read)]

    def indexed(self, item: Item) -> list[Read]:
        """What an item loads wherever it likes."""
        return [read for read in item.reads if read.how is How.INDEX and not self._is_aligned(item, read)]

    def _is_aligned(self, item: Item, read: Read) -> bool:
        by_index = item.form in (Form.GENERATE, Form.STENCIL, Form.MAP, Form.GATHER) and read.how is How.INDEX
        return by_index and read.aligned and self.made[read.source].shape == self.shape(item.shape)

    def finish(self) -> Graph:
        """The graph. What nobody reads is a result."""
        read = {edge.array for edge in self.edges}
        unread = {item.name for item in self.items if item.form is not Form.USE and self.made[item.name] not in read}
        results = frozenset(self.made[name] for name in self.results | unread)
        return Graph(tuple(self.nodes), tuple(self.edges), tuple(self.before), results)


def _of(item: Item, how: How) -> list[Read]:
    return [read for read in item.reads if read.how is how]


def _kind(item: Item, streams: list[Read]) -> Kind:
    match item.form:
        case Form.USE | Form.RESHAPE:
            return Kind.BARRIER
        case Form.GENERATE | Form.STENCIL | Form.MAP:
            return Kind.MAP if streams else Kind.GENERATE
        case Form.GATHER:
            return Kind.GATHER
        case Form.SCATTER:
            return Kind.SCATTER
        case Form.FOLD:
            return Kind.FOLD
        case Form.LEFT_SCAN | Form.RIGHT_SCAN:
            return Kind.SCAN
        case Form.FILTER:
            return Kind.FILTER
        case _:
            assert_never(item.form)


def _check(item: Item) -> None:
    """Whether an item reads what an operation of its form reads. Raises DrawingError."""
    sources, destinations, streams = _of(item, How.SOURCE), _of(item, How.DESTINATION), _of(item, How.STREAM)
    if sources and item.form is not Form.GATHER:
        raise DrawingError(item.name, f"only a gather has a 'gather-source', this is a {item.form.value}")
    if destinations and item.form is not Form.SCATTER:
        raise DrawingError(item.name, f"only a scatter has a 'scatter-dest', this is a {item.form.value}")
    if item.form is Form.USE and item.reads:
        raise DrawingError(item.name, "a use is an input of the program: it reads nothing")
    if item.form is Form.GATHER and not sources:
        raise DrawingError(item.name, "a gather reads at least one 'gather-source'")
    if item.form is Form.SCATTER and len(destinations) != 1:
        raise DrawingError(item.name, f"a scatter has one 'scatter-dest', this has {len(destinations)}")
    if item.form is Form.RESHAPE and (len(streams) != 1 or len(item.reads) != 1):
        raise DrawingError(item.name, "a reshape reads one 'stream' and nothing else")
    needs = (Form.SCATTER, Form.FOLD, Form.LEFT_SCAN, Form.RIGHT_SCAN, Form.FILTER)
    if item.form in needs and not streams:
        raise DrawingError(item.name, f"a {item.form.value} reads at least one 'stream'")


def _visited(graph: _Assembly, item: Item, made: Shape, first: Shape) -> Shape:
    """The shape that an item visits; `first`: that of its first stream. Raises DrawingError where they do not agree."""
    match item.form:
        case Form.FOLD if item.flattens:
            if made:
                raise DrawingError(item.name, f"a fold of all dimensions makes a scalar, not {graph.text(made)!r}")
            return _flat(graph, item, first)
        case Form.FOLD:
            if not first or first[:-1] != made:
                raise DrawingError(item.name, _misfit(graph, item, first, "without its innermost dimension", made))
            return first
        case Form.LEFT_SCAN | Form.RIGHT_SCAN:
            longer = (*first[:-1], Extent(first[-1].variable, first[-1].offset + 1)) if first else None
            if not first or made not in (first, longer):
                raise DrawingError(item.name, _misfit(graph, item, first, "or one element longer", made))
            return made
        case Form.FILTER:
            if not first:
                raise DrawingError(item.name, "a filter reads at least one dimension, not a scalar")
            return first
        case Form.SCATTER:
            destination = graph.made[_of(item, How.DESTINATION)[0].source].shape
            if destination != made:
                reason = f"a scatter has the shape of its destination, {graph.text(destination)!r}"
                raise DrawingError(item.name, f"{reason}, not {graph.text(made)!r}")
            return first
        case Form.USE | Form.RESHAPE | Form.GENERATE | Form.STENCIL | Form.MAP | Form.GATHER:
            return made
        case _:
            assert_never(item.form)


def _misfit(graph: _Assembly, item: Item, first: Shape, how: str, made: Shape) -> str:
    if not first:
        return f"a {item.form.value} reads at least one dimension, not a scalar"
    return f"a {item.form.value} of {graph.text(first)!r} has that shape {how}, not {graph.text(made)!r}"


def _flat(graph: _Assembly, item: Item, shape: Shape) -> Shape:
    """The vector with all elements of `shape`."""
    if len(shape) == 1:
        return shape
    if any(extent.variable for extent in shape):
        return graph.shape((Size(f"elements of {item.name}", 0),))
    count = 1
    for extent in shape:
        count *= extent.offset
    return (Extent(None, count),)


def _shrinks(made: Shape, source: Shape) -> bool:
    """Whether a gather has at most as many elements as its source: its extents are among the source's."""
    left = list(source)
    for extent in [extent for extent in made if extent.variable is not None]:
        if extent not in left:
            return False
        left.remove(extent)
    known = [extent.offset for extent in made if extent.variable is None]
    given = [extent.offset for extent in left if extent.variable is None]
    return _product(known) <= _product(given)


def _product(numbers: list[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product


def _place(graph: _Assembly, item: Item) -> None:
    """Add an item, and what stands between it and its inputs."""
    made, reads = graph.shape(item.shape), graph.streams(item)
    first = graph.made[reads[0].source].shape if reads else ()
    visited, kind = _visited(graph, item, made, first), _kind(item, reads)
    seen = first if kind in (Kind.SCAN, Kind.BARRIER) else visited
    streams = [graph.seen_as(read, seen) for read in reads]
    sources = [graph.made[read.source] for read in _of(item, How.SOURCE)]
    if len({array.shape for array in sources}) > 1:
        shapes = " and ".join(repr(graph.text(array.shape)) for array in sources)
        raise DrawingError(item.name, f"the sources of a gather have one shape, these have {shapes}")
    destinations = [_destination(graph, item, read) for read in _of(item, How.DESTINATION)]
    node = Node(
        0, kind, (), visited, item.name,
        backward=item.form is Form.RIGHT_SCAN,
        exclusive=kind is Kind.SCAN and first != made,
        exact=item.form is not Form.FOLD,
        shrinking=bool(sources) and _shrinks(made, sources[0].shape),
        operations=1 + sum(read.reads for read in item.reads if read.how is How.INDEX),
        filtered=made[0].variable if item.form is Form.FILTER else None,
    )  # fmt: skip
    array = graph.add(node, made)
    stream_role = Role.INDEX if item.form is Form.RESHAPE else Role.STREAM
    graph.edges |= {Edge(read, array.label, stream_role): None for read in streams}
    graph.edges |= {Edge(read, array.label, Role.SOURCE): None for read in sources}
    graph.edges |= {Edge(graph.made[read.source], array.label, Role.INDEX): None for read in graph.indexed(item)}
    graph.edges |= {Edge(read, array.label, Role.DESTINATION): None for read in destinations}
    if node.filtered is not None:
        graph.filters[node.filtered] = array.label
    if kind in (Kind.GENERATE, Kind.GATHER, Kind.BARRIER):
        graph.mentions(made, array.label)
    earlier = [edge.consumer for edge in graph.edges if edge.array in destinations] if destinations else []
    graph.before |= {(reader, array.label): None for reader in earlier if reader != array.label}
    graph.made[item.name] = graph.barrier(array, made, "force") if item.forced else array


def _destination(graph: _Assembly, item: Item, read: Read) -> Array:
    """What a scatter may overwrite: its destination, or a copy of one that others still need."""
    array = graph.made[read.source]
    used_here = sum(other.source == read.source for other in item.reads) > 1
    now = graph.position[item.name]
    needed_later = used_here or any(graph.position[other] > now for other in graph.readers[read.source])
    view = graph.nodes[array.label].kind is Kind.BARRIER
    if not (view or needed_later or read.source in graph.results):
        return array
    copy = graph.add(Node(0, Kind.MAP, (), array.shape, "copy"), array.shape)
    graph.edges[Edge(array, copy.label, Role.STREAM)] = None
    return copy


def graph_of(drawing: Drawing) -> Graph:
    """The planner's graph of a drawing. Raises DrawingError if it is the drawing of no program."""
    assembly = _Assembly(drawing)
    for item in assembly.items:
        _check(item)
        if item.form is Form.USE and any(size.name in assembly.makers for size in item.shape):
            raise DrawingError(item.name, "an input of the program cannot have the size that a filter finds")
        _place(assembly, item)
    return assembly.finish()
