"""How much work a scalar operation is, in one table: a column for each question that is asked about it.

`scalars/function_work.py` adds up that of a function, `ir/work.py` that of the statements of a nest. What is *heavy* is more
work than some number, which stands where that is asked.

Columns differ because the questions do; none of them changes a result, all of them decide what code is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from accel.ast.tree.operators import HEAVY, Operator
from accel.labelled.scalar import Compute, Constant, If, Load, Statement, While
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """One column: most operators are 1; `elementary` are `exp`, `sin` and the like, and random numbers; `division` of floats,
    as is the square root; `quotient` of integers, or remainder, by what is no constant; `loop` is without what stands in it.
    `turns`: how often what stands in a loop runs whose number of turns is not known; 0: what stands in any loop counts once."""

    elementary: int
    load: int = 1
    loop: int = 1
    division: int = 1
    quotient: int = 1
    turns: int = 0


OPERATIONS = Work(elementary=8)
"""By which something is light: an elementary function is a polynomial of some ten to twenty additions and products."""

RECOMPUTED = Work(elementary=8, division=8)
"""What a plan counts as recomputed, at each place where a loop reads it."""

SIZE = Work(elementary=10)
"""How long the code of a loop gets, for `passes/limit.py`: compiling takes time quadratic in it."""

SPECULATED = Work(elementary=10, load=4)
"""What it costs to compute a branch that is not taken, where a load may miss the caches."""

INSTRUCTIONS = Work(elementary=20, load=4, loop=40)
"""About how many machine instructions run, by which the llvm backend unrolls loops."""

TIME = Work(elementary=20, load=4, loop=40, division=16, turns=16)
"""How long it takes, in the time of an addition, by which the llvm backend shares loops among threads."""

IN_LANES = Work(elementary=20, load=0, loop=40, division=16, quotient=20)
"""How much of its time lanes save, by which the llvm backend runs loops in lanes that scatter one lane after the other."""

LAUNCH = Work(elementary=20, load=8, division=8)
"""In the time of how many operations of a device it runs, by which the opencl backend launches long nests in pieces."""


_DIVISIONS = frozenset({Operator.DIV, Operator.MOD, Operator.SQRT})
"""Operators that take many instructions' time, of floats."""

_QUOTIENTS = frozenset({Operator.DIV, Operator.MOD, Operator.QUOT, Operator.REM})
"""Of integers those that processors take one after the other, where they are no products with what is known of the divisor."""


def work(statements: Iterable[Statement], column: Work) -> int:
    """The sum over statements, without what stands in blocks within them."""
    return sum(_one(statement, column) for statement in statements)


def _one(statement: Statement, column: Work) -> int:
    match statement:
        case Compute(out, operator, arguments):
            if operator in HEAVY:
                return column.elementary
            if operator in _QUOTIENTS and not out.type.is_float:
                return 1 if isinstance(arguments[1], Constant) else column.quotient
            return column.division if operator in _DIVISIONS and out.type.is_float else 1
        case Load():
            return column.load
        case If():
            return 1
        case While():
            return column.loop
        case _:
            assert_never(statement)
