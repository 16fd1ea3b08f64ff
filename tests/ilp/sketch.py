"""Dependency graphs drawn by hand: named operations, named extents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from accel.ast.tree.types import F32, F64, I64, ScalarType
from accel.ilp.problem.clustering import Clustering
from accel.ilp.problem.graph import Edge, Graph, Node
from accel.labelled.array import Array, Extent, Shape, SizeVariable, segment_length
from accel.labelled.operations import Kind, Role

Names = str | Sequence[str]


def _names(names: Names) -> tuple[str, ...]:
    return tuple(names.split()) if isinstance(names, str) else tuple(names)


@dataclass
class Sketch:
    """A graph under construction. `"xs"` names all leaves of an operation, `"xs.1"` one of them."""

    nodes: list[Node] = field(default_factory=list)
    edges: dict[Edge, None] = field(default_factory=dict)
    before: dict[tuple[int, int], None] = field(default_factory=dict)
    results: set[Array] = field(default_factory=set)
    labels: dict[str, int] = field(default_factory=dict)
    arrays: dict[str, tuple[Array, ...]] = field(default_factory=dict)
    sizes: dict[str, SizeVariable] = field(default_factory=dict)

    def extent(self, text: str) -> Extent:
        """`n`, `n+1` or `16`."""
        if text.isdigit():
            return Extent(None, int(text))
        name, _, offset = text.partition("+")
        return Extent(self.sizes.setdefault(name, SizeVariable(len(self.sizes))), int(offset or 0))

    def shape(self, text: str) -> Shape:
        """Extents separated by spaces; nothing is rank 0."""
        return tuple(self.extent(part) for part in text.split())

    def read(self, names: Names) -> list[Array]:
        """The arrays of names."""
        found: list[Array] = []
        for name in _names(names):
            base, _, leaf = name.partition(".")
            found += [self.arrays[base][int(leaf)]] if leaf else list(self.arrays[base])
        return found

    def add(
        self, name: str, kind: Kind, shapes: Sequence[Shape], iteration: Shape, *, stream: Names = (), source: Names = (),
        index: Names = (), destination: Names = (), result: bool = False, force: bool = False,
        elements: Sequence[ScalarType] = (F32,), node: Node | None = None,
    ) -> int:  # fmt: skip
        """An operation with one array per shape."""
        label = len(self.nodes)
        elements = [elements[k % len(elements)] for k in range(len(shapes))]
        arrays = tuple(Array(label, k, e, s) for k, (e, s) in enumerate(zip(elements, shapes, strict=True)))
        template = node or Node(label, kind, arrays, iteration, name)
        self.nodes.append(replace(template, label=label, arrays=arrays, iteration=iteration, name=name))
        for role, names in (
            (Role.STREAM, stream), (Role.SOURCE, source), (Role.INDEX, index), (Role.DESTINATION, destination),
        ):  # fmt: skip
            for array in self.read(names):
                self.edges[Edge(array, label, role)] = None
        self.labels[name], self.arrays[name] = label, arrays
        if result:
            self.results |= set(arrays)
        if force:
            self.add(name + "!", Kind.BARRIER, [a.shape for a in arrays], (), index=name, elements=elements)
            self.arrays[name] = self.arrays[name + "!"]
        return label

    def use(self, name: str, shape: str = "n", element: ScalarType = F32) -> None:
        """An array from outside."""
        self.add(name, Kind.BARRIER, [self.shape(shape)], (), elements=(element,))

    def generate(self, name: str, shape: str = "n", *, index: Names = (), result: bool = False, operations: int = 1,
                 element: ScalarType = F32, force: bool = False) -> None:  # fmt: skip
        """An array from its indices."""
        made = self.shape(shape)
        template = Node(0, Kind.GENERATE, (), made, name, operations=operations)
        self.add(name, Kind.GENERATE, [made], made, index=index, result=result, node=template, elements=(element,),
                 force=force)  # fmt: skip
        self._after_filters(name, made)

    def map(self, name: str, stream: Names, *, index: Names = (), result: bool = False, leaves: int = 1, force: bool = False,
            operations: int = 1, loops: bool = False, element: ScalarType = F32) -> None:  # fmt: skip
        """Element by element."""
        shape = self.read(stream)[0].shape
        template = Node(0, Kind.MAP, (), shape, name, operations=operations, loops=loops)
        self.add(name, Kind.MAP, [shape] * leaves, shape, stream=stream, index=index, result=result, force=force,
                 node=template, elements=(element, F64, I64))  # fmt: skip

    def gather(
        self, name: str, indices: Names, source: Names, *, result: bool = False, shrinking: bool = False
    ) -> None:
        """`source[indices]`."""
        shape, sources = self.read(indices)[0].shape, self.read(source)
        template = Node(0, Kind.GATHER, (), shape, name, shrinking=shrinking)
        self.add(name, Kind.GATHER, [shape] * len(sources), shape, stream=indices, source=source, result=result,
                 node=template, elements=[a.element for a in sources])  # fmt: skip

    def backpermute(self, name: str, shape: str, source: Names, *, index: Names = (), result: bool = False,
                    shrinking: bool = False, operations: int = 1) -> None:  # fmt: skip
        """`source[f(ix)]`."""
        made, sources = self.shape(shape), self.read(source)
        template = Node(0, Kind.GATHER, (), made, name, shrinking=shrinking, operations=operations)
        self.add(name, Kind.GATHER, [made] * len(sources), made, source=source, index=index, result=result,
                 node=template, elements=[a.element for a in sources])  # fmt: skip
        self._after_filters(name, made)

    def fold(self, name: str, stream: Names, *, index: Names = (), result: bool = False, exact: bool = False,
             dimensions: int = 1) -> None:  # fmt: skip
        """The innermost dimensions reduced."""
        inputs = self.read(stream)
        template = Node(0, Kind.FOLD, (), inputs[0].shape, name, exact=exact)
        self.add(name, Kind.FOLD, [a.shape[:-dimensions] for a in inputs], inputs[0].shape, stream=stream, index=index,
                 result=result, node=template, elements=[a.element for a in inputs])  # fmt: skip

    def segments(
        self, name: str, starts: str, ends: str, source: Names, *, result: bool = False, placed: bool = False,
        backward: bool = False, longer: str = "",
    ) -> None:  # fmt: skip
        """Segments reduced, or if `placed` scanned. Starts and ends have the outer dimensions of the sources. `longer`: the
        inner extent of what an exclusive scan makes."""
        (first,), (last,), sources = self.read(starts), self.read(ends), self.read(source)
        length = segment_length(first, last, sources[0].shape[-1], placed and bool(longer), placed and backward)
        visited = (*first.shape, Extent(length, 0))
        template = Node(0, Kind.SEGMENTS, (), visited, name, shrinking=True, exact=False, backward=placed and backward,
                        placed=len(sources) * placed)  # fmt: skip
        made = (*sources[0].shape[:-1], self.extent(longer)) if longer else sources[0].shape
        shapes = [made if placed else first.shape] * len(sources)
        self.add(name, Kind.SEGMENTS, shapes, visited, stream=(starts, ends), source=source,
                 result=result, node=template, elements=[a.element for a in sources])  # fmt: skip

    def scan(self, name: str, stream: Names, *, backward: bool = False, exclusive: bool = False, total: bool = False,
             index: Names = (), result: bool = False, exact: bool = False, force: bool = False) -> None:  # fmt: skip
        """Running reduction of the innermost dimension."""
        inputs = self.read(stream)
        shape = inputs[0].shape
        inner = Extent(shape[-1].variable, shape[-1].offset + exclusive)
        made = (*shape[:-1], inner)
        template = Node(0, Kind.SCAN, (), made, name, backward=backward, exclusive=exclusive, exact=exact)
        shapes = [made] * len(inputs) + [shape[:-1]] * (len(inputs) * total)
        self.add(name, Kind.SCAN, shapes, made, stream=stream, index=index, result=result, node=template, force=force,
                 elements=[a.element for a in inputs])  # fmt: skip

    def filter(self, name: str, size: str, stream: Names, *, index: Names = (), result: bool = False,
               force: bool = False) -> None:  # fmt: skip
        """What satisfies a predicate, as vectors of extent `size`; the last leaf counts per row."""
        inputs = self.read(stream)
        vector = self.shape(size)
        template = Node(0, Kind.FILTER, (), inputs[0].shape, name, filtered=vector[0].variable)
        self.add(name, Kind.FILTER, [vector] * len(inputs) + [inputs[0].shape[:-1]], inputs[0].shape, stream=stream,
                 index=index, result=result, node=template, force=force,
                 elements=[*(a.element for a in inputs), I64])  # fmt: skip

    def scatter(
        self, name: str, stream: Names, destination: Names, *, result: bool = False, exact: bool = True
    ) -> None:
        """Overwrites `destination`."""
        values, targets = self.read(stream), self.read(destination)
        template = Node(0, Kind.SCATTER, (), values[0].shape, name, exact=exact)
        self.add(name, Kind.SCATTER, [a.shape for a in targets], values[0].shape, stream=stream, destination=destination,
                 result=result, node=template, elements=[a.element for a in targets])  # fmt: skip

    def _after_filters(self, name: str, shape: Shape) -> None:
        """An operation whose shape is the size of a filter comes after it."""
        for node in self.nodes:
            if node.filtered is not None and node.filtered in [extent.variable for extent in shape]:
                self.before[node.label, self.labels[name]] = None

    def finish(self, results: Names = ()) -> Graph:
        """The graph; arrays without readers are results, and so are `results`."""
        read = {edge.array for edge in self.edges}
        self.results |= set(self.read(results))
        for node in self.nodes:
            if node.kind is not Kind.BARRIER and not any(array in read for array in node.arrays):
                self.results |= set(node.arrays)
        for edge in list(self.edges):
            if edge.role is Role.DESTINATION:
                for other in self.edges:
                    if other.array == edge.array and other.consumer < edge.consumer:
                        self.before[other.consumer, edge.consumer] = None
        return Graph(self._at_data(), tuple(self.edges), tuple(self.before), frozenset(self.results))

    def _at_data(self) -> tuple[Node, ...]:
        """As `build` says of the operations of programs: a gather at a stream of indices reads at random."""
        indexed = {edge.consumer for edge in self.edges if edge.role is Role.STREAM}
        return tuple(replace(node, random=node.kind is Kind.GATHER and node.label in indexed) for node in self.nodes)

    def sets(self, clustering: Clustering) -> set[frozenset[str]]:
        """Clusters of operations by name."""
        names = {label: name for name, label in self.labels.items()}
        barriers = {node.label for node in self.nodes if node.kind is Kind.BARRIER}
        return {
            frozenset(names[label] for label in cluster.labels)
            for cluster in clustering.clusters
            if not barriers & set(cluster.labels)
        }
