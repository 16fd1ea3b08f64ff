"""The condition of a loop computed where its state is: in the step, so that both can share loops.

    while condition(s): s = step(s)    becomes    go = condition(s); while go: s = step(s); go = condition(s)

The state gets one more bool. The condition is evaluated exactly as often as before, and by the same bindings, so errors
name the same lines. Done only where it saves a pass over an array or a start of a kernel: where an operation of the condition
reads, in an order, what the step makes or reads.
"""

from __future__ import annotations

from dataclasses import replace

from accel.ast.tree.types import BOOL
from accel.labelled import programs
from accel.labelled.array import Array
from accel.labelled.nodes import Awhile, Binding, Program, Reshape
from accel.labelled.operations import with_parts
from accel.labelled.passes.dependence import Names
from accel.support.dataclass import dataclass


def rotate_loops(program: Program) -> Program:
    """The program with the conditions of loops in their steps, where that can save something. Labels no longer rise."""
    return _Rotate(Names(program)).program(program)


def rotated(binding: Binding, loop: Awhile, holds: Array, names: Names) -> Binding:
    """The loop with its condition in its step; `holds` is the condition for the initial state."""
    inside, again = names.instance(loop.condition, loop.body.results)
    flags = [Array(names.label(), 0, BOOL, ()) for _ in range(2)]
    condition = Program((*loop.condition.parameters, (flags[0],)), (), (flags[0],))
    body = Program((*loop.body.parameters, (flags[1],)), (*loop.body.bindings, *inside), (*loop.body.results, *again))
    last = Array(binding.label, 1 + max(array.leaf for array in binding.arrays), BOOL, ())
    operation = Awhile(condition, body, (*loop.initial, holds))
    return replace(binding, operation=operation, arrays=(*binding.arrays, last))


@dataclass(frozen=True, slots=True)
class _Rotate:
    names: Names

    def program(self, program: Program) -> Program:
        """It recurses on nested control flow only."""
        bindings: list[Binding] = []
        for binding in program.bindings:
            match binding.operation:
                case Awhile(condition, body, initial):
                    bindings += self._loop(binding, Awhile(self.program(condition), self.program(body), initial))
                case _:
                    bindings.append(replace(binding, operation=with_parts(binding.operation, self.program)))
        return replace(program, bindings=tuple(bindings))

    def _loop(self, binding: Binding, loop: Awhile) -> list[Binding]:
        if not shares(loop):
            return [replace(binding, operation=loop)]
        asked, (holds,) = self.names.instance(loop.condition, loop.initial)
        return [*asked, rotated(binding, loop, holds, self.names)]


def shares(loop: Awhile) -> bool:
    """Whether the condition reads in an order what the step makes in a loop, or reads in an order, too."""
    made = {
        array for binding in loop.body.bindings for array in binding.arrays if programs.makes_streams(binding.operation)
    }
    read = {array for binding in loop.body.bindings for array in programs.streams(binding.operation)}
    state = [leaf for parameter in loop.condition.parameters for leaf in parameter]
    near = {leaf for leaf, array in zip(state, loop.body.results, strict=True) if array in made | read}
    for binding in loop.condition.bindings:
        if isinstance(binding.operation, Reshape):
            near.update(binding.arrays if near.intersection(binding.operation.inputs) else ())
        elif near.intersection(programs.streams(binding.operation)):
            return True
    return False
