"""The llvm backend's executable: the executor at first, the compiled call from the second time on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from accel.backends.executor import Execution
from accel.backends.llvm.calls.call import Call
from accel.backends.protocol import HostArray
from accel.ir.nodes import Program, Repeat


class Compiled:
    """See `accel.backends.protocol.Executable` and `Direct`.

    Compiling a call takes some milliseconds, so it is done when the program runs again, or at once if it has loops.
    """

    def __init__(self, program: Program, execution: Execution[HostArray], make: Callable[[], Call]) -> None:
        """`make` compiles the call."""
        self._execution = execution
        self._make = make
        self._again = any(isinstance(step, Repeat) for step in program.steps)
        self._made: list[Call] = []
        self._run: list[Callable[..., object]] = []

    def __call__(self, arguments: Sequence[HostArray]) -> list[HostArray]:
        """Run: see `accel.backends.protocol.Executable`."""
        if not self._again:
            self._again = True
            return self._execution(arguments)
        if not self._run:
            self._run.append(self.function(_Listed(self._execution), ()))
        found = self._run[0](*arguments)
        match found:
            case list():
                return found
            case tuple():
                return list(found)
            case np.ndarray():
                return [found]
            case _:
                raise AssertionError("a call gives arrays")

    def function(self, otherwise: Callable[..., object], constants: Sequence[HostArray]) -> Callable[..., object]:
        """See `accel.backends.protocol.Direct`."""
        if not self._made:
            self._made.append(self._make())
        return self._made[0].function(otherwise, constants)


class _Listed:
    """The executor as a function of its arrays. Its list says that it was not the compiled call."""

    def __init__(self, execution: Execution[HostArray]) -> None:
        self._execution = execution

    def __call__(self, *arguments: HostArray) -> list[HostArray]:
        return self._execution(arguments)
