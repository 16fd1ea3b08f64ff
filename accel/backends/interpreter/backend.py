"""The `interpreter` backend: the labelled program itself, scalar by scalar, unfused. What all others are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.leaves import Leaf, read_only
from accel.backends.protocol import Executable, HostArray
from accel.backends.residence import on_host
from accel.labelled.meaning.interpret import interpret
from accel.labelled.nodes import Program
from accel.support.choices import Checks


class InterpreterBackend:
    """Needs no device and no loop program: it runs what comes before fusion."""

    name = "interpreter"

    def put(self, array: HostArray) -> Leaf:
        """A copy that cannot be written: see `accel.backends.protocol.Places`."""
        return read_only(array.copy(order="C"))

    def compile_labelled(self, program: Program, checks: Checks = "bounds") -> Executable:
        """The program as a callable: see `accel.backends.protocol.Executable`. `checks`: all look at each operation."""

        def execute(arguments: Sequence[Leaf]) -> list[HostArray]:
            return interpret(program, [on_host(argument, self.name) for argument in arguments], checks)

        return execute
