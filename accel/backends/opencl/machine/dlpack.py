"""DLPack's capsule of a buffer in OpenCL's memory, made by hand: no library that we need writes it.

In: the buffer's handle (`cl_mem`), an element type and a shape. Out: a capsule called `dltensor`, which holds the owner of the
memory until its taker calls the deleter in it, or until it goes without having been taken. The layout is DLPack's `dlpack.h`,
of the versions before 1.0, which all takers read.
"""

from __future__ import annotations

import ctypes

from accel.ast.tree.types import ScalarType
from accel.support.dataclass import dataclass

OPENCL = 4
"""`kDLOpenCL`."""

CPU = 1
"""`kDLCPU`."""

_NAME = b"dltensor"


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


@dataclass(slots=True)
class _Given:
    """What somebody else holds: the structure, its shape, and the memory's owner."""

    managed: _Managed
    shape: ctypes.Array[ctypes.c_int64]
    owner: object


class Exports:
    """The capsules that somebody holds. There is one object of it, which lives as long as the process: so do the functions that
    takers call."""

    def __init__(self) -> None:
        self._given: dict[int, _Given] = {}
        self._deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._deleted)
        self._destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._untaken)
        api = ctypes.pythonapi
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self._new = new(("PyCapsule_New", api))
        # The capsule is being destroyed when these are called: it is passed by its address, so that nothing refers to it again.
        self._is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", api))
        self._pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", api)
        )

    def capsule(self, handle: int, number: int, element: ScalarType, shape: tuple[int, ...], owner: object) -> object:
        """The capsule of a buffer with this handle on the device of that number. `owner` is held as long as it is needed."""
        extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        dtype = _Type(_code(element), element.bytes * 8, 1)
        tensor = _Tensor(handle, _Device(OPENCL, number), len(shape), dtype, extents, None, 0)
        managed = _Managed(tensor, None, ctypes.cast(self._deleter, ctypes.c_void_p).value)
        address = ctypes.addressof(managed)
        self._given[address] = _Given(managed, extents, owner)
        found: object = self._new(address, _NAME, ctypes.cast(self._destructor, ctypes.c_void_p))
        return found

    def _deleted(self, address: int) -> None:
        self._given.pop(address, None)

    def _untaken(self, capsule: int) -> None:
        if self._is_valid(capsule, _NAME):  # who takes it gives it another name
            self._given.pop(self._pointer(capsule, _NAME), None)


def _code(element: ScalarType) -> int:
    """DLPack's number for a kind of elements: `kDLInt`, `kDLUInt`, `kDLFloat`, `kDLBool`."""
    if element is ScalarType.BOOL:
        return 6
    if element.is_float:
        return 2
    return 0 if element.is_signed else 1
