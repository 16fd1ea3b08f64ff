"""Clusters of a published formulation: what shares an array, not what has one potential.

Sets of operations with one potential "may result in multiple completely independent loops placed in one cluster" [vB24 section
4.1]; only what is connected by links is taken for a cluster. Between two such pieces of one potential there is no dependence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

from accel.ilp.formulations.draft import Draft
from accel.ilp.model.forest import tree_path
from accel.ilp.model.variables import Pair, pair
from accel.ilp.problem.decode import components
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.array import Label


class Components:
    """The links that a point uses, and what they connect."""

    def __init__(self, draft: Draft, values: Mapping[int, float]) -> None:
        self.used: dict[Pair, Linear] = {}
        self._links, self._beside, self._values = draft.links, draft.beside, values
        for between, links in draft.links.items():
            for linked in links:
                if linked.value(values) > 0.5:
                    self.used[between] = linked
        self.clusters = components(draft.operations, self.used)
        self._near: dict[Label, list[Label]] = {}
        for u, v in self.used:
            self._near.setdefault(u, []).append(v)
            self._near.setdefault(v, []).append(u)

    def broken(self, members: Collection[Label]) -> list[Linear]:
        """Expressions of which one must be 1 if the members of a piece are to be in different clusters."""
        first, *others = sorted(members)
        steps: dict[Pair, Linear] = {}
        for other in others:
            path = tree_path(self._near, first, other)
            steps |= {pair(u, v): 1 - self.used[pair(u, v)] for u, v in pairwise(path)}
        return list(steps.values())

    def company(self) -> list[Linear]:
        """Rows about pairs that lose time to each other: who is in one piece is beside the other."""
        piece = {label: number for number, cluster in enumerate(self.clusters) for label in cluster}
        return [
            total([*self.broken(between), beside, -1])
            for between, beside in self._beside.items()
            if piece[between[0]] == piece[between[1]] and beside.value(self._values) < 0.5
        ]

    def border(self, cluster: Collection[Label]) -> list[Linear]:
        """Expressions of which one must be 1 if more operations are to be in a piece."""
        inside = frozenset(cluster)
        return [linked for (u, v), links in self._links.items() if (u in inside) != (v in inside) for linked in links]
