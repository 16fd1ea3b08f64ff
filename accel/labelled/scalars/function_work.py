"""How much work a scalar function is, what stands in loops as often as these turn.

In: a function, and a column of `labelled/work.py`. Out: a number, by which code is chosen, and no result changes.
"""

from __future__ import annotations

from typing import assert_never

from accel.labelled.scalar import Compute, Function, If, Load, While
from accel.labelled.scalars.turns import most_turns
from accel.labelled.work import Work, work


def function_work(function: Function, column: Work) -> int:
    """The sum over all statements of a function, those in loops as often as the column says."""
    total, pending = 0, [(function.body, 1)]
    while pending:
        block, times = pending.pop()
        total += times * work(block.statements, column)
        for statement in block.statements:
            match statement:
                case If(_, _, then, orelse):
                    pending += [(then, times), (orelse, times)]
                case While(_, _, _, condition, body):
                    turned = times * _turns(statement, column)
                    pending += [(condition, turned), (body, turned)]
                case Compute() | Load():
                    pass
                case _:
                    assert_never(statement)
    return total


def _turns(loop: While, column: Work) -> int:
    """How often a loop turns: as often as it counts, if it does nothing else to end; else as often as the column says."""
    most = most_turns(loop)
    if not column.turns or most is None:
        return column.turns or 1
    return most if len(loop.condition.statements) == 1 else min(most, column.turns)
