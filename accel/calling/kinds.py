"""Kinds of arguments: what a `runN` function tells calls apart by that one compiled program serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, Union

import numpy as np

from accel.ast.tree.types import DEEPEST, ElementType
from accel.device_array import DeviceArray
from accel.structure import records_of

Kind: TypeAlias = Union[
    tuple[np.dtype[np.generic], int],
    tuple[ElementType, int, object],
    tuple["Kind", ...],
    tuple[type[tuple[object, ...]], tuple["Kind", ...]],
]
"""The dtype and rank of NumPy's array, the element, rank and records of one on a device, or those of a tuple's: of a named one
with its class."""


def kinds_of(arguments: Sequence[object], depth: int = DEEPEST) -> tuple[Kind, ...] | None:
    """The kinds of NumPy's arrays, arrays on a device, and tuples of them, which may be named.

    None if there is anything else, or tuples lie deeper than `depth`.
    """
    kinds: list[Kind] = []
    for argument in arguments:
        if type(argument) is np.ndarray:
            kinds.append((argument.dtype, argument.ndim))
        elif type(argument) is DeviceArray:
            kinds.append((argument.element, argument.ndim, records_of(argument.element)))
        elif isinstance(argument, tuple) and depth and (type(argument) is tuple or hasattr(argument, "_fields")):
            inner = kinds_of(argument, depth - 1)
            if inner is None:
                return None
            kinds.append(inner if type(argument) is tuple else (type(argument), inner))
        else:
            return None
    return tuple(kinds)


def on_device(kind: Kind) -> bool:
    """Whether it is an array on a device, or has one. It recurses as deep as elements of tuples are."""
    first = kind[0]
    if isinstance(first, tuple | type):
        return any(on_device(each) for each in kind if isinstance(each, tuple))
    return not isinstance(first, np.dtype)


def with_arrays(arguments: Sequence[object]) -> Sequence[object] | None:
    """The arguments with arrays without dimensions for NumPy's scalars; None if there are no such scalars."""
    for argument in arguments:
        if isinstance(argument, np.generic):
            return [np.asarray(each) if isinstance(each, np.generic) else each for each in arguments]
    return None
