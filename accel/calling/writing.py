"""Calls of a `runN` function with `out` or `donate`, of arguments of kinds that came before: the fewest steps to its kernels.

What is not as usual, and what is wrong, the long way finds out (`donations.py`): it begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.combinators.host.arrays import leaves_of
from accel.backends.llvm.machine.blocks_text import PAGE
from accel.calling import outputs
from accel.calling.specialised import Specialised
from accel.support import waiting

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.backends.protocol import Executable, HostArray

COPIED = 1 << 24
"""Bytes that are copied into arrays of less than `outputs.LARGE` before a call is compiled that writes there, which takes as
long or longer: the program may come from another process, and is then built again."""


class Writing:
    """Calls of a function with arguments of some kinds, with arrays for the results."""

    def __init__(self, found: Specialised) -> None:
        self._found = found
        self._held = [constant for constant in found.constants if isinstance(constant, np.ndarray)]
        self._copied = 0
        self._into: dict[int, Callable[[Sequence[Leaf]], list[HostArray]] | None] = {}

    def write(self, chain: Callable[..., object], arguments: Sequence[object], out: object) -> bool:
        """Runs the program, and has the results in `out`, if these are plain arrays that lie apart from all that it reads, and
        all is as usual; else it does nothing. `chain`: the function without arrays for results.

        Raises what the program raises, and `AccelTypeError` or `AccelShapeError` for arrays that do not fit.
        """
        rooms = out if isinstance(out, tuple) else (out,)
        size = self._suits(rooms, arguments)
        if size is None:
            return False
        if size < outputs.LARGE and self._copied < COPIED:
            self._copied += size
            into = None
        else:
            if len(rooms) not in self._into:
                self._into[len(rooms)] = self._found.writing(len(rooms))
            into = self._into[len(rooms)] if self._found.result.is_nested_as(out) else None
        if into is None:
            _store(chain(*arguments), out)
        else:
            leaves = [leaf for argument in arguments for leaf in leaves_of(argument)]
            _store(self._found.of(into, [*leaves, *self._found.constants, *rooms]), out)
        return True

    def _suits(self, rooms: Sequence[object], arguments: Sequence[object]) -> int | None:
        """How many bytes rooms have that are arrays of NumPy's own, that kernels can write to, and that lie apart from each
        other and from arguments, which are such arrays, too; None of all else."""
        size = 0
        for number, room in enumerate(rooms):
            if type(room) is not np.ndarray or not room.flags.carray:
                return None
            size += room.nbytes
            for other in (*arguments, *self._held, *rooms[:number]):
                if type(other) is not np.ndarray or np.may_share_memory(room, other):
                    return None
        return size


class Taking:
    """Calls of a function with arguments of some kinds, of which results may take the memory of those with some numbers."""

    def __init__(self, found: Specialised, numbers: Sequence[int]) -> None:
        self._found = found
        self._numbers = frozenset(numbers)
        self._held = [constant for constant in found.constants if isinstance(constant, np.ndarray)]
        self._executable: list[Executable] = []

    def take(self, arguments: Sequence[object]) -> tuple[object] | None:
        """The results, in a tuple, if donated arguments are plain arrays in memory of their own, apart from all else that the
        program reads; None if not all is as usual: nothing is done then. Raises what the program raises."""
        for number in self._numbers:
            given = arguments[number]
            if type(given) is not np.ndarray or not given.flags.carray or not has_own_memory(given):
                return None
            for other in (*arguments[:number], *arguments[number + 1 :], *self._held):
                if type(other) is not np.ndarray or np.may_share_memory(given, other):
                    return None
        leaves: list[Leaf] = []
        for argument in arguments:
            (leaf, *more) = leaves_of(argument)
            if leaf is not argument or more:  # complex numbers and what was converted
                return None
            leaves.append(leaf)
        if not self._executable:
            self._executable.append(self._found.taking(self._numbers) or self._found.executable)
        return (self._found.of(self._executable[0], [*leaves, *self._found.constants]),)


def has_own_memory(array: HostArray) -> bool:
    """Whether an array has memory of its own, or may be a result of accel's: it is as large as its base, or begins within the
    first page of bytes."""
    base = array.base
    if array.flags.owndata:
        return True
    if type(base) is not np.ndarray or not base.flags.owndata:
        return False
    return base.nbytes == array.nbytes or (base.dtype == np.uint8 and array.ctypes.data - base.ctypes.data < PAGE)


def _store(results: object, out: object) -> None:
    """`outputs.stored`, with fewer steps for one array."""
    if (
        type(results) is np.ndarray
        and type(out) is np.ndarray
        and results.dtype == out.dtype
        and results.shape == out.shape
    ):
        if not np.may_share_memory(results, out):  # it was written there
            waiting.copy(out, results)
    else:
        outputs.stored(results, out)
