"""Whether an operation made a NaN, for `checks="all"`: its result has one, and none of the arrays that it read has.

What follows from a NaN that was there before, an argument's for instance, is nobody's fault.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np

from accel.errors import AccelNaNError
from accel.labelled.array import Array
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.nodes import Acond, Awhile, Binding, Copy, Force, HostCall, Map, Reshape, Use
from accel.labelled.places import name

MOST = 4
"""Operands whose values are shown."""


def floats(arrays: Iterable[Array]) -> list[Array]:
    """Those that can hold a NaN."""
    return [array for array in arrays if array.element.is_float]


def has_nan(array: HostArray) -> bool:
    """Whether any element is a NaN."""
    return bool(np.isnan(array).any())


def check(binding: Binding, made: Iterable[Array], read: Collection[Array], load: Callable[[Array], HostArray]) -> None:
    """Raise `AccelNaNError` if the operation made a NaN. `load` gives the arrays that it made and read.

    What passes arrays on makes none, nor does control flow: the operations inside of it do. Functions of the host are believed.
    """
    if isinstance(binding.operation, Use | Copy | Force | Reshape | Acond | Awhile | HostCall):
        return
    for array in floats(made):
        found = load(array)
        if has_nan(found):
            if not any(has_nan(load(other)) for other in floats(read)):
                raise _error(binding, found, read, load)
            return


def _error(
    binding: Binding, result: HostArray, read: Collection[Array], load: Callable[[Array], HostArray]
) -> AccelNaNError:
    """At the first NaN in row-major order. A map's operands have values there; others read many elements for one."""
    index = tuple(int(i) for i in np.unravel_index(int(np.isnan(result).argmax()), result.shape))
    message = f"{name(binding)} makes a NaN{f' at index {index}' if index else ''}"
    if read:
        message += " of operands that have none"
    if isinstance(binding.operation, Map):
        there = [str(load(array)[index]) for array in binding.operation.inputs if array in read]
        more = [f"{len(there) - MOST} more"] if len(there) > MOST else []
        message += f"; there they are {', '.join(there[:MOST] + more)}" if there else ""
    hint = 'where one is meant run it without `checks="all"`; else choose by `A.cond` what is computed there'
    return AccelNaNError(message, binding.where, hint=hint)
