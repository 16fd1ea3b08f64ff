"""What nests run on, as far as their schedules depend on it: each backend says which it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias, Union

from accel.ast.tree.types import ScalarType
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Processor:
    """Threads that share memory, each with vector registers."""

    has_tiles: ClassVar[bool] = True
    """Whether products run in tiles."""


@dataclass(frozen=True, slots=True)
class WorkItems:
    """A device of many work-items, which stand in groups, as OpenCL has them.

    atomic_bytes: of the widest elements that work-items may combine in memory at the same time. gpu: whether work-items are so
    cheap that groups of them share what one could do, and so many that neighbours must read neighbours.
    """

    atomic_bytes: int = 8
    gpu: bool = False

    @property
    def has_tiles(self) -> bool:
        """Whether products run in tiles."""
        return self.gpu


Machine: TypeAlias = Union[Processor, WorkItems]

PROCESSOR = Processor()


def struct_bytes(kinds: Sequence[ScalarType]) -> int:
    """Bytes of a struct of such numbers, by C's rules of alignment."""
    end = 0
    for kind in kinds:
        end = -(-end // kind.bytes) * kind.bytes + kind.bytes
    most = max(kind.bytes for kind in kinds)
    return -(-end // most) * most
