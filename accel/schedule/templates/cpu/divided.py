"""Loops whose index is divided by a small number, as of what is written as rows that lie one behind the other: two loops.

In: a loop, and statements. Out: the loop as one over rows and one over their columns, and the statements of these, in which
quotient and remainder are their indices. `A.generate((2 * n,), lambda ix: A.cond(ix[0] % 2 == 0, xs[ix[0] // 2], …))` is so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir import mentions
from accel.ir.indices import arguments
from accel.ir.nodes import For, LoopBody, OneToOne, Stream
from accel.labelled import programs, rewrite, scalar
from accel.labelled.scalar import Block, Compute, Constant, Function, Variable, constant

_QUOTIENTS, _REMAINDERS = (Operator.DIV, Operator.QUOT), (Operator.MOD, Operator.REM)


def divided(loop: For, statements: Sequence[LoopBody], least: int, most: int) -> tuple[For, For, list[LoopBody]] | None:
    """The loop over rows, whose extent is that of both, that over columns, and the statements; None if there is no number of
    columns between these by which an index is divided."""
    found = [each for statement in statements for each in _divisions(statement, loop.index)]
    counts = [each.arguments[1] for each in found if each.operator in _QUOTIENTS]
    count = next(
        (int(each.value) for each in counts if isinstance(each, Constant) and least <= each.value <= most), None
    )
    if count is None:
        return None
    name = loop.index.name
    rows = replace(loop, index=Stream(f"{name}_q", I64))
    columns = replace(loop, index=Stream(f"{name}_r", I64), extent=constant(I64, count))
    made = [_place(loop.index, rows.index, columns.index, count)]
    return (
        rows,
        columns,
        [*made, *(_known(each, loop.index, (rows.index, columns.index), count) for each in statements)],
    )


def _divisions(statement: LoopBody, index: Stream) -> Iterator[Compute]:
    """Where a statement divides the index."""
    if isinstance(statement, OneToOne):
        places = {parameter for parameter, argument in arguments(statement) if argument == index}
        for each in mentions.function_statements(statement.function):
            if (
                isinstance(each, Compute)
                and each.operator in (*_QUOTIENTS, *_REMAINDERS)
                and each.arguments[0] in places
            ):
                yield each


def _place(index: Stream, row: Stream, column: Stream, count: int) -> OneToOne:
    """The index, of a row and a column."""
    a, b, product, total = (Variable(number, I64) for number in range(4))
    first = Compute(product, Operator.MUL, (a, constant(I64, count)))
    function = Function((a, b), Block((first, Compute(total, Operator.ADD, (product, b))), (total,)))
    return OneToOne((index,), function, (row, column))


def _known(statement: LoopBody, index: Stream, both: tuple[Stream, Stream], count: int) -> LoopBody:
    """The statement, in which the quotient and the remainder of the index by `count` are these streams."""
    if not isinstance(statement, OneToOne):
        return statement
    function = statement.function
    highest = programs.highest_variable(function)
    quotient, remainder = Variable(highest + 1, I64), Variable(highest + 2, I64)
    known: dict[scalar.Operand, scalar.Operand] = {}
    for each in _divisions(statement, index):
        if each.arguments[1] == constant(I64, count):
            known[each.out] = quotient if each.operator in _QUOTIENTS else remainder
    if not known:
        return statement
    body = rewrite.block(function.body, lambda o: known.get(o, o), lambda variable: variable, lambda array: array)
    called = Function((*function.parameters, quotient, remainder), body)
    return replace(statement, function=called, arguments=(*statement.arguments, *both))
