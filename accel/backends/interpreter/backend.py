"""The `interpreter` backend: the labelled program itself, scalar by scalar, unfused. What all others are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.protocol import Executable, HostArray
from accel.labelled.meaning.interpret import interpret
from accel.labelled.nodes import Program


class InterpreterBackend:
    """Needs no device and no loop program: it runs what comes before fusion."""

    name = "interpreter"

    def compile_labelled(self, program: Program, check_nan: bool = False) -> Executable:
        """The program as a callable: see `accel.backends.protocol.Executable`. `check_nan`: each operation is looked at."""

        def execute(arguments: Sequence[HostArray]) -> list[HostArray]:
            return interpret(program, arguments, check_nan)

        return execute
