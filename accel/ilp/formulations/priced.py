"""A draft with costs: what the loop of solving asks of both published formulations alike (`protocol.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ilp.formulations.components import Components
from accel.ilp.formulations.costs import add_costs
from accel.ilp.formulations.draft import Draft
from accel.ilp.problem.cost import CostLevel, Weights
from accel.ilp.solvers.linear import Linear, Model
from accel.labelled.array import Label


class Priced:
    """A model whose rows on fusion are all there from the beginning, but for those that a clustering violates."""

    def __init__(self, draft: Draft, levels: Sequence[CostLevel], weights: Weights) -> None:
        self._priced = draft
        self.forest = add_costs(draft, levels, weights)
        self.labels = tuple(node.label for node in draft.graph.nodes)
        self.model: Model = draft.model
        self.alone = tuple(
            sum(c for number, c in cost.terms.items() if number in draft.alone) for cost in self.model.objectives
        )

    def relaxed_rows(self, values: Mapping[int, float]) -> list[Linear]:
        """None."""
        return []

    def clusters(self, values: Mapping[int, float]) -> list[list[Label]]:
        """What is connected by fused arrays and shared reads."""
        return Components(self._priced, values).clusters
