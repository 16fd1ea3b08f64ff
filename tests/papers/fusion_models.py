"""Small models of the systems that the papers compare with: which operations would they put into one loop?

All count over the same dependency graphs as accel does. [Rob]'s own formulation is in `robinson_model.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from accel.ilp.problem.graph import Graph
from accel.labelled.array import Label
from accel.labelled.operations import Kind, Role

Block: TypeAlias = frozenset[Label]
Partition: TypeAlias = tuple[Block, ...]


def partitions(labels: Sequence[Label]) -> Iterator[Partition]:
    """All ways to divide a set, each once."""
    chosen: list[tuple[Block, ...]] = [()]
    for label in labels:
        chosen = [grown for blocks in chosen for grown in _with(blocks, label)]
    yield from chosen


def _with(blocks: Partition, label: Label) -> Iterator[Partition]:
    for number, block in enumerate(blocks):
        yield (*blocks[:number], block | {label}, *blocks[number + 1 :])
    yield (*blocks, frozenset({label}))


def is_acyclic(partition: Partition, arcs: Iterable[tuple[Label, Label]]) -> bool:
    """Whether the blocks can stand in an order in which everything is made before it is read."""
    block_of = {label: number for number, block in enumerate(partition) for label in block}
    pending = {
        (block_of.get(first, -1 - first), block_of.get(second, -1 - second))
        for first, second in arcs
        if block_of.get(first, -1 - first) != block_of.get(second, -1 - second)
    }
    while pending:
        waiting = {second for _, second in pending}
        left = {(first, second) for first, second in pending if first in waiting}
        if left == pending:
            return False
        pending = left
    return True


def unfused(graph: Graph) -> Partition:
    """Every operation by itself."""
    return tuple(frozenset({node.label}) for node in graph.operations)


def stream_fusion(graph: Graph) -> Partition:
    """Pull streams [Coutts et al. 2007; Rob section 1.5.1]: a producer disappears into its only consumer, nothing else."""
    blocks = {node.label: frozenset({node.label}) for node in graph.operations}
    for node in graph.operations:
        edges = [edge for array in node.arrays for edge in graph.readers[array]]
        if len(edges) != 1 or any(array in graph.results for array in node.arrays):
            continue
        (edge,) = edges
        if edge.role is Role.STREAM and edge.consumer in blocks:
            joined = blocks[node.label] | blocks[edge.consumer]
            blocks |= dict.fromkeys(joined, joined)
    return tuple(dict.fromkeys(blocks.values()))


def preventing_arcs(graph: Graph) -> frozenset[tuple[Label, Label]]:
    """Dependences that need the whole array: all but streams between operations."""
    operations = {node.label for node in graph.operations}
    streams = {(edge.array.label, edge.consumer) for edge in graph.edges if edge.role is Role.STREAM}
    return frozenset(arc for arc in graph.arcs if arc not in streams or not set(arc) <= operations)


def separated(graph: Graph) -> frozenset[frozenset[Label]]:
    """Pairs with a path between them that has a fusion-preventing edge [Rob section 1.4.5]."""
    preventing = preventing_arcs(graph)
    found: set[tuple[Label, Label]] = set()
    for start in graph.node:
        seen: set[tuple[Label, bool]] = set()
        pending = [(start, False)]
        while pending:
            here, prevented = pending.pop()
            for first, second in graph.arcs:
                step = second, prevented or (first, second) in preventing
                if first == here and step not in seen:
                    seen.add(step)
                    pending.append(step)
        found |= {(start, label) for label, prevented in seen if prevented}
    return frozenset(frozenset(pair) for pair in found)


def weight(graph: Graph) -> Callable[[Label, Label], int]:
    """W of [Rob Fig. 1.12]: N² for pairs joined by an edge or with an input in common, else 1."""
    number = len(graph.operations)
    arrays = {
        node.label: {edge.array for edge in graph.inputs[node.label] if edge.role is Role.STREAM}
        for node in graph.nodes
    }
    made = {node.label: set(node.arrays) for node in graph.nodes}

    def of(first: Label, second: Label) -> int:
        shared = arrays[first] & arrays[second]
        joined = made[first] & arrays[second] or made[second] & arrays[first]
        return number**2 if shared or joined else 1

    return of


def megiddo(graph: Graph) -> Partition:
    """[Megiddo and Sarkar 1997] as [Rob section 1.1] describes it: loops of one size only; weighted pairs, no contraction.

    A filter's loop visits its input, its readers' loops visit its result: they never fuse.
    """
    apart, of = separated(graph), weight(graph)

    def legal(block: Block) -> bool:
        one_size = len({graph.node[label].iteration for label in block}) == 1
        return one_size and not any(frozenset(pair) in apart for pair in combinations(block, 2))

    def cost(partition: Partition) -> int:
        block_of = {label: block for block in partition for label in block}
        pairs = combinations(sorted(block_of), 2)
        return sum(of(first, second) for first, second in pairs if block_of[first] is not block_of[second])

    candidates = (
        partition
        for partition in partitions([node.label for node in graph.operations])
        if all(map(legal, partition)) and is_acyclic(partition, graph.arcs)
    )
    return min(candidates, key=cost)


def accesses(graph: Graph, partition: Partition) -> tuple[Counter[int], Counter[int]]:
    """What the loops read and write, by rank: distinct arrays that a loop reads from outside; arrays that outlive it."""
    reads: Counter[int] = Counter()
    writes: Counter[int] = Counter()
    for block in partition:
        made = {array for label in block for array in graph.node[label].arrays}
        read = {edge.array for label in block for edge in graph.inputs[label]} - made
        stored = {
            array
            for array in made
            if array in graph.results or any(edge.consumer not in block for edge in graph.readers[array])
        }
        reads.update(len(array.shape) for array in read)
        writes.update(len(array.shape) for array in stored)
    return reads, writes


def loops(graph: Graph, partition: Partition) -> int:
    """How many blocks visit an array; scalars need no loop."""
    return sum(any(graph.node[label].iteration for label in block) for block in partition)


def barriers(graph: Graph) -> int:
    """How many externals and inputs there are."""
    return sum(node.kind is Kind.BARRIER for node in graph.nodes)
