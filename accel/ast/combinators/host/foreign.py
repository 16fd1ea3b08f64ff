"""Arrays of other libraries, seen by NumPy: `__array__`, NumPy's array interface, DLPack, the buffer protocol.

In: any object. Out: a NumPy array of any dtype, not copied where the protocol allows that. What goes wrong in the object's own
code, or in what it says of itself, is an `AccelTypeError`. That an address is one cannot be checked, and is believed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from accel.ast.combinators.host.nulls import require_no_nulls
from accel.ast.handles.literals import describe
from accel.ast.tree.types import F32, ComplexType, ScalarType, number_type
from accel.errors import AccelError, AccelTypeError, Where
from accel.support.source import texts

HostArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]

_BY_NUMPY = ("__array__", "__array_interface__", "__array_struct__")


def to_numpy(value: object, where: Where | None) -> HostArray:
    """`value` as an array. Raises `AccelTypeError` for what is none or fails to show one; lack of memory is passed on."""
    try:
        if not isinstance(value, (np.ndarray, np.generic)):
            require_no_nulls(value, where)
        array = _shown(value)
        on_a_gpu = array is None and hasattr(value, "__cuda_array_interface__")
    except (AccelError, MemoryError):
        raise
    except Exception as error:  # the object's own code: anything
        message = f"use takes arrays, and {describe(value)} failed to give one: {_described(error)}"
        hint = "convert it before: `A.use(np.array(...))`"
        raise AccelTypeError(message, where, hint=hint) from error
    if on_a_gpu:
        hint = "copy it to the host: `x.get()`, `x.copy_to_host()` or `x.cpu().numpy()`, as its library has it"
        raise AccelTypeError(f"use takes arrays of the host, got {describe(value)} in a GPU's memory", where, hint=hint)
    if array is None:
        raise AccelTypeError(f"use takes arrays, got {describe(value)}", where, hint=_instead(value, where))
    return array


def as_array(value: object, text: str, element: ScalarType | ComplexType | None = None) -> str:
    """The call that makes an array of `value`, which the user wrote as `text`; of elements of that type, if one is due."""
    found = _element(value) if element is None else element
    return f"np.array({text}, dtype=np.{(found or F32).dtype})"


def _instead(value: object, where: Where | None) -> str:
    """The hint for what `use` does not take."""
    (text,) = texts("use", where, ("value",))
    if isinstance(value, (bool, int, float, complex)):
        return f"write `A.unit({value!r})` for an array of rank 0, or `{value!r}` itself where an Exp is due"
    if isinstance(value, list) and _element(value) is None:
        return "NumPy makes no array of numbers of it: write numbers only, in rows of one length"
    rest = "" if _element(value) else ", with the type that is meant"
    return f"write `A.use({as_array(value, text)})`{rest}"


def _element(value: object) -> ScalarType | ComplexType | None:
    """The type that NumPy gives the elements of a list, if it is one and accel has it."""
    if not isinstance(value, (bool, int, float, complex, list, range)):
        return None
    try:
        return number_type(np.array(value).dtype)
    except (TypeError, ValueError):  # rows of different lengths, or expressions, which have no values
        return None


def _shown(value: object) -> HostArray | None:
    """By the first protocol that the object has. Raises whatever the object does, and whatever NumPy finds wrong."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if any(hasattr(value, name) for name in _BY_NUMPY):
        array = np.asarray(value)
        if _leaves_its_buffer(array):
            raise ValueError("more elements than its buffer has bytes for")
        return array
    if hasattr(value, "__dlpack__"):
        array = np.from_dlpack(value)
        if array.size and array.flags.owndata:  # NumPy allocates what has no address, and leaves it as it is
            raise ValueError("elements at no address")
        return array
    try:
        buffer = memoryview(value)  # type: ignore[arg-type]  # what is no buffer raises
    except TypeError:
        return None
    return np.asarray(buffer)


def _leaves_its_buffer(array: HostArray) -> bool:
    """Whether an array has elements outside of the buffer that it is said to be a part of, which NumPy does not check."""
    if array.base is None or not array.size:
        return False
    try:
        buffer = np.frombuffer(array.base, np.uint8)
    except (TypeError, ValueError, BufferError):  # no plain buffer: an object, a capsule
        return False
    steps = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
    first = array.ctypes.data - buffer.ctypes.data + sum(min(step, 0) for step in steps)
    last = array.ctypes.data - buffer.ctypes.data + sum(max(step, 0) for step in steps) + array.itemsize
    return first < 0 or last > buffer.size


def _described(error: Exception) -> str:
    """The kind of an exception and the first line of its text, which is the object's own code, too."""
    try:
        text = str(error)
    except Exception:  # whatever that raises
        text = ""
    line, _, _ = text.partition("\n")
    return f"{type(error).__name__}{line and f': {line}'}"
