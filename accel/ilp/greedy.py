"""Greedy clustering: merge the pair of clusters that saves most, as long as one saves anything [Kri section V-C].

Every cluster takes part in at most one merge per round, so that clusters grow evenly and long programs take little more
than linear time; in short programs a cluster waits for its best partner. Every step is judged by the legality checker and
by exact prices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations, pairwise

from accel.ilp.checker import cluster_refusal
from accel.ilp.clustering import Cluster
from accel.ilp.coarse import only_reader
from accel.ilp.cost import CostModel
from accel.ilp.graph import ORDERED, Graph, Kind
from accel.ilp.options import Duplicate
from accel.ilp.orders import assign
from accel.ilp.price import Prices
from accel.labelled.nodes import Label

_SEARCH_LIMIT = 2000
"""Clusters looked at to find a circle; where that is not enough, two clusters stay apart."""

_PATIENT = 64
"""With no more clusters than this, one that could not have its best partner in a round waits for the next."""

_ALL_PAIRS_OF_READERS = 16
"""Of an array with more readers only neighbours are tried."""


def chains(graph: Graph) -> list[list[Label]]:
    """Runs of maps of which each reads all that the one before makes, and nobody else does: fusing them is never illegal."""
    earlier = {first for first, _ in graph.before}
    run_of: dict[Label, list[Label]] = {}
    runs: list[list[Label]] = []
    for node in graph.operations:
        run = run_of.get(node.label)
        if run is None:
            run = [node.label]
            runs.append(run)
        heir = None if node.label in earlier else only_reader(graph, node)
        if heir is not None and heir not in run_of:
            run.append(heir)
            run_of[heir] = run
    return runs


def candidates(graph: Graph) -> Iterator[tuple[Label, Label]]:
    """Pairs of operations that might share something: maker and reader, or two readers."""
    operations = {node.label for node in graph.operations}
    for array, edges in graph.readers.items():
        readers = sorted({edge.consumer for edge in edges if edge.role in ORDERED and edge.consumer in operations})
        if array.label in operations:
            yield from ((array.label, reader) for reader in readers)
        yield from combinations(readers, 2) if len(readers) <= _ALL_PAIRS_OF_READERS else pairwise(readers)


class _Merger:
    """Clusters that grow: which cluster a label is in, its price, and the arcs between clusters."""

    def __init__(
        self, graph: Graph, groups: Collection[Collection[Label]], prices: Prices, duplicate: Duplicate
    ) -> None:
        self.graph, self.price, self.duplicate = graph, prices, duplicate
        self.cluster: dict[Label, Cluster] = {}
        self.home: dict[Label, Label] = {}
        alone = [(node.label,) for node in graph.nodes if node.kind is Kind.BARRIER]
        for group in [*groups, *alone]:
            cluster = assign(graph, group)
            assert cluster is not None
            name = cluster.labels[0]
            self.cluster[name] = cluster
            self.home |= dict.fromkeys(cluster.labels, name)
        self.after: dict[Label, set[Label]] = {name: set() for name in self.cluster}
        self.ahead: dict[Label, set[Label]] = {name: set() for name in self.cluster}
        for earlier, later in graph.arcs:
            first, second = self.home[earlier], self.home[later]
            if first != second:
                self.after[first].add(second)
                self.ahead[second].add(first)
        self.apart: dict[Label, set[Label]] = {name: set() for name in self.cluster}
        for earlier, later in graph.before:
            self.apart[self.home[earlier]].add(self.home[later])
            self.apart[self.home[later]].add(self.home[earlier])
        self.prices = {name: prices(cluster) for name, cluster in self.cluster.items()}
        self.tried: dict[tuple[tuple[Label, ...], tuple[Label, ...]], tuple[tuple[int, ...], Cluster] | None] = {}

    def merged(self, first: Label, second: Label) -> tuple[tuple[int, ...], Cluster] | None:
        """What merging two clusters saves, and what comes out, or None if that is illegal."""
        one, two = self.cluster[first].labels, self.cluster[second].labels
        if second in self.apart[first]:
            return None
        if (one, two) not in self.tried:
            whole = assign(self.graph, (*one, *two))
            if whole is None or cluster_refusal(self.graph, whole, self.duplicate) is not None:
                self.tried[one, two] = None
            else:
                before = zip(self.prices[first], self.prices[second], self.price(whole), strict=True)
                self.tried[one, two] = tuple(a + b - c for a, b, c in before), whole
        return self.tried[one, two]

    def makes_circle(self, first: Label, second: Label) -> bool:
        """Whether something else stands between the two, or may."""
        return self._reaches(first, second) or self._reaches(second, first)

    def _reaches(self, start: Label, goal: Label) -> bool:
        pending = [name for name in self.after[start] if name != goal]
        seen = set(pending)
        while pending:
            if len(seen) > _SEARCH_LIMIT:
                return True
            for name in self.after[pending.pop()]:
                if name == goal:
                    return True
                if name not in seen:
                    seen.add(name)
                    pending.append(name)
        return False

    def merge(self, first: Label, second: Label, whole: Cluster) -> None:
        """Put `second` into `first`, which has the lower label."""
        self.cluster[first] = whole
        del self.cluster[second]
        self.home |= dict.fromkeys(whole.labels, first)
        self.prices[first] = self.price(whole)
        for links, back in ((self.after, self.ahead), (self.ahead, self.after), (self.apart, self.apart)):
            for name in links.pop(second):
                back[name].discard(second)
                if name != first:
                    back[name].add(first)
                    links[first].add(name)
            links[first].discard(second)

    def round(self, pairs: Collection[tuple[Label, Label]]) -> bool:
        """Merge disjoint pairs, the most saving first; whether there was one."""
        offers = []
        for first, second in pairs:
            result = self.merged(first, second)
            if result is not None and result[0] > (0,) * len(result[0]):
                offers.append((tuple(-saving for saving in result[0]), first, second, result[1]))
        offers.sort(key=lambda offer: offer[:3])
        patient = len(self.cluster) <= _PATIENT
        touched: set[Label] = set()
        merged = False
        for _, first, second, whole in offers:
            if first in touched or second in touched:
                touched |= {first, second} if patient else set()
            elif not self.makes_circle(first, second):
                self.merge(first, second, whole)
                touched |= {first, second}
                merged = True
        return merged


def merge_greedily(graph: Graph, prices: Prices, duplicate: Duplicate) -> list[Cluster]:
    """Clusters of all operations and barriers, in no particular order."""
    # Weights count nothing that fusing a chain adds to; what a function thinks of it must be asked.
    groups = chains(graph) if isinstance(prices.cost, CostModel) else [[node.label] for node in graph.operations]
    merger = _Merger(graph, groups, prices, duplicate)
    pairs = list(candidates(graph))
    while True:
        homes: Mapping[Label, Label] = merger.home
        between = {(min(homes[a], homes[b]), max(homes[a], homes[b])) for a, b in pairs if homes[a] != homes[b]}
        if not merger.round(sorted(between)):
            return list(merger.cluster.values())
