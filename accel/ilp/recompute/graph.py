"""The dependency graph of a program in which some producers are recomputed: see `accel/labelled/passes/recompute.py`.

Labels keep their order, with room for a run before each operation: operation l of the graph is operation (l + 1) * stride - 1
here, and what stands before it is numbered from l * stride on. So nothing but the stride is needed to know one from the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from accel.ilp.problem.graph import Edge, Graph, Node, together
from accel.labelled.array import Array, Label
from accel.labelled.operations import ORDERED, Role
from accel.labelled.passes.recompute import Recomputed
from accel.support.dataclass import dataclass
from accel.support.lazy import lazy

_Run = Mapping[Label, Label]
"""The operations of a run, and what does the same for the readers."""


def stride(recomputed: Iterable[Recomputed]) -> int:
    """How far the labels of two operations of the graph lie apart."""
    return 1 + sum(len(each.run) for each in recomputed)


@dataclass(frozen=True)
class RecomputedGraph:
    """`graph`, in which there is what was `recomputed`.

    made: for each `Recomputed` the labels of its run, none if it was only loaded by index.
    """

    graph: Graph
    recomputed: tuple[Recomputed, ...]
    made: tuple[tuple[Label, ...], ...]

    @lazy
    def _stride(self) -> int:
        return stride(self.recomputed)

    def new(self, label: Label) -> Label:
        """The label of an operation of the original graph, which may be gone."""
        return _new(label, self._stride)

    def old(self, label: Label) -> Label:
        """The other way round."""
        return label // self._stride

    def whole(self, labels: Iterable[Label]) -> list[Label]:
        """Of operations of the original graph, by their new labels, those that are left, and what they recompute."""
        left = dict.fromkeys(label for label in labels if label in self.graph.node)
        own = [
            made
            for each, made in zip(self.recomputed, self.made, strict=True)
            if any(self.new(reader) in left for reader in each.readers)
        ]
        return [*left, *(label for made in own for label in made)]


def recompute(graph: Graph, recomputed: Sequence[Recomputed]) -> RecomputedGraph:
    """`graph` with runs before the operations that recompute them, and without the runs that are no longer read.

    With nothing to recompute it is `graph` itself.
    """
    return _Recomputing(graph, recomputed).result() if recomputed else RecomputedGraph(graph, (), ())


def _new(label: Label, stride: int) -> Label:
    return (label + 1) * stride - 1


class _Recomputing:
    def __init__(self, graph: Graph, recomputed: Sequence[Recomputed]) -> None:
        self.graph, self.recomputed = graph, tuple(recomputed)
        self.stride = stride(recomputed)
        self.chosen = {
            (each.run[-1], reader): number for number, each in enumerate(recomputed) for reader in each.readers
        }
        place = count()
        self.runs: list[_Run] = []
        self.loaders: list[list[Label]] = []
        """Readers that have no run before them."""
        for each in recomputed:
            bulk = {label for label in each.readers if self.reads_in_bulk(label, each.run[-1])}
            self.loaders.append([label for label in each.readers if label not in bulk])
            self.runs.append({member: min(bulk) * self.stride + next(place) for member in each.run} if bulk else {})

    def reads_in_bulk(self, reader: Label, maker: Label) -> bool:
        return any(edge.array.label == maker and edge.role in ORDERED for edge in self.graph.inputs[reader])

    def array(self, array: Array, run: _Run) -> Array:
        """An array under its new label: that of a run, if it is made there."""
        return replace(array, label=run.get(array.label, _new(array.label, self.stride)))

    def node(self, node: Node, label: Label, run: _Run, more: int = 0) -> Node:
        arrays = tuple([self.array(array, run) for array in node.arrays])
        return replace(node, label=label, arrays=arrays, operations=node.operations + more)

    def edge(self, edge: Edge, consumer: Label, run: _Run) -> Edge:
        return replace(edge, array=self.array(edge.array, run), consumer=consumer)

    def inputs(self, each: Recomputed) -> list[Edge]:
        """What a run reads that is not made in it."""
        inner = [edge for member in each.run for edge in self.graph.inputs[member]]
        return [edge for edge in inner if edge.array.label not in each.run]

    def result(self) -> RecomputedGraph:
        nodes: list[Node] = []
        edges: list[Edge] = []
        before = [(_new(first, self.stride), _new(second, self.stride)) for first, second in self.graph.before]
        for node in self.graph.nodes:
            label = _new(node.label, self.stride)
            more = 0
            for edge in self.graph.inputs[node.label]:
                number = self.chosen.get((edge.array.label, node.label))
                if number is None or edge.role in ORDERED:
                    edges.append(self.edge(edge, label, {} if number is None else self.runs[number]))
                else:
                    inner = self.loaded(edge, label, self.recomputed[number])
                    edges, more = edges + inner, more + self.work(edge, self.recomputed[number])
            nodes.append(self.node(node, label, {}, more))
        for each, run, loaders in zip(self.recomputed, self.runs, self.loaders, strict=True):
            for member, label in run.items():
                nodes.append(replace(self.node(self.graph.node[member], label, run), random=False))
                edges += [self.edge(edge, label, run) for edge in self.graph.inputs[member]]
            for first in [first for first, second in self.graph.before if second in each.run]:
                later = [*run.values(), *(_new(reader, self.stride) for reader in loaders)]
                before += [(_new(first, self.stride), label) for label in later]
        return self.pruned(sorted(nodes, key=lambda node: node.label), edges, dict.fromkeys(before))

    def loaded(self, edge: Edge, consumer: Label, each: Recomputed) -> list[Edge]:
        """What a reader loads instead of what the run makes."""
        found = []
        for inner in self.inputs(each):
            sites = edge.sites * (inner.sites if inner.role is Role.INDEX else 1)
            inside = edge.inside if inner.role is Role.STREAM else inner.inside
            passes = edge.passes * (inner.passes if inner.role is Role.INDEX else 1)
            found.append(Edge(self.array(inner.array, {}), consumer, Role.INDEX, sites, inside, passes))
        return found

    def work(self, edge: Edge, each: Recomputed) -> int:
        """Operations that a reader does for what it no longer loads."""
        own = sum(self.graph.node[member].operations for member in each.run)
        return edge.sites * (own - 1 + sum(inner.role is Role.STREAM for inner in self.inputs(each)))

    def pruned(
        self, nodes: Sequence[Node], edges: Sequence[Edge], before: Iterable[tuple[Label, Label]]
    ) -> RecomputedGraph:
        """Without the runs of which nothing is read."""
        needed = {array.label for array in self.graph.results}
        gone: set[Label] = set()
        for member in sorted({member for each in self.recomputed for member in each.run} - needed, reverse=True):
            label = _new(member, self.stride)
            if not any(edge.array.label == label and edge.consumer not in gone for edge in edges):
                gone.add(label)
        graph = Graph(
            tuple(node for node in nodes if node.label not in gone),
            together(edge for edge in edges if edge.consumer not in gone),
            tuple((first, second) for first, second in before if not gone & {first, second}),
            frozenset(self.array(array, {}) for array in self.graph.results),
        )
        return RecomputedGraph(graph, self.recomputed, tuple(tuple(run.values()) for run in self.runs))
