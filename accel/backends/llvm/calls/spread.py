"""Calls for arguments whose rows' elements are not adjacent: another one is compiled once copying has taken as long.

In: how the arguments of a call lie in memory. Out: the call that reads them so, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from accel.backends.llvm.machine.rows import Spread, spread

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray

Spreads: TypeAlias = tuple[Spread | None, ...]
"""Those of all arguments."""

Function: TypeAlias = "Callable[[Callable[..., object], Sequence[HostArray]], Callable[..., object]]"
"""Makes the function of the arrays that come before the constants: from what takes anything, and from these."""

Make: TypeAlias = "Callable[[Spreads, Sequence[HostArray]], Function | None]"
"""Compiles a call for arguments that lie so; None if it cannot."""

ENOUGH = 1 << 24
"""Elements that are copied before another call is compiled: copies of so many take as long, tens of milliseconds."""

CALL = 1 << 14
"""As many as these takes what a call does besides, if it copies arguments."""

MOST = 8
"""Calls of one program for arguments that lie in different ways: for others there are copies."""


def spreads_of(arguments: Sequence[HostArray]) -> Spreads | None:
    """How they lie; None if all have rows of adjacent elements."""
    found = tuple([spread(argument) for argument in arguments])
    return found if any(found) else None


class SpreadCalls:
    """Those of one program."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._made: dict[Spreads, Function | None] = {}
        self._copied: dict[Spreads, int] = {}

    def made(self, spreads: Spreads) -> Function | None:
        """The call for arguments that lie so, if there is one by now."""
        return self._made.get(spreads)

    def make(self, spreads: Spreads, arguments: Sequence[HostArray]) -> Function | None:
        """The same; it is compiled now if it is not there."""
        if spreads not in self._made and len(self._made) < MOST:
            self._made[spreads] = self._make(spreads, arguments)
        return self._made.get(spreads)

    def wanted(self, spreads: Spreads, arguments: Sequence[HostArray]) -> Function | None:
        """The same, for arguments which are to be copied otherwise: once that has been done often enough."""
        if spreads in self._made:
            return self._made[spreads]
        more = CALL + sum(each.size for each, spread in zip(arguments, spreads, strict=True) if spread is not None)
        if len(self._copied) >= MOST and spreads not in self._copied:
            self._copied.clear()
        self._copied[spreads] = self._copied.get(spreads, 0) + more
        return self.make(spreads, arguments) if self._copied[spreads] >= ENOUGH else None
