"""Why a reader in another loop does not compute an array by itself, where it may: docs/ilp/recomputation.md, C1 to C4."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from accel.explanation.why.reasons import WhyNot, operation_name
from accel.ilp.legality.rules import CHEAP
from accel.ilp.problem.clustering import Plan
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.graph import Edge, Graph
from accel.ilp.problem.options import Options
from accel.ilp.recompute.candidates import Obstacle, Obstacles, counts_traffic
from accel.labelled.array import Label
from accel.labelled.nodes import Binding
from accel.labelled.operations import Role

_REASONS: Mapping[Obstacle, tuple[str, str]] = MappingProxyType(
    {
        Obstacle.HEAVY: ("C1", f"{{maker}} holds a loop, or more than {CHEAP} scalar operations"),
        Obstacle.FIRST: ("C2", "{maker} must be done before something else, or is written over"),
        Obstacle.INPUTS: ("C2", "what {maker} reads need not be in memory, and takes as many bytes"),
        Obstacle.READER: ("C3", "{reader} is no loop, or reads it in two orders"),
        Obstacle.LARGER: ("C3", "{reader} is not known to have no more elements than {maker}"),
        Obstacle.OFTEN: (
            "C3",
            f"{{reader}} loads it in a loop, or it would do more than {CHEAP} operations for an element",
        ),
        Obstacle.BOUNDS: ("C3", "nothing but the load from it says that an index is out of bounds"),
        Obstacle.NESTED: ("C4", "nothing is recomputed of what a recomputation reads"),
    }
)


class NotRecomputed:
    """The reasons of one program, in which what pays is recomputed."""

    def __init__(self, graph: Graph, plan: Plan, options: Options, bindings: Mapping[Label, Binding]) -> None:
        self._strategy, self._duplicate, self._bindings = plan.strategy, options.duplicate, bindings
        self._recomputed = {label for each in plan.recomputations for label in (*each.made, each.original)}
        model = options.model
        asked = options.recomputes and options.strategy == "ilp" and options.formulation == "accel"
        self._obstacles: Obstacles | None = None
        if asked and model is not None and counts_traffic(model.levels):
            self._obstacles = Obstacles(graph, Weights(graph, options.extents), options.duplicate)

    def why_not(self, edge: Edge) -> WhyNot | None:
        """Why the reader does not compute by itself what it reads; None if that is not asked, or is never done.

        To be asked of readers in other loops only.
        """
        if self._obstacles is None or edge.array.label not in self._bindings:
            return None
        if self._duplicate == "stencils" and edge.role is not Role.INDEX:
            return None
        obstacle = self._obstacles.of(edge.array.label, edge.consumer)
        if obstacle is Obstacle.KIND:
            return None
        if obstacle is None and edge.consumer in self._recomputed:
            obstacle = Obstacle.NESTED
        maker, reader = self._bindings[edge.array.label], self._bindings[edge.consumer]
        names = {"maker": operation_name(maker), "reader": operation_name(reader)}
        if obstacle is not None:
            rule, reason = _REASONS[obstacle][0], _REASONS[obstacle][1].format(**names)
        elif self._strategy == "ilp":
            rule, reason = "cost", f"to read what {names['maker']} reads would cost as much, or more"
        else:
            rule, reason = "strategy", f"{self._strategy} recomputes nothing"
        return WhyNot(rule, reason, names["reader"], reader.where, maker.where)
