"""What the loop of solving asks of a model (docs/ilp/formulations.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from accel.ilp.model.forest import Forest
from accel.ilp.solvers.linear import Linear, Model
from accel.labelled.array import Label


class Posed(Protocol):
    """A linear program whose solutions, once they violate no row that it can name, are legal clusterings of `labels`."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The nodes that are clustered, rising."""

    @property
    def model(self) -> Model:
        """Variables, rows, and one objective per level."""

    @property
    def alone(self) -> tuple[int, ...]:
        """What the objectives are, constants apart, when all operations are clusters of their own."""

    @property
    def forest(self) -> Forest:
        """What counts clusters: where an objective has its variables, circles of links are looked for."""

    def relaxed_rows(self, values: Mapping[int, float]) -> list[Linear]:
        """Rows "expression >= 0" that a point violates, integral or not."""

    def integral_rows(self, values: Mapping[int, float]) -> list[Linear]:
        """All rows that an integral point violates, those of the forest apart."""

    def clusters(self, values: Mapping[int, float]) -> list[list[Label]]:
        """The operations that an integral point puts together, in any pieces."""

    def backward(self, values: Mapping[int, float]) -> frozenset[Label]:
        """The operations that an integral point runs backward."""
