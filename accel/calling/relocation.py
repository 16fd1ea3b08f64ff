"""A compiled program that serves another program of the same text: its errors name that program's lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from accel.ast.tree.leaves import Leaf
from accel.backends.direct import Direct, Forms
from accel.backends.protocol import Executable, HostArray
from accel.backends.residence import kept_results
from accel.errors import AccelError, Where
from accel.labelled.nodes import Program
from accel.labelled.places import places

T = TypeVar("T")


class Relocated:
    """`executable`, compiled from `compiled`, as the executable of `own`: see `accel.backends.protocol.Executable`."""

    def __init__(self, executable: Executable, compiled: Program, own: Callable[[], Program]) -> None:
        """`own` builds its program, which is needed only for an error."""
        self._executable = executable
        self._compiled = compiled
        self._own = own

    def __call__(self, arguments: Sequence[Leaf]) -> list[HostArray]:
        """Run; errors are those of `own`."""
        return self._moved(lambda: self._executable(arguments))

    def kept(self, arguments: Sequence[Leaf]) -> list[Leaf]:
        """Run, and leave the results where they are: see `accel.backends.residence.Keeps`."""
        return self._moved(lambda: kept_results(self._executable, arguments))

    def _moved(self, run: Callable[[], T]) -> T:
        try:
            return run()
        except AccelError as error:
            raise error.moved(moves(self._compiled, self._own())) from error.__cause__

    def function(
        self, otherwise: Callable[..., object], constants: Sequence[HostArray], forms: Forms | None = None
    ) -> Callable[..., object] | None:
        """See `accel.backends.protocol.Direct`: it raises nothing itself."""
        direct = self._executable
        return direct.function(otherwise, constants, forms) if isinstance(direct, Direct) else None

    def spread(
        self, arguments: Sequence[HostArray], forms: Forms | None = None, *, now: bool = False
    ) -> Callable[[Callable[..., object], Sequence[HostArray]], Callable[..., object]] | None:
        """See `accel.backends.direct.Direct`: it raises nothing itself."""
        return self._executable.spread(arguments, forms, now=now) if isinstance(self._executable, Direct) else None

    def taking(self, given: frozenset[int]) -> Callable[[Sequence[Leaf]], list[HostArray]] | None:
        """See `accel.backends.direct.Direct`; errors are those of `own`."""
        taking = self._executable.taking(given) if isinstance(self._executable, Direct) else None
        return None if taking is None else Relocated(taking, self._compiled, self._own)

    def into(self, count: int) -> Callable[[Sequence[Leaf]], list[HostArray]] | None:
        """See `accel.backends.direct.Direct`."""
        into = self._executable.into(count) if isinstance(self._executable, Direct) else None
        return None if into is None else Relocated(into, self._compiled, self._own)

    @property
    def code(self) -> Callable[[], bytes] | None:
        """See `accel.backends.protocol.Direct`: places are no part of it."""
        return self._executable.code if isinstance(self._executable, Direct) else None


def moves(compiled: Program, own: Program) -> dict[Where, Where | None]:
    """Each place of `compiled`, and the one that corresponds to it in `own`, a program of the same text."""
    found: dict[Where, Where | None] = {}
    for old, new in zip(places(compiled), places(own), strict=True):
        if old is not None:
            found.setdefault(old, new)
    return found
