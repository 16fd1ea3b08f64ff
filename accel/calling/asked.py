"""What a call of a `runN` function asks for by name, all of it checked before the program runs.

`out`: arrays for the results (`outputs.py`). `donate`: arguments whose memory results may take, `f(x, y, donate=(0,))`. `keep`:
the results stay where they are computed.

On `llvm` the last loops of a program may write a result into the memory of a donated argument that nothing reads any more, or
read and write it element by element, where dtype and number of elements are the same and nothing can fail any more. Elsewhere,
and on other backends, a donated argument is an argument like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from accel.ast.handles.literals import describe
from accel.ast.tree.host_functions import HostArray
from accel.calling.known import Known, has_own_memory
from accel.calling.outputs import checked, share, stored
from accel.errors import AccelTypeError, AccelValueError, here
from accel.structure import flatten
from accel.support.dataclass import frozen


@frozen
class Asked:
    """What a call asks for. `out`: None if it wants fresh arrays. `given`: the arguments with the numbers `donate`."""

    out: object
    donate: tuple[int, ...]
    given: tuple[HostArray, ...]
    keep: bool

    def require_apart(self, held: Sequence[object]) -> None:
        """Raises `AccelValueError` if what is donated shares memory with an array that the function holds."""
        for array, number in zip(self.given, self.donate, strict=True):
            if share([array], held):
                raise _shared(number, "an array that the function holds")

    def of(self, known: Known, arguments: Sequence[object], without: Callable[..., object]) -> tuple[object] | None:
        """The results in a tuple, by what runs arguments of these kinds; None if it does not take them so.

        `without`: the call that asks for nothing. Where there are arrays for the results these need no donated memory, which
        would be lost if the arrays turned out not to fit.
        """
        if self.out is not None:
            return (self.out,) if known.write(without, arguments, self.out) else None
        return known.take(arguments, self.donate) if self.donate else None

    def stored(self, results: object) -> object:
        """The results, or the arrays for them with the results in them. Raises what `outputs.stored` raises."""
        return results if self.out is None else stored(results, self.out)


def asked(
    arguments: Sequence[object],
    /,
    out: object = None,
    donate: object = (),
    keep: object = False,
    **others: object,
) -> Asked:
    """What a call with these arguments asks for by name.

    `donate`: numbers of arguments. Each is a C-contiguous, aligned, writable NumPy array with memory of its own, or a result of
    accel's, and shares it with no other array of the call. After the call nothing is known of its elements: it may share memory
    with a result, and be written to with that. Raises `AccelTypeError`, `AccelShapeError` or `AccelValueError` for what is
    wrong; then, and where the program's checks raise, donated arguments and arrays for results are as they were.

    >>> import accel as A, numpy as np
    >>> step, xs = A.runN(lambda xs: A.map(lambda x: x * 0.5, xs)), np.full(1000, 8.0)
    >>> for _ in range(3):
    ...     xs = step(xs, donate=(0,))
    >>> xs[:2]
    array([1., 1.])
    """
    if others or (keep and (out is not None or donate != ())):
        names = "it takes `out` and `donate`, or `keep` alone"
        message = f"a compiled function takes its arrays by position; by name {names}"
        raise AccelTypeError(message, here(), hint="leave the names of arrays out, as in `f(xs, ys)`")
    if out is not None:
        checked(out, arguments)
    numbers = _numbers(donate, len(arguments))
    given = tuple([_suitable(arguments[number], number) for number in numbers])
    _require_own_memory(given, numbers, arguments)
    return Asked(out, numbers, given, bool(keep))


def _require_own_memory(given: Sequence[HostArray], numbers: Sequence[int], arguments: Sequence[object]) -> None:
    """Raises `AccelValueError` if a donated array shares memory with another argument."""
    for array, number in zip(given, numbers, strict=True):
        for other, argument in enumerate(arguments):
            if other != number and share([array], flatten(argument)):
                raise _shared(number, f"argument {other}")


def _numbers(donate: object, count: int) -> tuple[int, ...]:
    """The numbers of arguments. Raises `AccelTypeError` or `AccelValueError` for anything else."""
    if not isinstance(donate, tuple | list) or not all(type(number) is int for number in donate):
        message = f"donate must be a tuple of numbers of arguments, got {describe(donate)}"
        raise AccelTypeError(message, here(), hint="the first argument is `donate=(0,)`")
    for number in donate:
        if not 0 <= number < count:
            message = f"there is no argument {number} to donate among {count}"
            raise AccelValueError(message, here(), hint="the first is 0")
    if len(set(donate)) < len(donate):
        raise AccelValueError(f"donate={donate!r} has an argument twice", here(), hint="name each argument once")
    return tuple(donate)


def _suitable(argument: object, number: int) -> HostArray:
    """The argument, an array that may be given away. Raises `AccelTypeError` or `AccelValueError` for anything else."""
    if type(argument) is not np.ndarray:
        message = f"donated argument {number} must be a NumPy array, got {describe(argument)}"
        raise AccelTypeError(
            message, here(), hint="do not donate it, or give an array that is made of it by `np.array`"
        )
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
