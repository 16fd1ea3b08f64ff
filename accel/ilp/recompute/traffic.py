"""What recomputation moves more, beyond what clusters read and store: reads by index."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.recompute.candidates import Candidates, Pair, outgoing
from accel.labelled.array import Array, Label, Shape
from accel.labelled.operations import Role


class Traffic:
    """What recomputations change of the reads by index, which cost the same in every clustering otherwise."""

    def __init__(self, found: Candidates, level: CostLevel, weights: Weights) -> None:
        self._graph, self._found, self._level, self._weights = found.graph, found, level, weights

    def _loads(self, array: Array, iteration: Shape, passes: int) -> int:
        """Passes over an array, each over no more than there is."""
        elements = min(self._weights.elements(array.shape), self._weights.elements(iteration))
        return passes * self._weights.read_of(self._level, array, elements)

    def recomputed(self, pair: Pair) -> int:
        """What is read more by index if the reader computes what the maker makes: its inputs, less what it loaded of it."""
        label, consumer = pair
        graph, maker, reader = self._graph, self._graph.node[label], self._graph.node[consumer]
        edges = [edge for edge in outgoing(graph, label) if edge.consumer == consumer]
        loads = [edge for edge in edges if edge.role is Role.INDEX]
        passes = sum(edge.passes for edge in loads)
        saved = sum(self._loads(edge.array, reader.iteration, edge.passes) for edge in loads)
        paid = 0
        for edge in graph.inputs[label] if loads else ():
            each = 1 if edge.role is Role.STREAM else edge.passes
            paid += self._loads(edge.array, reader.iteration, passes * each)
        more = max(0, paid - saved)
        if len(loads) < len(edges):
            is_gathered = any(edge.role is Role.SOURCE for edge in edges)
            more += self._own(label, reader.iteration if is_gathered else maker.iteration)
        return more

    def _own(self, label: Label, iteration: Shape) -> int:
        edges = [edge for edge in self._graph.inputs[label] if edge.role is Role.INDEX]
        return sum(self._loads(edge.array, iteration, edge.passes) for edge in edges)

    def gone(self, label: Label) -> int:
        """What a maker reads by index, and no longer does once it is gone: at most as much as one of its recomputations."""
        each = [self.recomputed(pair) for pair in self._found.pairs if pair[0] == label]
        return min(self._own(label, self._graph.node[label].iteration), *each)


def moved(
    found: Candidates, chosen: Collection[Pair], levels: Iterable[CostLevel], weights: Weights
) -> tuple[int, ...]:
    """What is read more by index with the pairs `chosen` of what was found."""
    costs = []
    for level in levels:
        traffic = Traffic(found, level, weights)
        costs.append(sum(map(traffic.recomputed, chosen)) - sum(map(traffic.gone, found.gone(chosen))))
    return tuple(costs)
