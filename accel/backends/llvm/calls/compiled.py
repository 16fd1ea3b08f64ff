"""The llvm backend's executable: the executor at first, the compiled call from the second time on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from accel.backends.executor import Execution
from accel.backends.llvm.calls.call import Call
from accel.backends.llvm.calls.items import Functions, Unsupported
from accel.backends.llvm.machine.target import Library
from accel.backends.protocol import HostArray
from accel.ir.nodes import Program, Repeat


class Compiled:
    """See `accel.backends.protocol.Executable` and `Direct`.

    Compiling a call takes some milliseconds, so it is done when the program runs again, or at once if it has loops.
    """

    def __init__(
        self, program: Program, execution: Execution[HostArray], functions: Functions, kernels: Library
    ) -> None:
        self._program = program
        self._execution = execution
        self._functions = functions
        self._kernels = kernels
        self._again = any(isinstance(step, Repeat) for step in program.steps)
        self._call: list[Call | None] = []
        self._run: Callable[..., object] | None = None

    def __call__(self, arguments: Sequence[HostArray]) -> list[HostArray]:
        """Run: see `accel.backends.protocol.Executable`."""
        if not self._again:
            self._again = True
            return self._execution(arguments)
        if self._run is None:
            self._run = self.function(_Listed(self._execution), ()) or _Listed(self._execution)
        found = self._run(*arguments)
        match found:
            case list():
                return found
            case tuple():
                return list(found)
            case np.ndarray():
                return [found]
            case _:
                raise AssertionError("a call gives arrays")

    def function(
        self, otherwise: Callable[..., object], constants: Sequence[HostArray]
    ) -> Callable[..., object] | None:
        """See `accel.backends.protocol.Direct`."""
        if not self._call:
            self._call.append(self._compiled())
        call = self._call[0]
        return None if call is None else call.function(otherwise, constants)

    def _compiled(self) -> Call | None:
        try:
            return Call(self._program, self._functions, self._kernels)
        except Unsupported:
            return None


class _Listed:
    """The executor as a function of its arrays. Its list says that it was not the compiled call."""

    def __init__(self, execution: Execution[HostArray]) -> None:
        self._execution = execution

    def __call__(self, *arguments: HostArray) -> list[HostArray]:
        return self._execution(arguments)
