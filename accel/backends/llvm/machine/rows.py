"""Arguments as compiled code takes them: with any strides, but aligned, and the elements of each row adjacent.

Of others there is a copy, or code of its own for how they lie in memory, their `Spread` (`calls/in_place.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from accel.ast.tree.host_functions import HostArray
from accel.ast.tree.types import ScalarType, number_type
from accel.backends.llvm.machine.buffers import buffers
from accel.support import waiting

ANY = 0
"""The step of a spread that is known at the call only."""

STEPS = (-1, 2, 3, 4)
"""Steps that there is code for: other elements are gathered one by one."""


class Spread(NamedTuple):
    """How an array lies in memory whose rows' elements are not adjacent.

    order: its dimensions, those with the longest strides first; without those whose strides are 0, which repeat elements. step:
    from one element to the next along the last of them, in elements; 1, one of `STEPS`, or `ANY`. A named tuple, which is
    looked up at each call without taking time.
    """

    order: tuple[int, ...]
    step: int


def spread(array: HostArray) -> Spread | None:
    """How an array lies in memory that has no rows of adjacent elements; None for others, and for one that is misaligned."""
    flags = array.flags
    if flags.c_contiguous or not flags.aligned or _has_rows(array):
        return None
    return _spread(array.strides, array.itemsize)


@lru_cache(1024)
def _spread(strides: tuple[int, ...], item: int) -> Spread:
    order = sorted([axis for axis, stride in enumerate(strides) if stride], key=lambda axis: -abs(strides[axis]))
    if not order:
        return Spread((), 1)
    step, rest = divmod(strides[order[-1]], item)
    return Spread(tuple(order), ANY if rest or (step != 1 and step not in STEPS) else step)


def with_rows(array: HostArray) -> HostArray:
    """The array itself, or a copy if it is misaligned or its innermost elements are not adjacent. Raises `MemoryError`."""
    flags = array.flags
    if flags.aligned and (flags.c_contiguous or _has_rows(array)):
        return array
    element = number_type(array.dtype)
    assert isinstance(element, ScalarType), "a leaf has scalars"
    made = buffers().take(element, array.shape)  # memory that is warm: fresh pages cost more than the copy
    waiting.copy(made, array)
    return made


def all_with_rows(arguments: Sequence[HostArray]) -> Sequence[HostArray]:
    """`with_rows` of arrays of which some may not be read at all.

    One that repeats an element, of which a copy may be far larger, is left as it is; so are all if there is no memory for
    copies.
    """
    try:
        return [argument if 0 in argument.strides else with_rows(argument) for argument in arguments]
    except MemoryError:
        return arguments


def _has_rows(array: HostArray) -> bool:
    """Whether the elements of the last dimension are adjacent."""
    return array.ndim > 0 and array.strides[-1] == array.itemsize
