"""Results of a `runN` function in arrays that the caller gives: `f(x, y, out=r)`.

Each array has the dtype and shape of its result, any strides, and shares no memory with arguments or other results. On `llvm`
large results are written there where the last loops of a program make them all, in which nothing can fail any more, and the
arrays are C-contiguous (`known.py`); others are computed in memory of accel's own and copied, which costs a pass over them.
(Small ones are written there, too, once many were copied.) Everything is checked before the first element is written, so that
an array keeps what it held if anything is wrong; but an interrupt or a lack of memory may leave it written in part.

>>> import accel as A, numpy as np
>>> double, room = A.runN(lambda xs: A.map(lambda x: x * 2, xs)), np.empty(3, np.int64)
>>> double(np.arange(3), out=room) is room, room
(True, array([0, 2, 4]))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from accel.ast.handles.literals import describe
from accel.ast.tree.host_functions import HostArray
from accel.errors import AccelError, AccelShapeError, AccelTypeError, AccelValueError, here
from accel.structure import flatten
from accel.support import waiting


def checked(out: object, arguments: Sequence[object]) -> None:
    """Raise what is wrong with `out` whatever the results are.

    Raises `AccelTypeError` for what is no array or tuple of them, `AccelValueError` for arrays that cannot be written, whose
    elements share memory with each other, or that lie in memory (by their first and last bytes) among the arguments, or the
    parts of these, or each other.
    """
    given = list(_leaves(out, "out"))
    for array, name in given:
        if not array.flags.writeable:
            raise AccelValueError(f"{name} is read-only", here(), hint="give an array that may be written to")
        if _overlaps_itself(array):
            hint = "give an array each of whose elements has memory of its own: np.empty(shape, dtype)"
            raise AccelValueError(f"elements of {name} share memory with each other", here(), hint=hint)
        for number, argument in enumerate(arguments):
            if share([array], flatten(argument)):
                raise _overlap(f"{name} and argument {number}")
    for (one, first), (other, second) in combinations(given, 2):
        if np.may_share_memory(one, other):
            raise _overlap(f"{first} and {second}")


def _overlaps_itself(array: HostArray) -> bool:
    """Whether a step along an axis is shorter than what all shorter steps reach, so that elements may lie in others. Axes that
    interleave without that are refused, too: only `as_strided` makes such.
    """
    reach = array.itemsize
    for step, extent in sorted((abs(step), extent) for step, extent in zip(array.strides, array.shape, strict=True)):
        if extent > 1 and step < reach:
            return array.size > 0
        reach += step * (extent - 1)
    return False


def share(some: Sequence[object], others: Sequence[object]) -> bool:
    """Whether an array among some may lie in memory among the arrays of the others."""
    known, given = ([each for each in all_ if isinstance(each, np.ndarray)] for all_ in (some, others))
    return any(np.may_share_memory(one, other) for one in known for other in given)


def stored(results: object, out: object) -> object:
    """`out`, with the results in it. Raises `AccelTypeError` or `AccelShapeError` unless they are arrays of the same kinds."""
    pairs = list(_pairs(results, out, "out"))
    for result, array, name in pairs:
        if array.dtype != result.dtype:
            message = f"{name} has elements of type {array.dtype}, the result of type {result.dtype}"
            raise AccelTypeError(message, here(), hint=f"make it by np.empty(shape, {_spelt(result.dtype)})")
        if array.shape != result.shape:
            message = f"{name} has shape {array.shape}, the result {result.shape}"
            hint = f"make it by np.empty({result.shape}, {_spelt(result.dtype)})"
            raise AccelShapeError(message, here(), hint=hint)
    for result, array, _ in pairs:
        if not np.may_share_memory(array, result):  # it was written there
            waiting.copy(array, result)
    return out


def _spelt(dtype: np.dtype[np.generic]) -> str:
    """How a dtype is written."""
    return f"{dtype}" if dtype.names else f"np.{dtype}"


def _overlap(which: str) -> AccelError:
    hint = "results are written to memory of their own: give other arrays, or none and take what the call returns"
    return AccelValueError(f"{which} share memory", here(), hint=hint)


def _leaves(out: object, name: str) -> Iterator[tuple[HostArray, str]]:
    """Its arrays, and what errors call them. It recurses on nested tuples of results only."""
    if isinstance(out, tuple):
        for number, part in enumerate(out):
            yield from _leaves(part, f"{name}[{number}]")
    elif isinstance(out, np.ndarray):
        yield out, name
    else:
        message = f"{name} must be a NumPy array, or a tuple of them for several results, got {describe(out)}"
        raise AccelTypeError(message, here(), hint="make one by np.empty(shape, dtype)")


def _pairs(results: object, out: object, name: str) -> Iterator[tuple[HostArray, HostArray, str]]:
    """Each result, the array that it goes to, and what errors call that. It recurses on nested tuples of results only."""
    if isinstance(results, tuple):
        if not isinstance(out, tuple) or len(out) != len(results):
            message = f"{name} must be a tuple of {len(results)}, as the results are, got {describe(out)}"
            raise AccelTypeError(message, here(), hint="give an array for each of them")
        for number, (result, part) in enumerate(zip(results, out, strict=True)):
            yield from _pairs(result, part, f"{name}[{number}]")
        return
    result = np.asarray(results)
    if not isinstance(out, np.ndarray):
        message = f"{name} must be one array, as the result is, got {describe(out)}"
        raise AccelTypeError(message, here(), hint="give the array itself, in no tuple")
    yield result, out, name
