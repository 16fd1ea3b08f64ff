"""A `runN` function called with arrays of the same kinds as before: the fewest steps to its kernels.

Kinds are dtypes and ranks. Plain arrays of numbers are read by compiled code (`direct.py`), a function for each combination of
kinds; so are complex numbers and tuples of arrays. These form a chain: one that does not take what it is given passes it to the
next, the last one to what takes anything. That finds in a table what else came before (`known.py`): structured arrays, rows
with gaps, byte-swapped arrays, programs that have no compiled call, and calls that ask for something by name.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from accel.calling.kinds import Kind, kinds_of
from accel.calling.known import Known
from accel.calling.specialised import Specialised

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.settings import Settings

_MOST = 8
"""Combinations of kinds that are known at a time."""

_MOST_SETTINGS = 4
"""Blocks of settings that ways are kept for."""


class General:
    """A method that takes arguments of any kind, as the end of a chain. It does not keep alive what the method is of, which has
    the chain."""

    def __init__(self, method: Callable[..., object]) -> None:
        self._method = weakref.WeakMethod(method)

    def __call__(self, *arguments: object) -> object:
        """What the method gives."""
        method = self._method()
        assert method is not None, "a function is called that is gone: a bug in accel"
        return method(*arguments)


class Ways:
    """The short ways of one function under some settings."""

    def __init__(self, settings: object, lasting: bool, general: Callable[..., object]) -> None:
        """`settings`: the innermost ones that these ways are for; `lasting`: they may be held while others are in force.

        `general` takes anything, and asks `find`.
        """
        self.settings = settings
        self.lasting = lasting
        self.chain = general
        self._general = general
        self._known: dict[tuple[Kind, ...], Known] = {}

    def find(self, kinds: tuple[Kind, ...]) -> Known | None:
        """What was run for arguments of these kinds."""
        return self._known.get(kinds)

    def remember(self, kinds: tuple[Kind, ...] | None, found: Specialised, settings: Settings) -> Known | None:
        """This is run for arguments of these kinds, if they have some, and of any sizes; it gives what is known of it then."""
        if kinds is None or settings.sizes == "actual":
            return None
        known = self._known.get(kinds)
        if known is None:
            if len(self._known) >= _MOST:
                self.forget()
            self._known[kinds] = known = Known(kinds, found, settings.backend)
        return known

    def forget(self) -> None:
        """Nothing came before."""
        self._known, self.chain = {}, self._general

    def shorten(self, known: Known, arguments: Sequence[Leaf]) -> None:
        """Arrays of kinds that came before get a function of their own, where there is one. `arguments`: their leaves."""
        self.chain = known.shortened(self.chain, arguments)

    def asked(self, arguments: Sequence[object], name: str, value: object) -> tuple[object] | None:
        """The results in a tuple, of a call that asks for something by this name.

        None if arguments of these kinds did not come before, or something is not as usual: then nothing is done.
        """
        kinds = kinds_of(arguments)
        known = None if kinds is None else self._known.get(kinds)
        return None if known is None else known.asked(self.chain, arguments, name, value)


def ways_under(
    settings: object, kept: tuple[Ways, ...], lasting: bool, general: Callable[[], Callable[..., object]]
) -> tuple[Ways, ...]:
    """The ways under these settings, made if there are none, and behind them others that were kept."""
    if kept and kept[0].settings is settings:
        return kept
    found = next((ways for ways in kept if ways.settings is settings), None) or Ways(settings, lasting, general())
    return (found, *[ways for ways in kept if ways is not found and ways.lasting][: _MOST_SETTINGS - 1])
