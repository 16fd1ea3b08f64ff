"""[Rob]'s own clustering, by the letter of sections 1.3.6 and 1.4, over all partitions: sizes, concestors, weights.

One thing is not by the letter. `concestors` (Fig. 1.8) asks for `trans` of a filter, which is the filter itself (Fig. 1.7), and
would never end; the text says that a combinator's parent transducer has its *iteration* size as result size: that is `trans'`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

from accel.ilp.problem.graph import Graph, Node
from accel.labelled.array import Label
from accel.labelled.operations import Kind, Role
from tests.papers.fusion_models import Partition, is_acyclic, partitions, separated, weight

Pair: TypeAlias = frozenset[Label]


def parents(graph: Graph, label: Label) -> frozenset[Label]:
    """`trans'` of Fig. 1.7: the filters whose result size is the size that an operation visits."""
    node = graph.node[label]
    match node.kind:
        case Kind.FOLD | Kind.FILTER | Kind.MAP | Kind.GATHER:
            inputs = [edge.array.label for edge in graph.inputs[label] if edge.role is Role.STREAM]
            return frozenset[Label]().union(*(_transducers(graph, made) for made in inputs))
        case Kind.GENERATE | Kind.BARRIER | Kind.SCATTER | Kind.SCAN | Kind.SEGMENTS:
            return frozenset()


def _transducers(graph: Graph, label: Label) -> frozenset[Label]:
    """`trans` of Fig. 1.7."""
    if graph.node[label].kind is Kind.FILTER:
        return frozenset({label})
    return parents(graph, label)


def concestors(graph: Graph, first: Label, second: Label) -> tuple[Label, Label] | None:
    """Fig. 1.8: the nearest pair of ancestors that visit one size."""
    found = _nearest(graph, first, second)
    return found[1:] if found is not None else None


def _nearest(graph: Graph, first: Label, second: Label) -> tuple[int, Label, Label] | None:
    """`concestors'`: with the distance in front."""
    if graph.node[first].iteration == graph.node[second].iteration:
        return 0, first, second
    found = [_nearest(graph, parent, second) for parent in parents(graph, first)]
    found += [_nearest(graph, first, parent) for parent in parents(graph, second)]
    near = [pair for pair in found if pair is not None]
    if not near:
        return None
    distance, left, right = min(near, key=lambda pair: pair[0])
    return distance + 1, left, right


@dataclass(frozen=True)
class Robinson:
    """The integer program of Fig. 1.14 over one graph."""

    graph: Graph

    @property
    def operations(self) -> tuple[Node, ...]:
        """The nodes that are no externals."""
        return self.graph.operations

    @cached_property
    def apart(self) -> frozenset[Pair]:
        """Pairs with a fusion-preventing path between them."""
        return separated(self.graph)

    @cached_property
    def possible(self) -> frozenset[Pair]:
        """The other pairs (Fig. 1.13)."""
        pairs = (frozenset(pair) for pair in combinations((node.label for node in self.operations), 2))
        return frozenset(pair for pair in pairs if pair not in self.apart)

    def possible_sets(self) -> set[frozenset[str]]:
        """The largest sets of operations that are pairwise possible, by name (section 1.5.1)."""
        labels = [node.label for node in self.operations]
        sets = [
            frozenset(chosen)
            for count in range(1, len(labels) + 1)
            for chosen in combinations(labels, count)
            if all(frozenset(pair) in self.possible for pair in combinations(chosen, 2))
        ]
        largest = [chosen for chosen in sets if not any(chosen < other for other in sets)]
        return {frozenset(self.graph.node[label].name for label in chosen) for chosen in largest}

    def is_legal(self, partition: Partition) -> bool:
        """All rows of section 1.4.3: order, fusion-preventing edges, iteration sizes."""
        block_of = {label: block for block in partition for label in block}

        def fused(first: Label, second: Label) -> bool:
            return block_of[first] is block_of[second]

        for first, second in combinations(block_of, 2):
            if not fused(first, second):
                continue
            pair = concestors(self.graph, first, second)
            if frozenset({first, second}) in self.apart or pair is None:
                return False
            left, right = pair
            if not (fused(first, left) and fused(second, right) and fused(left, right)):
                return False
        return is_acyclic(partition, self.graph.arcs)

    def objective(self, partition: Partition) -> int:
        """Fig. 1.12, without what no clustering changes: pairs that are not possible, and externals."""
        block_of = {label: block for block in partition for label in block}
        of = weight(self.graph)
        unfused = sum(of(*sorted(pair)) for pair in self.possible if len({block_of[label] for label in pair}) == 2)
        arrays = [array for node in self.operations for array in node.arrays if array.shape]
        kept = sum(
            any(block_of.get(edge.consumer) is not block_of[array.label] for edge in self.graph.readers[array])
            for array in arrays
        )
        return unfused + len(self.operations) * kept

    def best(self) -> tuple[int, list[Partition]]:
        """The least objective, and every partition that has it."""
        legal = [each for each in partitions([node.label for node in self.operations]) if self.is_legal(each)]
        least = min(map(self.objective, legal))
        return least, [each for each in legal if self.objective(each) == least]
