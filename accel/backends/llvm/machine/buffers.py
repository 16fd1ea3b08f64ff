"""Memory for arrays: aligned, and large blocks used again while their pages are warm (`arrays_text.py`).

The functions are compiled once per machine: kernels' callers call them as C, Python by `Buffers`.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.arrays_text import (
    BASE,
    DATA,
    ELEMENT,
    EXPORTS,
    EXTENTS,
    FLAGGED,
    FLAGS,
    IMPORTS,
    RANK,
    STRIDES,
    TYPE,
    arrays_text,
)
from accel.backends.llvm.machine.blocks_text import LIST_BYTES
from accel.backends.llvm.machine.kept_objects import kept_object
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.machine.python_function import python_function, symbol
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.errors import AccelDeviceError
from accel.support.forks import Once

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray

_PLACES: Mapping[str, int] = MappingProxyType({"PyArray_NewFromDescr": 94, "PyArray_SetBaseObject": 282})
"""Places in the table of NumPy's C functions; they never change."""


class Buffers:
    """The process's memory for arrays."""

    def __init__(self) -> None:
        check_array_layout()
        self._blocks = ctypes.create_string_buffer(LIST_BYTES)
        imports = {**numpy_functions(), **{name: symbol(name) for name in IMPORTS}}
        imports |= {"array_type": id(np.ndarray), "bytes_type": id(np.dtype(np.uint8))}
        imports |= {"blocks": ctypes.addressof(self._blocks)}
        library = load([kept_object("arrays", lambda: arrays_text() + HOST_ATTRIBUTES)], EXPORTS, imports)
        self._library = library
        self.symbols: Mapping[str, int] = library.addresses
        """What compiled calls import."""
        self._take: Callable[..., HostArray] = python_function(
            "take", library.addresses["accel_python_take"], (library,)
        )
        self._clear = python_function("clear", library.addresses["accel_python_clear"], (library,))

    def take(self, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """An uninitialised C-contiguous array. Raises `MemoryError`."""
        return self._take(element.dtype, element.bytes, *shape)

    def clear(self) -> None:
        """Gives all blocks that nothing else refers to back to the system; those in use are not used again."""
        self._clear()


def numpy_functions() -> Mapping[str, int]:
    """The addresses of functions of NumPy's C interface."""
    # What `import_array` of NumPy's C headers reads; the module has no types.
    capsule = importlib.import_module("numpy._core._multiarray_umath")._ARRAY_API
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = (ctypes.c_void_p * (max(_PLACES.values()) + 1)).from_address(pointer(capsule, None))
    return {name: table[place] or 0 for name, place in _PLACES.items()}


def check_array_layout() -> None:
    """Raises `AccelDeviceError` unless array objects are laid out as compiled code reads them."""
    base = np.zeros((4, 5), np.int16)
    probe = base[:3]

    def word(place: int) -> int:
        return ctypes.c_int64.from_address(id(probe) + place).value

    def half(place: int) -> int:
        return ctypes.c_int32.from_address(id(probe) + place).value

    found = (word(0), word(TYPE), word(DATA), half(RANK), word(BASE), word(ELEMENT), half(FLAGS) & FLAGGED)
    wanted = (1, id(np.ndarray), probe.ctypes.data, 2, id(base), id(probe.dtype), FLAGGED)
    if found == wanted:
        extents, strides = ((ctypes.c_int64 * 2).from_address(word(place)) for place in (EXTENTS, STRIDES))
        if (*extents, *strides) == (*probe.shape, *probe.strides):
            return
    raise AccelDeviceError(
        "this Python keeps NumPy arrays in another layout than the llvm backend knows",
        hint="use backend='opencl' or backend='interpreter'",
    )


buffers = Once(Buffers)
"""The memory, made on first demand."""
