"""Our own formulation, `formulation="accel"`, as the loop of solving sees it: `model.py` with the rows of `cuts.py`."""

from __future__ import annotations

from collections.abc import Mapping

from accel.ilp.model import cuts
from accel.ilp.model.model import Formulation
from accel.ilp.model.variables import Pair
from accel.ilp.solvers.linear import Linear, Model
from accel.labelled.array import Label


class Own:
    """A part of the model, with what is found when a solution violates it."""

    def __init__(self, part: Formulation) -> None:
        self._part = part
        self.labels: tuple[Label, ...] = part.labels
        self.model: Model = part.model
        self.alone: tuple[int, ...] = part.alone
        self.forest = part.forest

    def relaxed_rows(self, values: Mapping[int, float]) -> list[Linear]:
        """Rows against circles of clusters; where there are none, about operations side by side."""
        return cuts.cycles(self._part, values) or cuts.company(self._part, values)

    def integral_rows(self, values: Mapping[int, float]) -> list[Linear]:
        """Rows against circles of clusters, and nests that cannot be; about operations side by side."""
        part = self._part
        return [*cuts.cycles(part, values), *cuts.nests(part, values), *cuts.company(part, values)]

    def clusters(self, values: Mapping[int, float]) -> list[list[Label]]:
        """The components of x = 0."""
        return cuts.clusters(self._part, values)

    def recomputed(self, values: Mapping[int, float]) -> tuple[Pair, ...]:
        """Where recompute(p,c) is 1."""
        return tuple(pair for pair, recomputed in self._part.recomputed.items() if recomputed.value(values) > 0.5)

    def backward(self, values: Mapping[int, float]) -> frozenset[Label]:
        """Where backward(v) is 1."""
        return frozenset(label for label, back in self._part.backward.items() if back.value(values) > 0.5)
