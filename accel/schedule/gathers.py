"""Loads that lie apart in the iterations of a loop: vectors of neighbouring iterations would gather them one by one.

In: a nest. Out: how many loads of its innermost loop are neither the same in neighbouring iterations nor side by side, and how
much is computed there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir.mentions import function_statements, loops
from accel.ir.nodes import Nest, OneToOne, Read, Stream
from accel.labelled.array import Extent
from accel.labelled.scalar import Compute, Constant, Load, Operand, Variable
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Gathers:
    """Of an iteration: loads that lie apart, and operations on numbers that are no indices."""

    apart: int
    operations: int


def gathers(nest: Nest) -> Gathers:
    """Those of the innermost loop."""
    *outer, loop = loops(nest)
    steps: dict[str, int | None] = {**{each.index.name: 0 for each in outer}, loop.index.name: 1}
    apart = operations = 0
    for statement in (*loop.body.before, *loop.body.after):
        match statement:
            case OneToOne(outs, function, arguments):
                given = [steps.get(a.name) if isinstance(a, Stream) else 0 for a in arguments]
                known: dict[Operand, int | None] = dict(zip(function.parameters, given, strict=True))
                for each in function_statements(function):
                    if isinstance(each, Compute):
                        known[each.out] = _step(each.operator, each.arguments, known)
                        operations += each.out.type is not I64
                    elif isinstance(each, Load):
                        apart += not _together([_of(index, known) for index in each.index])
                steps.update((out.name, _of(r, known)) for out, r in zip(outs, function.body.results, strict=True))
            case Read(_, _, index):
                apart += not _together([steps.get(i.name) if isinstance(i, Stream) else 0 for i in index])
            case _:
                pass
    return Gathers(apart, operations)


def _together(steps: Sequence[int | None]) -> bool:
    """Whether an index whose parts change so much from one iteration to the next stays, or goes to a neighbour."""
    return all(step == 0 for step in steps[:-1]) and (not steps or steps[-1] in (-1, 0, 1))


def _step(operator: Operator, arguments: Sequence[Operand], known: Mapping[Operand, int | None]) -> int | None:
    """By how much what is computed changes from one iteration to the next; None if that is not known."""
    steps = [_of(argument, known) for argument in arguments]
    match operator, steps:
        case Operator.ADD, [int(a), int(b)]:
            return a + b
        case Operator.SUB, [int(a), int(b)]:
            return a - b
        case Operator.MUL, [int(a), 0] if isinstance(arguments[1], Constant):
            return a * int(arguments[1].value)
        case Operator.MUL, [0, int(b)] if isinstance(arguments[0], Constant):
            return b * int(arguments[0].value)
        case _:
            return None if any(step != 0 for step in steps) else 0


def _of(operand: Operand, known: Mapping[Operand, int | None]) -> int | None:
    match operand:
        case Variable():
            return known.get(operand)
        case Constant() | Extent():
            return 0
        case _:
            assert_never(operand)
