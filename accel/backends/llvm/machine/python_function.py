"""Compiled code as a function that Python calls directly: no layer of Python or ctypes stands between."""

from __future__ import annotations

import ctypes
from typing import Any

_FASTCALL = 0x80
"""Python's `METH_FASTCALL`: `ptr function(ptr self, ptr arguments, i64 number)`."""


class _Definition(ctypes.Structure):
    """Python's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


def symbol(name: str) -> int:
    """The address of a function or variable of Python's C interface."""
    address = ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p).value
    assert address is not None
    return address


def python_function(
    name: str, address: int, held: tuple[object, ...]
) -> Any:  # Any: callers know what it takes and gives
    """The compiled function at `address` as an object. It gets a tuple as its `self`: the items of `held`, then its definition.

    What it holds lives as long as the object does: the tuple, which the garbage collector never empties, also when the
    object is part of a cycle.
    """
    definition = _Definition(name.encode(), address, _FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(definition), (*held, definition), None)
