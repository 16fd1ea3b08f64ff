"""Chains of maps as one node: merges that some optimum makes anyway, whatever the cost model (docs/ilp/solving.md, "Chains").

a and b become one if b, a map, is the only reader of a, a generate or map, and a reads at most one array p in an order, of
which it is the only reader and which is not larger than a. Then take an optimum that separates a from b and move a to b:
the write and the read of a are saved, at most the write and the read of p are lost, and no other operation loses a neighbour.

What interferes with other operations, where a cost counts that, is no such a: moving it may bring it to those.

Where something may be recomputed, what is cheap is not merged with what is not: then the one may be stored, and the other
recomputed where it is read.

Where reads, writes or intermediate arrays come first, a may also read arrays that both b and the maker of p read: b reads
them anyway, and what a connected by them stays connected by p's maker, or a's saving is greater than its loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from accel.ilp.legality.rules import CHEAP
from accel.ilp.problem.clustering import Cluster, Traversal, cluster_of
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.problem.graph import Graph, Node, together
from accel.ilp.recompute.candidates import counts_traffic
from accel.labelled.array import Array, Label
from accel.labelled.operations import ORDERED, Kind, Role
from accel.support.choices import RECOMPUTED_BY_READERS, Duplicate
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Contraction:
    """A graph, and for each of its nodes the operations of the original graph that it stands for."""

    graph: Graph
    runs: Mapping[Label, tuple[Label, ...]]

    def refine(self, cluster: Cluster) -> Cluster:
        """The same cluster of the original graph: what was merged runs in one order."""

        def order(each: Traversal) -> Traversal:
            return each if each.gather is None else Traversal(self.runs[each.gather][-1], False)

        return cluster_of({label: order(each) for last, each in cluster.members.items() for label in self.runs[last]})


def only_reader(graph: Graph, node: Node) -> Label | None:
    """The map that streams everything that `node`, a generate or map, makes, if nothing else reads it."""
    if node.kind not in (Kind.GENERATE, Kind.MAP) or any(array in graph.results for array in node.arrays):
        return None
    edges = [edge for array in node.arrays for edge in graph.readers[array]]
    readers = {edge.consumer for edge in edges}
    if len(readers) != 1 or any(edge.role is not Role.STREAM for edge in edges):
        return None
    reader = graph.node[readers.pop()]
    return reader.label if reader.kind is Kind.MAP else None


def _ends_in_growing_gather(graph: Graph) -> set[Label]:
    """Operations that might be pushed to a gather larger than its source: there, what is merged counts (W1)."""
    found: set[Label] = set()
    for node in reversed(graph.nodes):
        for array in node.arrays:
            for edge in graph.readers[array]:
                grows = edge.role is Role.SOURCE and graph.is_growing(edge.consumer)
                if edge.role in ORDERED and (grows or edge.consumer in found):
                    found.add(node.label)
    return found


def _streams(graph: Graph, label: Label) -> list[Array]:
    return [edge.array for edge in graph.inputs[label] if edge.role is Role.STREAM]


def _loses_nothing(graph: Graph, node: Node, reader: Label, alone: bool) -> bool:
    """Whether `node` may go wherever its only reader goes."""
    inputs = _streams(graph, node.label)
    common = [] if alone else [array for array in inputs if array in _streams(graph, reader)]
    own = [array for array in inputs if array not in common]
    if len(own) > 1:
        return False
    made = sum(array.element.bytes for array in node.arrays)
    for array in own:
        readers = {edge.consumer for edge in graph.readers[array]}
        if readers != {node.label} or array.element.bytes > made:
            return False
        if array.label in graph.node and not set(common) <= set(_streams(graph, array.label)):
            return False
    return True


def merge_chains(graph: Graph, duplicate: Duplicate, model: tuple[CostLevel, ...]) -> Contraction:
    """`graph` with chains merged into their last operations."""
    first = model[0]
    counts_arrays = ((first.reads and first.writes) or first.intermediate > 0) and not first.cluster
    alone = not counts_arrays or any(level.counts_pairs for level in model)
    earlier = {first for first, _ in graph.before}
    costly = set() if duplicate == "published" else _ends_in_growing_gather(graph)
    loud = Weights(graph, {}).interfering if any(level.interference for level in model) else frozenset[Label]()
    heir: dict[Label, Label] = {}
    for node in graph.operations:
        reader = None if node.label in earlier | costly | loud else only_reader(graph, node)
        if reader is not None and _loses_nothing(graph, node, reader, alone):
            heir[node.label] = reader
    if duplicate in RECOMPUTED_BY_READERS and counts_traffic(model):
        _keep_cheap_ends(graph, heir, duplicate)
    return _contracted(graph, heir) if heir else unmerged(graph)


def _keep_cheap_ends(graph: Graph, heir: dict[Label, Label], duplicate: Duplicate) -> None:
    """Merge nothing with a cheap end of a chain, which may be recomputed, that makes it expensive."""
    cheap: dict[Label, int] = {}
    for node in reversed(graph.operations):
        reader = heir.get(node.label)
        is_end = reader is None and (duplicate is True or _is_loaded(graph, node))
        if not is_end and reader not in cheap:
            continue
        operations = node.operations + (0 if reader is None else cheap[reader])
        if node.loops or operations > CHEAP:
            heir.pop(node.label, None)
            operations = node.operations
        if not node.loops and operations <= CHEAP:
            cheap[node.label] = operations


def _is_loaded(graph: Graph, node: Node) -> bool:
    """Whether something loads by index what a node makes."""
    return any(edge.role is Role.INDEX for array in node.arrays for edge in graph.readers[array])


def unmerged(graph: Graph) -> Contraction:
    """`graph` as it is."""
    return Contraction(graph, {node.label: (node.label,) for node in graph.nodes})


def _contracted(graph: Graph, heir: Mapping[Label, Label]) -> Contraction:
    last: dict[Label, Label] = {}
    for node in reversed(graph.nodes):
        last[node.label] = last[heir[node.label]] if node.label in heir else node.label
    runs: dict[Label, list[Label]] = {}
    for node in graph.nodes:
        runs.setdefault(last[node.label], []).append(node.label)
    nodes = []
    for node in graph.nodes:
        run = [graph.node[label] for label in runs.get(node.label, ())]
        if run:
            operations, loops = sum(part.operations for part in run), any(part.loops for part in run)
            nodes.append(replace(node, operations=operations, loops=loops) if len(run) > 1 else node)
    edges = together(
        replace(edge, consumer=last[edge.consumer])
        for edge in graph.edges
        if last.get(edge.array.label) != last[edge.consumer]
    )
    before = {(last[first], last[second]): None for first, second in graph.before}
    contraction = Graph(tuple(nodes), edges, tuple(before), graph.results)
    return Contraction(contraction, {label: tuple(run) for label, run in runs.items()})
