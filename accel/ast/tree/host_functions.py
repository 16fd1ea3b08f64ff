"""Functions of the user's that run on the host while a program runs, on whole arrays: what nodes hold of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np

from accel.errors import Where

HostArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


class HostFunction(Protocol):
    """Compared by what it does: programs that differ in their functions are different programs. It has a hash."""

    @property
    def name(self) -> str:
        """The combinator that calls it."""

    @property
    def prints(self) -> bool:
        """Whether it is called for what it does, and gives nothing."""

    def __call__(
        self, arrays: Sequence[HostArray], shapes: Sequence[tuple[int, ...]], where: Where | None
    ) -> list[HostArray]:
        """Arrays of these shapes, one for each leaf of what it gives. `arrays`: the leaves of its arguments, not to be written.

        Raises whatever the user's function does, and an `AccelError` that names `where` for what it should not give.
        """
