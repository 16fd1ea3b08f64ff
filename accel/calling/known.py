"""What runs arguments of kinds that came before, and all ways to do so: the fewest steps to a program's kernels.

A call may ask by name that results are written to arrays of the caller's (`out`), take the memory of arguments (`donate`), or
stay where they are computed (`keep`). Here is what such a call does where all is as usual. What is not, and what is wrong, the
long way finds out (`asked.py`): it begins again, and ends here if nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.combinators.host.arrays import leaves_of, leaves_of_all
from accel.backends.llvm.machine.blocks_text import PAGE
from accel.calling import outputs
from accel.calling.direct import Short, short
from accel.calling.kinds import Kind, on_device
from accel.calling.specialised import Specialised
from accel.structure import flatten
from accel.support import waiting

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.backends.protocol import Executable, HostArray

LARGE = 1 << 20
"""Bytes of all results from which on it is worth it to write them where they are to be."""

COPIED = 1 << 24
"""Bytes that are copied into arrays of less than `LARGE` before a call is compiled that writes there, which takes as long or
longer: the program may come from another process, and is then built again."""


class Known:
    """What runs arguments of some kinds under some settings."""

    def __init__(self, kinds: tuple[Kind, ...], found: Specialised, backend: str) -> None:
        self._kinds = kinds
        self._found = found
        self._backend = backend
        self._on_device = any(on_device(kind) for kind in kinds)
        """Whether results stay where they are computed, as some arguments do."""
        self._held = [constant for constant in found.constants if isinstance(constant, np.ndarray)]
        self._short: tuple[Short | None] | None = None
        """Once arguments came twice: the executable with its constants, if there is a short way to it."""
        self._spread: set[object] = set()
        """What made functions of the chain for arrays without rows of adjacent elements."""
        self._copied = 0
        self._writing: dict[int, Executable | None] = {}
        self._taking: dict[frozenset[int], Executable] = {}

    def run(self, leaves: Sequence[Leaf], executable: Executable | None = None) -> object:
        """The results of arguments with these leaves. executable: what runs them; None: the program as it is."""
        data = [*leaves, *self._found.constants]
        return self._found.keep(data, self._backend) if self._on_device else self._found.run(data, executable)

    def shortened(self, chain: Callable[..., object], arguments: Sequence[Leaf]) -> Callable[..., object]:
        """The chain, with a function for these arguments before it where the program has one. `arguments`: their leaves.

        Those that have no rows of adjacent elements get one once there is code for how they lie.
        """
        if self._short is None:
            found = short(self._kinds, self._found)
            self._short = (found,)
            return (found and found.executable.function(chain, found.constants, found.forms)) or chain
        (found,) = self._short
        if found is not None:
            leaves = [*(each for each in arguments if isinstance(each, np.ndarray)), *found.constants]
            make = found.executable.spread(leaves, found.forms)
            if make is not None and make not in self._spread:
                self._spread.add(make)
                return make(chain, found.constants)
        return chain

    def asked(
        self, chain: Callable[..., object], arguments: Sequence[object], name: str, value: object
    ) -> tuple[object] | None:
        """The results in a tuple, of a call that asks for something by this name. `chain`: the call without that.

        None if not all is as usual: nothing is done then. Raises what the program raises, and `AccelTypeError` or
        `AccelShapeError` for arrays that do not fit its results.
        """
        if name == "out":
            return (value,) if self.write(chain, arguments, value) else None
        if name == "donate":
            return self.take(arguments, value)
        return (self.keep(arguments),) if name == "keep" and value is True else None

    def keep(self, arguments: Sequence[object]) -> object:
        """The results as arrays that stay where they are computed."""
        return self._found.keep([*leaves_of_all(arguments), *self._found.constants], self._backend)

    def write(self, chain: Callable[..., object], arguments: Sequence[object], out: object) -> bool:
        """Runs the program and has the results in `out`, if these are plain arrays that lie apart from all that it reads."""
        rooms = [out] if type(out) is np.ndarray else flatten((out,))
        size = self._suits(rooms, arguments)
        if size is None:
            return False
        into = self._into(rooms, size, out)
        if into is None:
            _store(chain(*arguments), out)
        else:
            _store(self._found.run([*leaves_of_all(arguments), *self._found.constants, *rooms], into), out)
        return True

    def _suits(self, rooms: Sequence[object], arguments: Sequence[object]) -> int | None:
        """How many bytes rooms have that are arrays of NumPy's own, that kernels can write to, and that lie apart from each
        other and from all that is read; None of all else."""
        size = 0
        for number, room in enumerate(rooms):
            if type(room) is not np.ndarray or not room.flags.carray:
                return None
            size += room.nbytes
            for other in (*_arrays(arguments), *self._held, *rooms[:number]):
                if np.may_share_memory(room, other):
                    return None
        return size

    def _into(self, rooms: Sequence[object], size: int, out: object) -> Executable | None:
        """What writes results to the rooms, if that is worth it."""
        if self._on_device:
            return None
        if size < LARGE and self._copied < COPIED:
            self._copied += size
            return None
        if len(rooms) not in self._writing:
            self._writing[len(rooms)] = self._found.writing(len(rooms))
        return self._writing[len(rooms)] if self._found.result.is_nested_as(out) else None

    def take(self, arguments: Sequence[object], numbers: object) -> tuple[object] | None:
        """The results, in a tuple, which may take the memory of arguments with these numbers, if those are plain arrays in
        memory of their own, apart from all else that the program reads."""
        if type(numbers) is not tuple:
            return None
        for number in numbers:
            if not self._is_given(arguments, number):
                return None
        if len(set(numbers)) < len(numbers):
            return None
        leaves: list[Leaf] = []
        taken: list[int] = []
        for number, argument in enumerate(arguments):
            own = leaves_of(argument)
            if number in numbers and own[0] is argument:  # and no complex numbers, and nothing that was converted
                taken.append(len(leaves))
            leaves.extend(own)
        given = frozenset(taken)
        if given not in self._taking:
            self._taking[given] = self._found.taking(given)
        return (self.run(leaves, self._taking[given]),)

    def _is_given(self, arguments: Sequence[object], number: object) -> bool:
        """Whether an argument of this number may be written to, when the program has read it."""
        if type(number) is not int or not 0 <= number < len(arguments):
            return False
        given = arguments[number]
        if type(given) is not np.ndarray or not given.flags.carray or not has_own_memory(given):
            return False
        for other in (*_arrays(arguments[:number]), *_arrays(arguments[number + 1 :]), *self._held):
            if np.may_share_memory(given, other):
                return False
        return True


def _arrays(arguments: Sequence[object]) -> Iterator[HostArray]:
    """The arrays that arguments of some kinds are, or consist of."""
    for argument in arguments:
        if type(argument) is np.ndarray:
            yield argument
        else:
            yield from [part for part in flatten((argument,)) if isinstance(part, np.ndarray)]


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
