"""`use`: arrays of the host enter a program.

In: NumPy arrays of any strides and byte order, objects that NumPy can see as arrays (`foreign.py`), nested tuples of
arrays of one shape (struct of arrays). Out: `Use` nodes. Native arrays are not copied. Raises
`AccelTypeError` for element types that accel lacks, `AccelShapeError` for tuples of arrays of different shapes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from accel.ast.combinators.host.foreign import HostArray, to_numpy
from accel.ast.handles.acc import Acc
from accel.ast.handles.extents import require_extents
from accel.ast.tree.leaves import Leaf
from accel.ast.tree.nodes import Use
from accel.ast.tree.types import (
    ComplexType,
    ElementType,
    RecordType,
    TupleType,
    array_type,
    number_type,
    require_shallow_tuples,
)
from accel.device_array import DeviceArray
from accel.errors import AccelShapeError, AccelTypeError, Where, here


def use(x: object) -> Acc[Any]:
    """An array of the host, or a tuple of arrays of one shape as an array of tuples. It is not copied: do not change it.

    >>> A.run(A.map(lambda x: x + 1, A.use(np.arange(3.0))))
    array([1., 2., 3.])
    """
    where = here()
    if isinstance(x, tuple):
        require_shallow_tuples(x, where)
    element, data = taken(x, where)
    shape = data[0].shape
    if len(data) > 1 and any(array.shape != shape for array in data):
        listed = " and ".join(str(shape) for shape in dict.fromkeys(array.shape for array in data))
        hint = "arrays of different shapes enter one by one: `A.use(x), A.use(y)`"
        raise AccelShapeError(f"use of a tuple needs arrays of one shape, got {listed}", where, hint=hint)
    require_extents(shape, where)
    return Acc(Use(data, (array_type(len(shape), element),), where), shape)


def leaves_of(value: object) -> Sequence[Leaf]:
    """The leaves of what `use` takes, without a node: for arguments of kinds that came before. Raises what it does."""
    _, data = taken(value, None)
    if len(data) > 1:
        shape = data[0].shape
        for each in data:
            if each.shape != shape:
                use(value)
    return data


def leaves_of_all(values: Sequence[object]) -> list[Leaf]:
    """The leaves of several, one behind the other."""
    return [leaf for value in values for leaf in leaves_of(value)]


def taken(value: object, where: Where | None) -> tuple[ElementType, tuple[Leaf, ...]]:
    """The element type of an array of the host or of a device, and its leaves.

    Raises `AccelTypeError` for what accel does not take.
    """
    if type(value) is np.ndarray:  # as in most calls
        return _leaves(value, where)
    if isinstance(value, tuple):
        if not value:
            raise AccelTypeError(
                "use of an empty tuple: there is no shape", where, hint="for one `()` write `A.unit(A.lift())`"
            )
        parts = [taken(item, where) for item in value]
        kinds, data = tuple(kind for kind, _ in parts), tuple(array for _, some in parts for array in some)
        return RecordType(kinds, type(value)) if hasattr(value, "_fields") else TupleType(kinds), data
    if isinstance(value, DeviceArray):
        return value.element, value.leaves
    return _leaves(_to_numpy(value, where), where)


def _to_numpy(value: object, where: Where | None) -> HostArray:
    if isinstance(value, Acc):
        raise AccelTypeError("use takes arrays of the host, got an Acc", where, hint="it is in the program already")
    if _is_masked(value):
        hint = "write `A.use(x.filled(value))`, or use data and mask: `A.use((x.data, np.ma.getmaskarray(x)))`"
        raise AccelTypeError("use takes plain arrays, got a masked one", where, hint=hint)
    return to_numpy(value, where)


def _is_masked(value: object) -> bool:
    """Whether a value is a masked array. Where nobody imported `numpy.ma` there is none, and naming it would import it."""
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    return isinstance(masked, type) and isinstance(value, masked)


# Any: a structured array and a plain one differ only in their dtype's value.
def _leaves(array: np.ndarray[Any, np.dtype[Any]], where: Where | None) -> tuple[ElementType, tuple[HostArray, ...]]:
    dtype = array.dtype
    if dtype.names:
        for name in dtype.names:
            if dtype[name].subdtype is not None:
                message = f"accel has no element type for the field {name!r} of NumPy's {dtype[name]}"
                raise AccelTypeError(message, where, hint=f"its arrays enter by themselves: `A.use(x[{name!r}])`")
        parts = [_leaves(array[name], where) for name in dtype.names]
        kinds, leaves = tuple(kind for kind, _ in parts), tuple(leaf for _, data in parts for leaf in data)
        return RecordType(kinds, dtype.names), leaves
    element = number_type(dtype)
    if element is None:
        raise AccelTypeError(f"accel has no element type for NumPy's {dtype}", where, hint=_remedy(dtype))
    native = array if dtype is element.dtype else array.astype(element.dtype, copy=False)
    if isinstance(element, ComplexType):
        return element, (_in_whole_elements(native.real), _in_whole_elements(native.imag))
    return element, (_in_whole_elements(native),)


def _in_whole_elements(array: HostArray) -> HostArray:
    """The array, or a copy if its elements do not lie one or more whole ones apart."""
    # Fields of packed records may lie anywhere; what reads arrays counts in whole elements.
    size = array.itemsize
    for stride in array.strides:
        if stride % size:
            return array.copy()
    return array if array.flags.aligned else array.copy()


def _remedy(dtype: np.dtype[Any]) -> str:
    match dtype.kind:
        case "f":
            return "write `A.use(x.astype(np.float64))`"
        case "c":
            return "write `A.use(x.astype(np.complex128))`"
        case "M" | "m":
            return "write `A.use(x.astype(np.int64))`"
        case _:
            kinds = "bools, integers, floats and complex numbers"
            return f"accel computes with {kinds}; write `A.use(x.astype(np.float64))` if they are numbers"
