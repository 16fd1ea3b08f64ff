"""All legal clusters of a part of the graph, with what they cost: what `branch_and_bound` chooses from.

A cluster is connected by pairs of operations that may share something, so sets are grown along such pairs, each set once, and
not beyond two operations that a path with an arc that never fuses keeps apart [Kri Definition 18].
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from accel.ilp.facts.analysis import Analysis
from accel.ilp.facts.reach import reach
from accel.ilp.legality.checker import cluster_refusal
from accel.ilp.problem.clustering import Cluster
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.price import Prices
from accel.ilp.problem.traversals import assign
from accel.labelled.array import Label
from accel.support.choices import Duplicate
from accel.support.dataclass import dataclass

_MOST = 100_000
"""With more legal clusters than this the search is given up."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A legal cluster: its members as bits, and its cost; a barrier has none."""

    members: int
    cluster: Cluster
    cost: tuple[int, ...]


def places(bits: int) -> Iterator[int]:
    """The places of the ones of a number, rising."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class Neighbours:
    """The operations of a part as bits: which depend on which, which may share something, which are kept apart."""

    def __init__(self, facts: Analysis, part: tuple[Label, ...]) -> None:
        self.labels = part
        self.bit = {label: 1 << number for number, label in enumerate(part)}
        self.after = dict.fromkeys(part, 0)
        self.near = dict.fromkeys(part, 0)
        for first, second in facts.arcs:
            if first in self.bit and second in self.bit:
                self.after[first] |= self.bit[second]
                if (first, second) not in facts.infusible:
                    self._join(first, second)
        for number, i, j in facts.shares:
            (first, _), (second, _) = facts.bundles[number].readers[i], facts.bundles[number].readers[j]
            if first in self.bit:
                self._join(first, second)
        self.reach, self.apart = reach(
            reversed(part),
            self.bit,
            lambda label: self.members(self.after[label]),
            lambda first, second: (first, second) not in facts.infusible,
        )
        for label in part:
            for other in self.members(self.apart[label]):
                self.apart[other] |= self.bit[label]

    def _join(self, first: Label, second: Label) -> None:
        self.near[first] |= self.bit[second]
        self.near[second] |= self.bit[first]

    def members(self, bits: int) -> Iterator[Label]:
        """The labels of a set, rising."""
        return (self.labels[place] for place in places(bits))

    def behind(self, bits: int) -> int:
        """What depends on some of a set directly."""
        found = 0
        for label in self.members(bits):
            found |= self.after[label]
        return found

    def is_convex(self, bits: int) -> bool:
        """Whether no path leaves the set and comes back."""
        inside = list(self.members(bits))
        left = 0
        for label in inside:
            left |= self.reach[label] & ~bits
        return all(not self.reach[label] & bits for label in self.members(left))


def _sets(near: Neighbours) -> Iterator[int]:
    """Sets of operations that may be connected and are not kept apart, each once: by its lowest member, growing."""
    for root in near.labels:
        never = (near.bit[root] - 1) | near.apart[root]
        stack = [(near.bit[root], near.near[root] & ~never, never)]
        while stack:
            chosen, open_, closed = stack.pop()
            if not open_:
                yield chosen
                continue
            pick = open_ & -open_
            label = near.labels[pick.bit_length() - 1]
            rest = open_ ^ pick
            stack.append((chosen, rest, closed | pick))
            fresh = near.near[label] & ~chosen & ~closed & ~pick
            stack.append((chosen | pick, (rest | fresh) & ~near.apart[label], closed | near.apart[label]))


def candidates(
    graph: Graph, near: Neighbours, prices: Prices, duplicate: Duplicate, deadline: float
) -> list[Candidate] | None:
    """All legal clusters of a part; None if there are too many, or no time. Raises what `prices` raises."""
    found: list[Candidate] = []
    for bits in _sets(near):
        if time.monotonic() > deadline or len(found) > _MOST:
            return None
        if not near.is_convex(bits):
            continue
        cluster = assign(graph, list(near.members(bits)))
        if cluster is not None and cluster_refusal(graph, cluster, duplicate) is None:
            found.append(Candidate(bits, cluster, prices(cluster)))
    return found
