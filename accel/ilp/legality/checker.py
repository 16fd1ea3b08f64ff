"""Which clusterings are legal: the inference rules of [vB24 Fig. 2] and docs/ilp.md, "What may share a nest".

Shares no code with the model: it accepts or rejects any clustering with any orders, wherever that comes from. What it
accepts, lowering can lower. Loops and work are judged in `nest.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from accel.ilp.legality.nest import nest_refusal
from accel.ilp.legality.refusal import Refusal, Rule
from accel.ilp.problem.clustering import BACKWARD, FORWARD, Cluster, Clustering, Traversal, own_order
from accel.ilp.problem.graph import Edge, Graph, Node
from accel.labelled.array import Array, Label
from accel.labelled.operations import Kind, Role
from accel.support.choices import Duplicate
from accel.support.dataclass import dataclass

_PUSHABLE = frozenset({Kind.GENERATE, Kind.MAP, Kind.GATHER, Kind.FOLD})


@dataclass(frozen=True, slots=True)
class Signature:
    """`[I|O]` [vB24 section 3.1]: pairs `x:d` that are read, and `x:d` that are made; None is "no order"."""

    inputs: frozenset[tuple[Array, Traversal | None]]
    outputs: frozenset[tuple[Array, Traversal | None]]


def _input(graph: Graph, edge: Edge, traversal: Traversal) -> tuple[Array, Traversal | None]:
    match edge.role:
        case Role.STREAM:
            return (edge.array, traversal)
        case Role.SOURCE:
            return (edge.array, own_order(graph, edge.consumer))
        case Role.INDEX | Role.DESTINATION:
            return (edge.array, None)
        case _:
            assert_never(edge.role)


def _output(graph: Graph, node: Node, array: Array, traversal: Traversal) -> tuple[Array, Traversal | None]:
    """Scatters make their results in no order; so do backward scans of matrices their totals. Scans of segments make theirs in
    their own order."""
    outer = node.kind is Kind.SCAN and len(array.shape) < len(node.iteration)
    if node.places(array):
        return (array, own_order(graph, node.label))
    unordered = node.kind in (Kind.SCATTER, Kind.BARRIER) or (outer and node.backward and bool(array.shape))
    return (array, None if unordered else traversal)


def singleton(graph: Graph, node: Node, traversal: Traversal) -> Signature:
    """The signature of one operation [vB24 Table 1]. Arrays that are neither read nor results do not count."""
    wanted = [array for array in node.arrays if graph.uses[array]]
    return Signature(
        frozenset(_input(graph, edge, traversal) for edge in graph.inputs[node.label]),
        frozenset(_output(graph, node, array, traversal) for array in wanted),
    )


class Merged:
    """The signature of operations that are merged one after the other; a step takes time only for what it adds."""

    def __init__(self, first: Signature) -> None:
        self._inputs, self._outputs = set(first.inputs), dict(first.outputs)
        self._read = {array for array, _ in first.inputs}

    @property
    def signature(self) -> Signature:
        """Of all that was merged."""
        return Signature(frozenset(self._inputs), frozenset(self._outputs.items()))

    def add(self, second: Signature, kept: Iterable[Array]) -> bool:
        """`self >> second` by the rules of [vB24 Fig. 2]; False, and nothing is added, where no rule applies.

        An array that flows from first to second stays an output (DIAGONAL) if it is in `kept`, else not (VERTICAL).
        """
        if any(array in self._read or array in self._outputs for array, _ in second.outputs):
            return False  # INTROI1, INTROO2: what the first half reads or makes is not made by the second
        flowing = {(array, traversal) for array, traversal in second.inputs if array in self._outputs}
        if any(traversal is None or self._outputs[array] != traversal for array, traversal in flowing):
            return False  # VERTICAL, DIAGONAL: one order for maker and reader
        for array in {array for array, _ in flowing}.difference(kept):
            del self._outputs[array]
        fresh = second.inputs - flowing
        self._inputs |= fresh
        self._read.update(array for array, _ in fresh)
        self._outputs.update(second.outputs)
        return True


def _order_refusal(graph: Graph, node: Node, traversal: Traversal) -> Refusal | None:
    """D5: which traversals an operation may have by itself."""
    if traversal.gather is not None:
        forward = traversal.gather in graph.whole and not graph.node[traversal.gather].backward
        if node.kind is Kind.SCATTER and forward:
            return None
        return None if node.kind in _PUSHABLE else Refusal(Rule.D5, (node.label,), "{0} cannot be pushed to a gather")
    match node.kind:
        case Kind.SCAN:
            allowed = [BACKWARD if node.backward else FORWARD]
        case Kind.FILTER | Kind.SCATTER | Kind.SEGMENTS | Kind.BARRIER:
            allowed = [FORWARD]
        case Kind.FOLD:
            allowed = [FORWARD, BACKWARD] if node.exact and not node.arrays[0].shape else [FORWARD]
        case Kind.GENERATE | Kind.MAP | Kind.GATHER:
            allowed = [FORWARD, BACKWARD]
        case _:
            assert_never(node.kind)
    if traversal in allowed:
        return None
    return Refusal(Rule.D5, (node.label,), f"{{0}} runs {'forward' if traversal.backward else 'backward'} only")


def _fed_only(graph: Graph, node: Node, traversals: Mapping[Label, Traversal]) -> Refusal | None:
    """D5, second half: what runs in order l is made for gather l alone."""
    traversal = traversals[node.label]
    if traversal.gather is None:
        return None
    if traversals.keys().isdisjoint(graph.ordered.get(traversal.gather, ())):
        labels = (node.label, traversal.gather)
        return Refusal(Rule.D5, labels, "{0} runs in the order of {1}, which is in another cluster")
    if traversal.gather in graph.whole:
        return _misshapen(graph, node, traversal.gather)
    for array in node.arrays:
        for edge in graph.readers[array]:
            if edge.consumer not in traversals or _input(graph, edge, traversals[edge.consumer]) != (array, traversal):
                reads = (node.label, traversal.gather, edge.consumer)
                return Refusal(Rule.D5, reads, "{0} runs in the order of {1}, but {2} reads it otherwise")
    return None


def _misshapen(graph: Graph, node: Node, order: Label) -> Refusal | None:
    """D5: an order of scans of segments visits what has the shape of their sources or results."""
    shape = node.arrays[0].shape if node.kind is Kind.FOLD else node.iteration
    if shape in graph.shapes_in_order(order):
        return None
    return Refusal(Rule.D5, (node.label, order), "{0} makes other elements than {1} scans or makes")


def _unled(graph: Graph, traversals: Mapping[Label, Traversal]) -> Refusal | None:
    """D5: fused arrays connect what runs in an order of scans of segments with what has that order."""
    for order in graph.whole:
        waiting = {label for label, traversal in traversals.items() if traversal.gather == order}
        made = set[Array]()
        for label in traversals.keys() & set(graph.ordered[order]) if waiting else ():
            made.update(array for array in graph.node[label].arrays if graph.node[label].places(array))
            read = [edge.array for edge in graph.inputs[label] if edge.role is Role.SOURCE]
            made |= {array for array in read if array.label in traversals}
        while waiting:
            led = {
                label
                for label in waiting
                if not made.isdisjoint(graph.node[label].arrays)
                or any(edge.role is Role.STREAM and edge.array in made for edge in graph.inputs[label])
            }
            if not led:
                return Refusal(Rule.D5, (min(waiting), order), "no fused array leads from {1} to {0}")
            waiting -= led
            for label in led:
                made.update(graph.node[label].arrays)
                made |= {
                    edge.array
                    for edge in graph.inputs[label]
                    if edge.role is Role.STREAM and edge.array.label in traversals
                }
    return None


def _is_connected(traversals: Mapping[Label, Traversal], signatures: Mapping[Label, Signature]) -> bool:
    """D3: one piece, by fused arrays and by reads of one array from memory in one order."""
    touching: dict[tuple[Array, Traversal], list[Label]] = {}
    for label, traversal in traversals.items():
        for array, made in signatures[label].outputs:
            touching.setdefault((array, made or traversal), []).append(label)
        for array, asked in signatures[label].inputs:
            if asked is not None:
                touching.setdefault((array, asked), []).append(label)
    neighbours: dict[Label, list[Label]] = {label: [] for label in traversals}
    for labels in touching.values():
        for other in labels[1:]:
            neighbours[labels[0]].append(other)
            neighbours[other].append(labels[0])
    start = next(iter(traversals))
    seen, pending = {start}, [start]
    while pending:
        fresh = [label for label in neighbours[pending.pop()] if label not in seen]
        seen.update(fresh)
        pending += fresh
    return len(seen) == len(traversals)


def _derive(graph: Graph, signatures: Mapping[Label, Signature]) -> Signature | Refusal:
    """The signature of a cluster: its operations merged one after the other, in order of labels."""
    left: dict[Array, int] = {}  # readers of an array that are still to be merged, or outside
    whole = Merged(Signature(frozenset(), frozenset()))
    for label in sorted(signatures):
        for array in graph.node[label].arrays:
            left[array] = graph.uses[array]
        read = {edge.array for edge in graph.inputs[label] if edge.array in left}
        for array in read:
            left[array] -= 1
        if not whole.add(signatures[label], [array for array in read if left[array]]):
            return Refusal(Rule.D1, (label,), "no rule fuses {0} with what comes before it")
    return whole.signature


def cluster_refusal(
    graph: Graph, cluster: Cluster, duplicate: Duplicate, known: dict[tuple[Label, Traversal], Signature] | None = None
) -> Refusal | None:
    """Why this is no legal cluster, or None if it is one; dependences between clusters apart.

    `known`: signatures of operations of this graph, for who asks often; what is not in it is added.
    """
    traversals = cluster.members
    for label, traversal in traversals.items():
        node = graph.node[label]
        if node.kind is Kind.BARRIER and len(traversals) > 1:
            return Refusal(Rule.BARRIER, (label,), "{0} never shares a loop")
        refusal = _order_refusal(graph, node, traversal) or _fed_only(graph, node, traversals)
        if refusal is not None:
            return refusal
    if len(traversals) == 1:
        return None
    known = {} if known is None else known
    for label, traversal in traversals.items():
        if (label, traversal) not in known:
            known[label, traversal] = singleton(graph, graph.node[label], traversal)
    signatures = {label: known[label, traversal] for label, traversal in traversals.items()}
    signature = _derive(graph, signatures)
    if isinstance(signature, Refusal):
        return signature
    for array, made in sorted(signature.outputs, key=lambda output: (output[0].label, output[0].leaf)):
        if made is not None and made.gather is not None and made.gather not in graph.whole:
            return Refusal(Rule.D2, (array.label, made.gather), "{0} is stored, but made in the order of {1}")
    if not _is_connected(traversals, signatures):
        return Refusal(Rule.D3, (), "nothing connects the parts")
    return _unled(graph, traversals) or nest_refusal(graph, traversals, duplicate)


def refusal(graph: Graph, clustering: Clustering, duplicate: Duplicate) -> Refusal | None:
    """Why this clustering is illegal, or None if it is legal."""
    position: dict[Label, int] = {}
    for number, cluster in enumerate(clustering.clusters):
        for label in cluster.labels:
            if label in position or label not in graph.node:
                return Refusal(Rule.PARTITION, (label,), "{0} is in no program or in two clusters")
            position[label] = number
        reason = cluster_refusal(graph, cluster, duplicate)
        if reason is not None:
            return replace(reason, cluster=cluster)
    missing = [node.label for node in graph.nodes if node.label not in position]
    if missing:
        return Refusal(Rule.PARTITION, (missing[0],), "{0} is in no cluster")
    for earlier, later in graph.arcs:
        if position[earlier] > position[later]:
            return Refusal(Rule.D4, (later, earlier), "{0} needs {1}, which comes after it")
    for earlier, later in graph.before:
        if position[earlier] == position[later]:
            return Refusal(Rule.D4, (earlier, later), "{0} must be done before {1} begins")
    return None
