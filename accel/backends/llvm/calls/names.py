"""Symbols by which a call, the functions that it calls and the process that links it know each other."""

from __future__ import annotations

from accel.ast.tree.types import ScalarType

NAME = "call"
"""The call itself."""

IMPORTS = ("Py_IncRef", "PyErr_Clear", "PyErr_Occurred", "PyTuple_New", "PyTuple_SetItem")
"""Functions of Python's C interface that a call calls; one that sorts, also `PyObject_Vectorcall`."""


def element_symbol(element: ScalarType) -> str:
    """The NumPy descriptor of an element type."""
    return f"element_{element.value}"


def sorter_symbol(number: int) -> str:
    """The function of Python's that puts rows in order, for one of a call's sorts."""
    return f"sorter_{number}"
