"""The `interpreter` backend: the labelled program itself, scalar by scalar, unfused. What all others are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.protocol import Executable, HostArray
from accel.labelled.meaning.interpret import interpret
from accel.labelled.nodes import Program
from accel.support.choices import Checks


class InterpreterBackend:
    """Needs no device and no loop program: it runs what comes before fusion."""

    name = "interpreter"

    def compile_labelled(self, program: Program, checks: Checks = "bounds") -> Executable:
        """The program as a callable: see `accel.backends.protocol.Executable`. `checks`: all look at each operation."""

        def execute(arguments: Sequence[HostArray]) -> list[HostArray]:
            return interpret(program, arguments, checks)

        return execute
