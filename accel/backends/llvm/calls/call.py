"""A program's call, compiled and made a function that Python calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from accel.backends.llvm.calls.call_text import IMPORTS, call_text
from accel.backends.llvm.calls.items import Functions
from accel.backends.llvm.calls.writer import NAME, element_symbol
from accel.backends.llvm.machine.buffers import buffers
from accel.backends.llvm.machine.python_function import python_function, symbol
from accel.backends.llvm.machine.target import Library, host
from accel.backends.llvm.threads.pool import pool
from accel.backends.protocol import HostArray
from accel.ir.nodes import Program


class Call:
    """The compiled call of a program whose nests `kernels` holds, at these addresses."""

    def __init__(self, program: Program, functions: Functions, kernels: Library) -> None:
        """Raises `Unsupported` for programs that only the executor runs."""
        written = call_text(program, functions)
        imports = {**buffers().symbols, **pool().symbols, **kernels.addresses}
        imports |= {name: symbol(name) for name in IMPORTS}
        imports |= {element_symbol(element): id(element.dtype) for element in written.elements}
        self._library = host().load([host().compile(written.text, quick=True)], [NAME], imports)
        self._kernels = kernels

    def function(
        self, otherwise: Callable[..., object], constants: Sequence[HostArray]
    ) -> Callable[..., Any]:  # Any: what `otherwise` gives, or one array, or a tuple of several
        """The function of the arrays that come before `constants`; gives an array, or a tuple of as many as there are results.

        What is not as usual is `otherwise`'s, with the same arguments.
        """
        keep = (self._library, self._kernels)
        found: Callable[..., Any] = python_function(NAME, self._library.addresses[NAME], (otherwise, keep, *constants))
        return found
