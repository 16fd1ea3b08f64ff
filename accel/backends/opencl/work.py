"""How much a launch does, at most: scalar operations, counted without knowing the device.

In: the nests of a launch. Out: a number once the extents of a call are known. Loops whose length is found out on the way, and
scalar loops, count as a fixed number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.backends.opencl.machine.positions import elements
from accel.ir import mentions
from accel.ir.nodes import LoopBody, Nest, Read, Scatter, Write
from accel.ir.work import applied_function
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.scalar import Constant, While
from accel.labelled.scalars.function_work import function_work
from accel.labelled.work import LAUNCH
from accel.support.dataclass import dataclass

UNKNOWN = 64
"""Iterations of a loop of which nobody knows how many it has."""

ACCESS = 4
"""Operations in whose time an element is read or written beside its neighbours' by a device that is slow at both."""

ATOMIC = 16
"""The same of an element that is combined with one at any place."""


@dataclass(frozen=True, slots=True)
class Work:
    """For each level of a nest its operations, and the extents of the loops around it."""

    levels: tuple[tuple[int, tuple[Extent, ...]], ...]

    def value(self, size: Callable[[SizeVariable], int]) -> int:
        """The operations of a launch, with the extents of a call."""
        return sum(operations * elements(around, size) for operations, around in self.levels)


def work(nests: Sequence[Nest]) -> Work:
    """That of some nests."""
    found: list[tuple[int, tuple[Extent, ...]]] = []
    for nest in nests:
        around: tuple[Extent, ...] = ()
        for level in mentions.levels(nest):
            found.append((sum(map(_operations, (*level.before, *level.after))), around))
            if level.loop is not None:
                match level.loop.extent:
                    case Extent() as extent:
                        around = (*around, extent)
                    case Constant(value=value):
                        around = (*around, Extent(None, int(value)))
                    case _:
                        around = (*around, Extent(None, UNKNOWN))
    return Work(tuple(found))


def _operations(statement: LoopBody) -> int:
    """Some for what it is, and those of its function."""
    own, function = 1, applied_function(statement)
    match statement:
        case Scatter():
            own = ATOMIC
        case Read() | Write():
            own = ACCESS
        case _:
            pass
    if function is None:
        return own
    turns = UNKNOWN if any(isinstance(each, While) for each in mentions.function_statements(function)) else 1
    return (own + function_work(function, LAUNCH)) * turns
