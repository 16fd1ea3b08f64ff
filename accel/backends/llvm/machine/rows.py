"""Arguments as compiled code takes them: with any strides, but aligned, and the elements of each row adjacent."""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.host_functions import HostArray
from accel.ast.tree.types import ScalarType, number_type
from accel.backends.llvm.machine.buffers import buffers


def with_rows(array: HostArray) -> HostArray:
    """The array itself, or a copy if it is misaligned or its innermost elements are not adjacent. Raises `MemoryError`."""
    flags = array.flags
    if flags.aligned and (flags.c_contiguous or _has_rows(array)):
        return array
    element = number_type(array.dtype)
    assert isinstance(element, ScalarType), "a leaf has scalars"
    copy = buffers().take(element, array.shape)  # memory that is warm: fresh pages cost more than the copy
    copy[...] = array
    return copy


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
