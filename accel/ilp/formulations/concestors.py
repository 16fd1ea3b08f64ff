"""Iteration sizes: which operations of different sizes may share a loop, and with which others [Rob section 1.3.6, Fig. 1.8].

A filter is a transducer: its output has another size than its loop. Two operations of different sizes may be fused if their
most recent ancestors of one size, the compatible concestors, are fused with each other and with them. Beyond the paper, sizes
are shapes, and of one size are a shape and its prefix, and n and n+1 of an exclusive scan (docs/ilp.md, E4).
"""

from __future__ import annotations

from accel.ilp.facts.spaces import Spaces
from accel.ilp.problem.graph import Graph, Node
from accel.labelled.array import Label

Concestors = tuple[Label, Label]


class Sizes:
    """The iteration sizes of a graph's operations."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._spaces = graph, Spaces(graph)

    def transducers(self, label: Label) -> list[Node]:
        """An operation, the filter that makes its size, the one that makes that filter's, and so on: `trans`, repeated."""
        chain = [self._graph.node[label]]
        while True:
            maker = self._spaces.filter_of(chain[-1])
            if maker is None or not self._spaces.is_plain(chain[-1], maker):
                return chain
            chain.append(maker)

    def concestors(self, a: Label, b: Label) -> Concestors | None:
        """The closest pair of ancestors of a and b, or a and b themselves, of one size; None if there is none.

        None, too, if one visits the other's filtered elements in any other way than one by one (E2).
        """
        for label, filtering in ((a, b), (b, a)):
            node, maker = self._graph.node[label], self._graph.node[filtering]
            if self._spaces.filter_of(node) is maker and not self._spaces.is_plain(node, maker):
                return None
        pairs = [
            (up_a + up_b, up_a, ancestor.label, other.label)
            for up_a, ancestor in enumerate(self.transducers(a))
            for up_b, other in enumerate(self.transducers(b))
            if self._spaces.agree(ancestor.iteration, other.iteration)
        ]
        if not pairs:
            return None
        _, _, first, second = min(pairs)
        return first, second
