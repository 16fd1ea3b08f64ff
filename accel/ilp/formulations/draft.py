"""A published formulation under construction: a model of a whole graph with potentials.

pi(v) is the number of v's cluster [vB24 (1), (2); Rob section 1.4.2]: dependences go from lower to higher ones, or are fused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from accel.ilp.facts.analysis import Bundle
from accel.ilp.legality.rules import may_fuse
from accel.ilp.model.variables import Pair, pair
from accel.ilp.problem.graph import Edge, Graph
from accel.ilp.solvers.linear import Linear, Model
from accel.labelled.array import Label


class Draft(ABC):
    """Variables of a graph, by meaning, and the rows on potentials that both published formulations have.

    `fusible`: the arcs of F; all others are of I. `links`: for each pair of operations, expressions that are 1 only if the two
    are in one cluster and share an array, made by one or read by both. `beside`: for each pair that loses time in one cluster,
    whether it is in one, found when it is violated.
    """

    def __init__(self, graph: Graph, bundles: Sequence[Bundle]) -> None:
        self.graph, self.bundles = graph, tuple(bundles)
        self.model = Model()
        self.alone: set[int] = set()
        self.links: dict[Pair, list[Linear]] = {}
        self.beside: dict[Pair, Linear] = {}
        self.most = len(graph.nodes)
        self.operations = tuple(node.label for node in graph.operations)
        self.edges_of: dict[Pair, list[Edge]] = {}
        for edge in graph.edges:
            self.edges_of.setdefault((edge.array.label, edge.consumer), []).append(edge)
        strict = frozenset(graph.before)
        self.fusible = tuple(arc for arc in graph.arcs if arc not in strict and self._may_fuse(arc))
        self.potential = {node.label: self.new(f"pi_{node.label}", upper=self.most) for node in graph.nodes}

    def _may_fuse(self, arc: Pair) -> bool:
        edges = self.edges_of[arc]
        return len({edge.role for edge in edges}) == 1 and all(may_fuse(self.graph, edge) for edge in edges)

    def new(self, name: str, *, integer: bool = True, alone: bool = False, upper: int = 1) -> Linear:
        """A new variable; `alone`: it is 1, not 0, when all operations are clusters of their own."""
        if alone:
            self.alone.add(len(self.model.variables))
        return self.model.variable(name, integer, upper)

    def link(self, u: Label, v: Label, linked: Linear) -> None:
        """`linked` = 1 only if u and v share an array in one cluster."""
        self.links.setdefault(pair(u, v), []).append(linked)

    def rise(self) -> None:
        """x_ab <= pi_b - pi_a <= n x_ab for every arc, x_ab = 1 in I [vB24 (2), (4), (5); Rob section 1.4.3]."""
        for u, v in self.graph.arcs:
            x, step = self.apart(u, v), self.potential[v] - self.potential[u]
            self.model.require(step - x)
            self.model.require(x * self.most - step)

    def contract(self, stored: Mapping[int, Linear]) -> None:
        """stored(k) >= x_ab for every array and reader [vB24 (6), (7); Rob section 1.4.3], and 1 for results."""
        for number, keeps in stored.items():
            bundle = self.bundles[number]
            readers = {edge.consumer for array in bundle.arrays for edge in self.graph.readers[array]}
            apart = [self.apart(bundle.label, reader) for reader in sorted(readers)]
            if bundle.result or any(x.is_constant for x in apart):
                self.model.require(keeps - 1)
                continue
            for x in apart:
                self.model.require(keeps - x)

    def made(self) -> list[int]:
        """The bundles that operations make."""
        inside = frozenset(self.operations)
        return [number for number, bundle in enumerate(self.bundles) if bundle.label in inside]

    @abstractmethod
    def apart(self, u: Label, v: Label) -> Linear:
        """x_uv of an arc, constantly 1 in I."""

    @abstractmethod
    def stored(self, number: int) -> Linear:
        """Whether the arrays of a bundle that is made here are written to memory."""

    @abstractmethod
    def shared(self, number: int, i: int, j: int) -> Linear | None:
        """1 only if readers i < j of a bundle are in one cluster and read in one order; None if they never are."""

    @abstractmethod
    def pushed_to(self, v: Label) -> Mapping[Label, Linear]:
        """For each gather in whose order v may run, whether it does."""
