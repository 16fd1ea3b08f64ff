"""How much work the statements of a nest are: that of the scalar functions that they apply to each element.

In: a statement, and a column of `labelled/work.py`. Out: a number, by which code is chosen, and no result changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from accel.ir.nodes import LoopBody, ManyToOne, OneToMaybe, OneToOne, Read, Remap, Scatter, Within, Write
from accel.labelled.scalar import Function
from accel.labelled.scalars.function_work import function_work
from accel.labelled.work import Work


def element_function(statement: LoopBody) -> Function | None:
    """What a statement computes of the streams that it takes; None if it only moves elements, or combines them."""
    match statement:
        case OneToOne(function=function) | OneToMaybe(function=function) | Within(function=function):
            return function
        case ManyToOne() | Remap() | Read() | Write() | Scatter():
            return None
        case _:
            assert_never(statement)


def applied_function(statement: LoopBody) -> Function | None:
    """What runs each time that a statement does: what it computes, or what a scatter combines its elements by."""
    return statement.combine if isinstance(statement, Scatter) else element_function(statement)


def element_work(statements: Iterable[LoopBody], column: Work) -> int:
    """The sum over statements of the work of what they compute."""
    return sum(function_work(f, column) for each in statements if (f := element_function(each)) is not None)
