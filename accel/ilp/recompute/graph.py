"""The dependency graph of a program in which some producers are recomputed: see `accel/labelled/passes/recompute.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from accel.ilp.problem.graph import Edge, Graph, Node, together
from accel.labelled.array import Array, Label
from accel.labelled.operations import ORDERED, Role
from accel.labelled.passes.recompute import Recomputed


@dataclass(frozen=True, slots=True)
class RecomputedGraph:
    """`graph` has labels of its own if anything is recomputed.

    label: the new label of every operation that remains. made: for each `Recomputed` the new labels of its run, none
    if it was only loaded by index.
    """

    graph: Graph
    label: Mapping[Label, Label]
    made: tuple[tuple[Label, ...], ...]

    def of_readers(self, recomputed: Sequence[Recomputed]) -> dict[Label, tuple[Label, ...]]:
        """For every reader, by its new label, what it recomputes."""
        found: dict[Label, tuple[Label, ...]] = {}
        for each, labels in zip(recomputed, self.made, strict=True):
            for reader in each.readers:
                found[self.label[reader]] = (*found.get(self.label[reader], ()), *labels)
        return found


def recompute(graph: Graph, recomputed: Sequence[Recomputed]) -> RecomputedGraph:
    """`graph` with runs before the operations that recompute them, and without the runs that are no longer read.

    With nothing to recompute it is `graph` itself.
    """
    if not recomputed:
        return RecomputedGraph(
            graph, {array.label: array.label for array in graph.readers} | {n.label: n.label for n in graph.nodes}, ()
        )
    return _Recomputing(graph, recomputed).result()


class _Recomputing:
    def __init__(self, graph: Graph, recomputed: Sequence[Recomputed]) -> None:
        self.graph, self.recomputed = graph, recomputed
        self.chosen = {
            (each.run[-1], reader): number for number, each in enumerate(recomputed) for reader in each.readers
        }
        self.bulk = [
            sorted(r for r in each.readers if any(e.role in ORDERED for e in self.between(each.run[-1], r)))
            for each in recomputed
        ]
        ahead: dict[Label, list[int]] = {}
        for number, readers in enumerate(self.bulk):
            if readers:
                ahead.setdefault(readers[0], []).append(number)
        self.label: dict[Label, Label] = {}
        self.made: dict[tuple[int, Label], Label] = {}
        for node in graph.nodes:
            for number in ahead.get(node.label, ()):
                for member in recomputed[number].run:
                    self.made[number, member] = len(self.label) + len(self.made)
            self.label[node.label] = len(self.label) + len(self.made)
        fresh = len(self.label) + len(self.made)
        for array in graph.readers:  # from outside of the graph
            if array.label not in self.label:
                self.label[array.label] = fresh + array.label

    def between(self, maker: Label, reader: Label) -> list[Edge]:
        return [edge for edge in self.graph.inputs[reader] if edge.array.label == maker]

    def array(self, array: Array, number: int | None = None) -> Array:
        """An array under its new label, in recomputation `number` if it is of that run."""
        own = None if number is None else self.made.get((number, array.label))
        return replace(array, label=self.label[array.label] if own is None else own)

    def result(self) -> RecomputedGraph:
        nodes = [self.node(node, self.label[node.label], self.loaded(node)) for node in self.graph.nodes]
        edges = list(self.edges())
        before = [(self.label[first], self.label[second]) for first, second in self.graph.before]
        for (number, member), label in self.made.items():
            nodes.append(self.node(self.graph.node[member], label, 0, number))
            edges += [
                replace(edge, array=self.array(edge.array, number), consumer=label)
                for edge in self.graph.inputs[member]
            ]
            before += [(self.label[first], label) for first, second in self.graph.before if second == member]
        before += [(self.label[first], self.label[second]) for first, second in self.before()]
        return self.pruned(sorted(nodes, key=lambda node: node.label), edges, dict.fromkeys(before))

    def loaded(self, node: Node) -> int:
        """Operations that a reader does for what it no longer loads."""
        more = 0
        for edge in self.graph.inputs[node.label]:
            number = self.chosen.get((edge.array.label, node.label))
            if number is not None and edge.role is Role.INDEX:
                own = sum(self.graph.node[member].operations for member in self.recomputed[number].run)
                more += edge.sites * (own - 1 + sum(inner.role is Role.STREAM for inner in self.inputs(number)))
        return more

    def node(self, node: Node, label: Label, more: int, number: int | None = None) -> Node:
        arrays = tuple([self.array(array, number) for array in node.arrays])
        return replace(node, label=label, arrays=arrays, operations=node.operations + more)

    def edges(self) -> Iterable[Edge]:
        """The edges into the operations of the graph, from recomputations where there are some."""
        for edge in self.graph.edges:
            consumer = self.label[edge.consumer]
            number = self.chosen.get((edge.array.label, edge.consumer))
            if number is None:
                yield replace(edge, array=self.array(edge.array), consumer=consumer)
            elif edge.role in ORDERED:
                yield replace(edge, array=self.array(edge.array, number), consumer=consumer)
            else:
                for inner in self.inputs(number):
                    sites = edge.sites * (inner.sites if inner.role is Role.INDEX else 1)
                    inside = edge.inside if inner.role is Role.STREAM else inner.inside
                    passes = edge.passes * (inner.passes if inner.role is Role.INDEX else 1)
                    yield Edge(self.array(inner.array), consumer, Role.INDEX, sites, inside, passes)

    def inputs(self, number: int) -> Iterable[Edge]:
        """What a run reads that is not made in it."""
        run = self.recomputed[number].run
        for member in run:
            yield from (edge for edge in self.graph.inputs[member] if edge.array.label not in run)

    def before(self) -> Iterable[tuple[Label, Label]]:
        """Readers that load a run come after what the run comes after."""
        for number, each in enumerate(self.recomputed):
            for reader in set(each.readers).difference(self.bulk[number]):
                yield from ((first, reader) for first, second in self.graph.before if second in each.run)

    def pruned(
        self, nodes: Iterable[Node], edges: Iterable[Edge], before: Iterable[tuple[Label, Label]]
    ) -> RecomputedGraph:
        """Without the runs of which nothing is read."""
        results = frozenset(self.array(array) for array in self.graph.results)
        gone: set[Label] = set()
        candidates = {self.label[member] for each in self.recomputed for member in each.run}
        for node in reversed(list(nodes)):
            read = any(edge.array.label == node.label and edge.consumer not in gone for edge in edges)
            if node.label in candidates and not read and results.isdisjoint(node.arrays):
                gone.add(node.label)
        graph = Graph(
            tuple(node for node in nodes if node.label not in gone),
            together(edge for edge in edges if edge.consumer not in gone),
            tuple((first, second) for first, second in before if not gone & {first, second}),
            results,
        )
        labels = {old: new for old, new in self.label.items() if new not in gone}
        made = [
            tuple(self.made[n, m] for m in each.run if (n, m) in self.made) for n, each in enumerate(self.recomputed)
        ]
        return RecomputedGraph(graph, labels, tuple(made))
