"""A `runN` function called with arrays of the same kinds as before: the fewest steps to its kernels.

Kinds are dtypes and ranks. Plain arrays of numbers are read by compiled code (`Direct.function`), a function for each
combination of kinds. These form a chain: one that does not take what it is given passes it to the next, the last one to what
takes anything. That finds in a table what else came before: tuples of arrays, structured arrays, complex numbers, rows with
gaps, byte-swapped arrays, and programs that have no compiled call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np

from accel.ast.tree.types import DEEPEST, ArrayType, ElementType, RecordType, ScalarType, TupleType
from accel.backends.direct import Direct
from accel.specialised import Specialised
from accel.structure import Nested

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.backends.protocol import HostArray

Kind: TypeAlias = Union[tuple[np.dtype[np.generic], int], tuple["Kind", ...]]
"""An array's dtype and rank, or those of a tuple's."""

_MOST = 8
"""Combinations of kinds that are known at a time."""

_MOST_SETTINGS = 4
"""Blocks of settings that ways are kept for."""


def kinds_of(arguments: Sequence[object], depth: int = DEEPEST) -> tuple[Kind, ...] | None:
    """The kinds of NumPy's arrays and of tuples of them; None if there is anything else, or tuples lie deeper than `depth`."""
    kinds: list[Kind] = []
    for argument in arguments:
        if type(argument) is np.ndarray:
            kinds.append((argument.dtype, argument.ndim))
        elif type(argument) is tuple and depth:
            inner = kinds_of(argument, depth - 1)
            if inner is None:
                return None
            kinds.append(inner)
        else:
            return None
    return tuple(kinds)


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
        self._known: dict[tuple[Kind, ...], Specialised] = {}
        self._direct: dict[tuple[Kind, ...], tuple[Direct, Sequence[HostArray]] | None] = {}
        """What came twice: the executable with its constants, if it can be called by arrays alone."""
        self._spread: set[object] = set()
        """What made functions of the chain for arrays without rows of adjacent elements."""

    def find(self, kinds: tuple[Kind, ...]) -> Specialised | None:
        """What was run for arguments of these kinds."""
        return self._known.get(kinds)

    def remember(self, kinds: tuple[Kind, ...], found: Specialised) -> None:
        """This is run for arguments of these kinds."""
        if len(self._known) >= _MOST:
            self._known, self._direct, self._spread, self.chain = {}, {}, set(), self._general
        self._known[kinds] = found

    def shorten(self, kinds: tuple[Kind, ...], found: Specialised, arguments: Sequence[Leaf]) -> None:
        """Plain arrays of these kinds, which came before, get a function of their own, where the program has one.

        So do those that have no rows of adjacent elements, once there is code for how they lie.
        """
        if kinds not in self._direct:
            self._direct[kinds] = direct = _direct(found)
            if direct is not None:
                self.chain = direct[0].function(self.chain, direct[1]) or self.chain
        elif (direct := self._direct[kinds]) is not None:
            executable, constants = direct
            make = executable.spread([*(each for each in arguments if isinstance(each, np.ndarray)), *constants])
            if make is not None and make not in self._spread:
                self._spread.add(make)
                self.chain = make(self.chain, constants)


def ways_under(
    settings: object, kept: tuple[Ways, ...], lasting: bool, general: Callable[[], Callable[..., object]]
) -> tuple[Ways, ...]:
    """The ways under these settings, made if there are none, and behind them others that were kept."""
    if kept and kept[0].settings is settings:
        return kept
    found = next((ways for ways in kept if ways.settings is settings), None) or Ways(settings, lasting, general())
    return (found, *[ways for ways in kept if ways is not found and ways.lasting][: _MOST_SETTINGS - 1])


def _direct(found: Specialised) -> tuple[Direct, Sequence[HostArray]] | None:
    """An executable for arrays of one leaf each, and the arrays that the function holds.

    None if some of these lie on a device, for the executable to refuse.
    """
    constants = [constant for constant in found.constants if isinstance(constant, np.ndarray)]
    if len(constants) < len(found.constants) or not _is_flat(found.result.form):
        return None
    return (found.executable, constants) if isinstance(found.executable, Direct) else None


def are_plain(arguments: Sequence[object], leaves: Sequence[Leaf]) -> bool:
    """Whether the arguments are their own leaves."""
    return len(arguments) == len(leaves) and all(map(is_, arguments, leaves))


def _is_flat(form: Nested[ArrayType]) -> bool:
    """Whether the user gets one array, or a tuple of several."""
    if isinstance(form, ArrayType):
        return isinstance(form.element, ScalarType) or _is_flat_tuple(form.element)
    if type(form) is not tuple or len(form) < 2:
        return False
    return all(isinstance(part, ArrayType) and isinstance(part.element, ScalarType) for part in form)


def _is_flat_tuple(element: ElementType) -> bool:
    if not isinstance(element, TupleType) or isinstance(element, RecordType) or len(element.items) < 2:
        return False
    return all(isinstance(item, ScalarType) for item in element.items)
