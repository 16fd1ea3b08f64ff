"""The strategy `unintrusive`: only merges that take nothing from others [Kri section V-B, Definition 18, Fig. 6].

A merge of two clusters is unintrusive if one of them could gain by no other merge (its degree among the edges that save
something is 1), and if both, and what they become, are kept apart from the same clusters: those to which a path of
dependences leads, either way, over a pair that may not fuse.
"""

from __future__ import annotations

from accel.ilp.facts.reach import reach
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.price import Prices
from accel.ilp.strategies.contracted import contracted
from accel.ilp.strategies.found import Found
from accel.ilp.strategies.greedy import Savings
from accel.ilp.strategies.partition import Partition, data_pairs, reader_pairs
from accel.labelled.array import Label
from accel.support.choices import Duplicate

_LARGE = 256
"""In graphs with more operations, chains counting one, no cluster grows beyond `_LONGEST`: judging it would take too long."""

_LONGEST = 32


def unintrusive(graph: Graph, prices: Prices, duplicate: Duplicate) -> Found:
    """All unintrusive merges, found as in [Kri Fig. 6]; each saves something. It takes little more than linear time."""
    contraction = contracted(graph, prices, duplicate)
    search = _Search(contraction.graph, contraction.prices, duplicate)
    while search.round():
        pass
    return Found(tuple(contraction.refine(cluster) for cluster in search.partition.cluster.values()))


class _Search:
    """The partition, and for each of its clusters those that it is kept apart from, as bits."""

    def __init__(self, graph: Graph, prices: Prices, duplicate: Duplicate) -> None:
        self.partition = Partition(graph, duplicate)
        self._savings = Savings(self.partition, prices)
        self._longest = _LONGEST if len(graph.operations) > _LARGE else len(graph.operations)
        self._pairs = [*data_pairs(graph), *reader_pairs(graph, near=1)]
        self._bit = {node.label: 1 << number for number, node in enumerate(graph.nodes)}
        self._apart = self._find_apart([node.label for node in graph.nodes])
        self._near: dict[Label, set[Label]] = {label: set() for label in self._bit}
        for one, two in self._pairs:
            self._near[one].add(two)
            self._near[two].add(one)

    def _find_apart(self, labels: list[Label]) -> dict[Label, int]:
        """[Kri Definition 18]: the non-fusible set of every operation."""
        found = dict.fromkeys(labels, 0)
        for order, links in ((labels[::-1], self.partition.after), (labels, self.partition.ahead)):
            _, apart = reach(order, self._bit, links.__getitem__, self._may_fuse)
            found = {label: bits | apart[label] for label, bits in found.items()}
        return found

    def _may_fuse(self, first: Label, second: Label) -> bool:
        return self.partition.whole((first, second)) is not None

    def round(self) -> bool:
        """Merge what can be merged; whether there was something."""
        merged = False
        for one, two in self._pairs:
            first, second = sorted((self.partition.home[one], self.partition.home[two]))
            if first != second and self._is_unintrusive(first, second):
                offer = self._savings.of(first, second)
                assert offer is not None, "it is an edge that saves something"
                self.partition.merge((first, second), offer[1])
                self._near[first] |= self._near.pop(second)
                merged = True
        return merged

    def _is_unintrusive(self, first: Label, second: Label) -> bool:
        if self._apart[first] != self._apart[second] or not self._saves(first, second):
            return False
        if self._degree(first) > 1 and self._degree(second) > 1:
            return False
        return self._stays_apart(first, second)

    def _saves(self, first: Label, second: Label) -> bool:
        """Whether this is an edge of [Kri Definition 15]: legal, and saves something."""
        sizes = [len(self.partition.cluster[name].labels) for name in (first, second)]
        if sum(sizes) > self._longest or self._apart[first] & self._bit[second]:
            return False
        return self._savings.of(first, second) is not None and self.partition.is_next_to(first, second)

    def _degree(self, name: Label) -> int:
        """How many clusters could be merged with this one and save something: 2 stands for more."""
        found = 0
        for other in {self.partition.home[label] for label in self._near[name]} - {name}:
            found += self._saves(*sorted((name, other)))
            if found > 1:
                break
        return found

    def _stays_apart(self, first: Label, second: Label) -> bool:
        """Whether the two together may fuse with all neighbours with which each of them may by itself."""
        around = (self.partition.after, self.partition.ahead)
        near = {name for links in around for end in (first, second) for name in links[end]} - {first, second}
        free = [name for name in near if not self._apart[first] & self._bit[name]]
        return all(self.partition.whole((first, second, name)) is not None for name in sorted(free))
