"""The formulation of [vB24 Fig. 4], `formulation="published"`: potentials, integer orders, big constants.

Row by row as printed, for the whole graph at once, and corrected: a scatter visits its source in order 0 (Table 1, forgotten in
Fig. 4); the arcs that leave a scatter are infusible (Fig. 4 prints those that enter it, the text says it right). Added are the
rules of this project: costs (`costs.py`), what may be recomputed (`traversal.py`), and nests, found when they are violated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ilp.facts.analysis import Bundle
from accel.ilp.facts.followers import adrift, leading
from accel.ilp.facts.spaces import Conflict, Spaces
from accel.ilp.formulations.components import Components
from accel.ilp.formulations.draft import Draft
from accel.ilp.formulations.priced import Priced
from accel.ilp.formulations.traversal import TraversalVariables
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.array import Label
from accel.labelled.operations import Role
from accel.support.choices import Duplicate


class _Figure4(Draft):
    """The rows of Fig. 4, in its order."""

    def __init__(self, graph: Graph, bundles: Sequence[Bundle], duplicate: Duplicate, corrected: bool) -> None:
        super().__init__(graph, bundles)
        self._x = {(u, v): self.new(f"x_{u}_{v}", alone=True) for u, v in self.fusible}
        self._kept = {k: 1 - self.new(f"m_{self.bundles[k].label}_{k}") for k in self.made()}
        self.traversal = TraversalVariables(self, duplicate, corrected)
        for (u, v), x in self._x.items():
            self.link(u, v, 1 - x)
        self.rise()
        self.contract(self._kept)
        self._visit()

    def apart(self, u: Label, v: Label) -> Linear:
        """x_uv."""
        return self._x.get((u, v), Linear(1))

    def stored(self, number: int) -> Linear:
        """1 - m_a."""
        return self._kept[number]

    def pushed_to(self, v: Label) -> Mapping[Label, Linear]:
        """Where d(v) is the number of a gather."""
        return self.traversal.at[v]

    def _visit(self) -> None:
        """(11): what is manifest is made in order 0 or 1; (12): what is fused is read in the order in which it is made."""
        orders, gathers = self.traversal, len(self.traversal.number)
        for number, keeps in self._kept.items():
            v = self.bundles[number].label
            self.model.require(1 + (1 - keeps) * gathers + orders.visits_all(v) - orders.out[v])
        for (u, v), x in self._x.items():
            for edge in self.edges_of[u, v]:
                made, read = orders.made_in(u, edge.array), orders.read_in(v, edge.role)
                self.model.differ_at_most(made, read, x * (gathers + 2))

    def led(self, order: Label, lost: frozenset[Label]) -> Linear:
        """One of some operations does not run in the order of a scan of segments, or a fused array leads to them."""
        border = leading(self.graph, order, lost, self._x)
        return total(1 - self._x[arc] for arc in border) - self.traversal.at[min(lost)][order]

    def shared(self, number: int, i: int, j: int) -> Linear | None:
        """A variable that forces equal potentials and equal orders."""
        (u, role_u), (v, role_v) = self.bundles[number].readers[i], self.bundles[number].readers[j]
        strict = (u, v) in self.edges_of and (u, v) not in self._x
        apart = role_u is role_v is Role.SOURCE and self.graph.order[u] != self.graph.order[v]
        if strict or apart:
            return None
        shared = self.new(f"same_{number}_{u}_{v}")
        first, second = self.traversal.read_in(u, role_u), self.traversal.read_in(v, role_v)
        self.model.differ_at_most(self.potential[u], self.potential[v], (1 - shared) * self.most)
        self.model.differ_at_most(first, second, (1 - shared) * (self.traversal.last + 1))
        return shared


class Published(Priced):
    """Fig. 4 with costs, as the loop of solving sees it."""

    def __init__(
        self, graph: Graph, bundles: Sequence[Bundle], levels: Sequence[CostLevel], weights: Weights, duplicate: Duplicate,
        corrected: bool = True,
    ) -> None:  # fmt: skip
        """`corrected=False` leaves out the order of a scatter's source, as Fig. 4 does: then the optimum may be illegal."""
        self._draft = _Figure4(graph, bundles, duplicate, corrected)
        self._draft.traversal.add_work(duplicate)
        super().__init__(self._draft, levels, weights)
        self._spaces = Spaces(graph)

    def integral_rows(self, values: Mapping[int, float]) -> list[Linear]:
        """Nests that cannot be; about operations side by side."""
        components = Components(self._draft, values)
        rows = components.company()
        for cluster in components.clusters:
            orders = {v: self._draft.traversal.pushed(v, values) for v in cluster}
            lost = adrift(self._draft.graph, orders)
            if lost is not None:
                rows.append(self._draft.led(*lost))
                continue
            conflict = self._spaces.conflict(orders) if len(cluster) > 1 else None
            if conflict is not None:
                rows.append(self._against(conflict, components, cluster, orders))
        return rows

    def _against(
        self, conflict: Conflict, components: Components, cluster: Sequence[Label], orders: Mapping[Label, Label | None]
    ) -> Linear:
        """The members are apart, or run in other orders, or more operations are with them."""
        members = sorted(set(conflict.members))
        changes: list[Linear] = []
        for v in members:
            at, gather = self._draft.traversal.at[v], orders[v]
            changes.append(total(at.values()) if gather is None else 1 - at[gather])
        more = components.border(cluster) if conflict.unless else []
        return total([*components.broken(members), *changes, *more, -1])

    def backward(self, values: Mapping[int, float]) -> frozenset[Label]:
        """Where d is 1."""
        return self._draft.traversal.backward(values)
