"""Which values of a scalar function with loops are the same in all lanes: these are scalars, also from turn to turn.

In: a function, and which of its arguments differ between lanes. Out: the variables that do, and those that anybody reads. What
a loop begins with and each turn makes of what is alike is alike while the loop runs. Lanes may leave a loop in different turns,
and keep what they had then; so what it gives is alike only if all leave it together, by a condition that is alike.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import assert_never

from accel.ir import mentions
from accel.labelled.scalar import Compute, Function, If, Load, Operand, Statement, Variable, While
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Differences:
    """Numbers of a function's variables. different: those that differ between lanes. read: those that something reads."""

    different: frozenset[int]
    read: frozenset[int]

    def alike(self, operand: Operand) -> bool:
        """Whether an operand is the same in all lanes."""
        return not isinstance(operand, Variable) or operand.number not in self.different


def differences(function: Function, differ: Set[int]) -> Differences | None:
    """Of a function whose parameters `differ` differ between lanes; None if it has no loop."""
    statements = list(mentions.function_statements(function))
    if not any(isinstance(statement, While) for statement in statements):
        return None
    makes: dict[int, list[int]] = {}
    for statement in statements:
        for sources, out in _made(statement):
            for source in sources:
                if isinstance(source, Variable):
                    makes.setdefault(source.number, []).append(out.number)
    found, pending = set(differ), list(differ)
    while pending:
        for made in makes.get(pending.pop(), ()):
            if made not in found:
                found.add(made)
                pending.append(made)
    operands = mentions.function_operands(function)
    return Differences(frozenset(found), frozenset(o.number for o in operands if isinstance(o, Variable)))


def _made(statement: Statement) -> list[tuple[Sequence[Operand], Variable]]:
    """What differs between lanes if one of these does."""
    match statement:
        case Compute(out, _, sources) | Load(out, _, sources):
            return [(sources, out)]
        case If(outs, condition, then, orelse):
            sides = zip(then.results, orelse.results, outs, strict=True)
            return [((condition, first, second), out) for first, second, out in sides]
        case While(outs, parameters, initial, condition, body):
            begun = zip(initial, body.results, parameters, strict=True)
            ended = zip(parameters, outs, strict=True)
            return [
                *(((first, turned), parameter) for first, turned, parameter in begun),
                *(((parameter, *condition.results), out) for parameter, out in ended),
            ]
        case _:
            assert_never(statement)
