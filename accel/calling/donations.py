"""Arguments of a `runN` function whose memory its results may take: `f(x, y, donate=(0,))`. What it is called with by name.

Everything is checked before the program runs. On `llvm` the last loops of a program may write a result into the memory of a
donated argument that nothing reads any more, or read and write it element by element, where dtype and number of elements are
the same and nothing can fail any more. Elsewhere, and on other backends, a donated argument is an argument like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from accel.ast.handles.literals import describe
from accel.ast.tree.host_functions import HostArray
from accel.calling.direct import Kind, Ways
from accel.calling.outputs import checked, rooms, share, stored
from accel.calling.specialised import Specialised
from accel.calling.writing import Taking, Writing, has_own_memory
from accel.errors import AccelTypeError, AccelValueError, here
from accel.structure import flatten

Require: TypeAlias = Callable[[Sequence[HostArray]], None]
"""Raises what is wrong with arrays that a function holds."""


class Function(Protocol):
    """A function over arrays, as `RunN` is one."""

    def __call__(self, *arguments: Any) -> object:  # as the types of its parameters say
        """Call it."""
        ...

    def donating(self, args: Sequence[object], numbers: Sequence[int], require: Require, /) -> object:
        """Call it; arguments of these numbers may be taken, once `require` has judged what it holds."""
        ...

    def into(self, args: Sequence[object], rooms: Sequence[HostArray], out: object, /) -> object:
        """Call it; results may be written to the arrays, which `out` consists of."""
        ...

    def quick(self, args: Sequence[object], /) -> tuple[Ways, tuple[Kind, ...], Specialised] | None:
        """Its short ways, the kinds of the arguments, and what runs these, if such came before: another thread may have the
        ways forget it at any time."""
        ...


def called(
    function: Function,
    arguments: Sequence[object],
    /,
    out: object = None,
    donate: Sequence[int] = (),
    **others: object,
) -> object:
    """Call a compiled function with arrays for its results, with arguments whose memory these may take, or both.

    `out`: see `outputs.py`. `donate`: numbers of arguments. Each is a C-contiguous, aligned, writable NumPy array with
    memory of its own, or a result of accel's, and shares it with no other array of the call. After the call nothing is known
    of its elements: it may share memory with a result, and be written to with that. Raises `AccelTypeError`,
    `AccelShapeError`, `AccelValueError`, and what the call raises; where the program's checks raise, donated arguments are as
    they were.

    >>> import accel as A, numpy as np
    >>> step, xs = A.runN(lambda xs: A.map(lambda x: x * 0.5, xs)), np.full(1000, 8.0)
    >>> for _ in range(3):
    ...     xs = step(xs, donate=(0,))
    >>> xs[:2]
    array([1., 1.])
    """
    if others:
        names = "it takes `out` and `donate`, or `keep` alone"
        raise AccelTypeError(f"a compiled function takes its arrays by position; by name {names}", here())
    if out is not None:
        checked(out, arguments)
    numbers = _numbers(donate, len(arguments))
    if (known := function.quick(arguments)) is not None:  # later calls are asked for there first
        ways, kinds, found = known
        if numbers:
            ways.taking.setdefault((kinds, tuple(numbers)), Taking(found, numbers))
        else:
            ways.writing.setdefault(kinds, Writing(found))
    given = [_suitable(arguments[number], number) for number in numbers]
    _require_own_memory(given, numbers, arguments)

    def require(held: Sequence[HostArray]) -> None:
        for array, number in zip(given, numbers, strict=True):
            if share([array], held):
                raise _shared(number, "an array that the function holds")

    if numbers:
        results = function.donating(arguments, numbers, require)
    elif out is not None and (given_rooms := rooms(out)):
        results = function.into(arguments, given_rooms, out)
    else:
        results = function(*arguments)
    return results if out is None else stored(results, out)


def _require_own_memory(given: Sequence[HostArray], numbers: Sequence[int], arguments: Sequence[object]) -> None:
    """Raises `AccelValueError` if a donated array shares memory with another argument."""
    for array, number in zip(given, numbers, strict=True):
        for other, argument in enumerate(arguments):
            if other != number and share([array], flatten(argument)):
                raise _shared(number, f"argument {other}")


def _numbers(donate: object, count: int) -> Sequence[int]:
    """The numbers of arguments. Raises `AccelTypeError` or `AccelValueError` for anything else."""
    if not isinstance(donate, tuple | list) or not all(type(number) is int for number in donate):
        message = f"donate must be a tuple of numbers of arguments, got {describe(donate)}"
        raise AccelTypeError(message, here(), hint="the first argument is `donate=(0,)`")
    for number in donate:
        if not 0 <= number < count:
            message = f"there is no argument {number} to donate among {count}"
            raise AccelValueError(message, here(), hint="the first is 0")
    if len(set(donate)) < len(donate):
        raise AccelValueError(f"donate={donate!r} has an argument twice", here())
    return donate


def _suitable(argument: object, number: int) -> HostArray:
    """The argument, an array that may be given away. Raises `AccelTypeError` or `AccelValueError` for anything else."""
    if type(argument) is not np.ndarray:
        raise AccelTypeError(f"donated argument {number} must be a NumPy array, got {describe(argument)}", here())
    if not argument.flags.writeable:
        raise AccelValueError(
            f"donated argument {number} is read-only", here(), hint="do not donate it, or donate a copy"
        )
    if not (argument.flags.c_contiguous and argument.flags.aligned):
        message = f"donated argument {number} is not C-contiguous and aligned"
        raise AccelValueError(message, here(), hint="do not donate it, or donate a copy")
    if not has_own_memory(argument):
        message = f"donated argument {number} lies in the memory of something else"
        raise AccelValueError(
            message, here(), hint="do not donate it, or donate a copy: what else lies there would change"
        )
    return argument


def _shared(number: int, other: str) -> AccelValueError:
    hint = "nobody else may need what is donated: donate a copy"
    return AccelValueError(f"donated argument {number} and {other} share memory", here(), hint=hint)
