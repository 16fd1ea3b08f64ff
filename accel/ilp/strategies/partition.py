"""A partition graph: clusters that grow, and the dependences between them [Kri Definitions 14 to 17].

A cluster is called by its lowest label. Nothing is merged that the legality checker refuses, or that would make clusters wait
for each other. Each has a level, higher than those of all that it depends on: what stands between two clusters has a
level between theirs, and is found without a look at the rest of the graph.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping

from accel.ilp.legality.checker import Signature, cluster_refusal
from accel.ilp.problem.clustering import Cluster, Traversal
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.traversals import assign
from accel.labelled.array import Label
from accel.labelled.operations import ORDERED, Kind
from accel.support.choices import Duplicate

_SEARCH_LIMIT = 2000
"""Clusters looked at to find what stands between two; where that is not enough, they stay apart."""

_ALL_PAIRS_OF_READERS = 16
"""Of an array with more readers only those are tried that are near each other."""

_NEAR = 4
"""How many of the readers that follow one are near it. Where readers that can never share a loop take turns, the next one
alone is never one that it could join."""


def data_pairs(graph: Graph) -> list[tuple[Label, Label]]:
    """Pairs (maker, reader) of operations, by labels."""
    operations = {node.label for node in graph.operations}
    return sorted(
        {
            (edge.array.label, edge.consumer)
            for edge in graph.edges
            if edge.role in ORDERED and edge.array.label in operations and edge.consumer in operations
        }
    )


def reader_pairs(graph: Graph, near: int = _NEAR) -> list[tuple[Label, Label]]:
    """Pairs of operations that read one array, by labels; of an array with many readers, each with so many that follow it."""
    operations = {node.label for node in graph.operations}
    found: set[tuple[Label, Label]] = set()
    for edges in graph.readers.values():
        readers = sorted({edge.consumer for edge in edges if edge.role in ORDERED and edge.consumer in operations})
        reach = near if len(readers) > _ALL_PAIRS_OF_READERS else len(readers)
        for distance in range(1, reach + 1):
            found.update(zip(readers, readers[distance:], strict=False))
    return sorted(found)


class Partition:
    """Clusters, which of them a label is in, and the arcs between them."""

    def __init__(self, graph: Graph, duplicate: Duplicate, groups: Iterable[Collection[Label]] | None = None) -> None:
        """`groups`: what stands together from the start, legally; None for every operation by itself."""
        self.graph, self.duplicate = graph, duplicate
        self._signatures: dict[tuple[Label, Traversal], Signature] = {}
        self._legal: dict[tuple[Label, ...], bool] = {}
        self.cluster: dict[Label, Cluster] = {}
        self.home: dict[Label, Label] = {}
        kept = [(node.label,) for node in graph.operations] if groups is None else groups
        for group in [*kept, *((node.label,) for node in graph.nodes if node.kind is Kind.BARRIER)]:
            cluster = assign(graph, group)
            assert cluster is not None
            self.cluster[cluster.labels[0]] = cluster
            self.home |= dict.fromkeys(cluster.labels, cluster.labels[0])
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
        self.level = _levels(self.after, self.ahead)

    def pairs(self, of: Iterable[tuple[Label, Label]]) -> Iterator[tuple[Label, Label]]:
        """The clusters of pairs of operations, the lower one first, each pair once."""
        seen: set[tuple[Label, Label]] = set()
        for one, two in of:
            first, second = sorted((self.home[one], self.home[two]))
            if first != second and (first, second) not in seen:
                seen.add((first, second))
                yield first, second

    def whole(self, names: Collection[Label]) -> Cluster | None:
        """The cluster that some clusters would be together; None if it is not legal."""
        cluster = self.assigned(names)
        return cluster if cluster is not None and self.is_legal(cluster) else None

    def assigned(self, names: Collection[Label]) -> Cluster | None:
        """The cluster that some clusters would be together, if that is legal; None if it is plain that it is not."""
        for name in names:
            if not self.apart[name].isdisjoint(names):
                return None
        return assign(self.graph, [label for name in names for label in self.cluster[name].labels])

    def is_legal(self, cluster: Cluster) -> bool:
        """Whether the checker lets a cluster be; each is judged once."""
        found = self._legal.get(cluster.labels)
        if found is None:
            found = cluster_refusal(self.graph, cluster, self.duplicate, self._signatures) is None
            self._legal[cluster.labels] = found
        return found

    def between(self, first: Label, second: Label) -> set[Label] | None:
        """The clusters on paths from one of the two to the other, or None if there are too many to look at."""
        seen = self._seen(first, second)
        if seen is None:
            return None
        within, links, start = seen
        return _reached(links, start, within)

    def is_next_to(self, first: Label, second: Label) -> bool:
        """Whether no cluster stands between two, as far as was looked."""
        seen = self._seen(first, second, until_they_meet=True)
        if seen is None:
            return False
        within, links, start = seen
        return links[start].isdisjoint(within)

    def _seen(
        self, first: Label, second: Label, until_they_meet: bool = False
    ) -> tuple[set[Label], Mapping[Label, set[Label]], Label] | None:
        """All that is seen from one of two clusters of what may stand between them, and the other's links and name.

        From that one from which less can be seen. None if that is too much to look at, or if the two see the same and that is
        all that was to be found out.
        """
        first, second = sorted((first, second), key=self.level.__getitem__)
        low, high = self.level[first], self.level[second]
        sides = (self.after, first), (self.ahead, second)
        if high - low < 2:
            return set(), *sides[1]
        seen = [{name for name in links[start] if low < self.level[name] < high} for links, start in sides]
        pending = [list(names) for names in seen]
        if until_they_meet and not seen[0].isdisjoint(seen[1]):
            return None
        while pending[0] and pending[1]:
            if min(map(len, seen)) > _SEARCH_LIMIT:
                return None
            for side, (links, _) in enumerate(sides):
                for name in links[pending[side].pop()]:
                    if name not in seen[side] and low < self.level[name] < high:
                        if until_they_meet and name in seen[1 - side]:
                            return None
                        seen[side].add(name)
                        pending[side].append(name)
        done = 0 if not pending[0] else 1
        return seen[done], *sides[1 - done]

    def merge(self, names: Collection[Label], whole: Cluster) -> Label:
        """Replace clusters, all that stands between them included, by what they are together; its name."""
        kept = min(names)
        self.cluster[kept] = whole
        highest = max(self.level[name] for name in names)
        for gone in sorted(set(names) - {kept}):
            del self.cluster[gone]
            for links, back in ((self.after, self.ahead), (self.ahead, self.after), (self.apart, self.apart)):
                for name in links.pop(gone):
                    back[name].discard(gone)
                    if name != kept:
                        back[name].add(kept)
                        links[kept].add(name)
                links[kept].discard(gone)
        self.home |= dict.fromkeys(whole.labels, kept)
        self._raise(kept, highest)
        return kept

    def _raise(self, name: Label, level: int) -> None:
        """A cluster's new level, and those of the clusters after it, as far as they are too low; each is visited once."""
        new = {name: level}
        pending = [(level, name)]
        while pending:
            # In the order of their old levels, in which each comes after all that it depends on.
            _, name = heapq.heappop(pending)
            self.level[name] = new[name]
            for later in self.after[name]:
                if new.get(later, self.level[later]) <= new[name]:
                    if later not in new:
                        heapq.heappush(pending, (self.level[later], later))
                    new[later] = new[name] + 1


def _levels(after: Mapping[Label, set[Label]], ahead: Mapping[Label, set[Label]]) -> dict[Label, int]:
    """How many clusters stand before each on the longest path to it."""
    waits = {name: len(names) for name, names in ahead.items()}
    level = dict.fromkeys((name for name, count in waits.items() if not count), 0)
    pending = list(level)
    while pending:
        name = pending.pop()
        for later in after[name]:
            level[later] = max(level.get(later, 0), level[name] + 1)
            waits[later] -= 1
            if not waits[later]:
                pending.append(later)
    return level


def _reached(links: Mapping[Label, set[Label]], start: Label, within: set[Label]) -> set[Label]:
    """What can be reached inside of a set."""
    found = links[start] & within
    pending = list(found)
    while pending:
        fresh = (links[pending.pop()] & within) - found
        found |= fresh
        pending += fresh
    return found
