"""What is asked for of rows that are put in order, as data: part of a call's code on disk."""

from __future__ import annotations

from accel.ast.tree.types import ScalarType
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for: see `accel.ir.nodes.Sort`. keys: their types."""

    keys: tuple[ScalarType, ...]
    places: bool
    descending: bool
    first: int | None

    @property
    def element(self) -> ScalarType:
        """The type of what is given."""
        return ScalarType.I64 if self.places else self.keys[0]
