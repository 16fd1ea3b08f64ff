"""Rows of arrays as arrays of their own, whose addresses are found before a loop, not again for each of its vectors.

In: statements of an innermost loop. Out: the same, which read rows that the loop stays in, and where these begin. LLVM moves
nothing out of loops here (`machine/target.py`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Fixed, Value
from accel.ir.flow import made
from accel.ir.indices import arguments
from accel.ir.nodes import LoopBody, OneToOne, Read, Stream
from accel.labelled.array import Array
from accel.labelled.scalar import Block, Compute, Function, Load, Operand, Variable, constant
from accel.labelled.scalars.simplify import select_results

FIRST_LEAF = 3000
"""Leaves of an array's label from here on are its rows."""


class RowViews:
    """`places`: where each row begins that statements read by now. All are written in scalar code where this is made."""

    def __init__(self, memory: Memory, functions: Functions, streams: Streams, column: Stream) -> None:
        self.places: dict[Array, str] = {}
        self._memory, self._functions, self._streams, self._column = memory, functions, streams, column

    def seen(self, statements: Sequence[LoopBody]) -> tuple[LoopBody, ...]:
        """All statements of a loop that has this column as its index, as they read rows."""
        within = {self._column, *(stream for each in statements for stream in made(each))}
        return tuple(self._statement(each, within) for each in statements)

    def _statement(self, statement: LoopBody, within: set[Stream]) -> LoopBody:
        match statement:
            case Read(array=array, index=(*outer, last)) if outer and last == self._column and not within & set(outer):
                row = self._row(array, self._streams.values(outer))
                return replace(statement, array=row, index=(last,))
            case OneToOne():
                return replace(statement, function=self._reading(statement, within))
            case _:
                return statement

    def _reading(self, statement: OneToOne, within: set[Stream]) -> Function:
        """The statement's function, of which the loads that stay in a row read this."""
        function = statement.function
        steady: set[Operand] = {parameter for parameter, given in arguments(statement) if given not in within}
        found: list[Load] = []
        for each in function.body.statements:
            match each:
                case Compute(out, _, given) if all(_is_steady(x, steady) for x in given):
                    steady.add(out)
                case Load(_, _, (*outer, last)) if outer and not each.may_fail and not _is_steady(last, steady):
                    found += [each] if all(_is_steady(x, steady) for x in outer) else []
                case _:
                    pass
        places = self._indices(statement, found, steady)
        rows = {
            load.out: replace(load, array=self._row(load.array, place), index=load.index[-1:])
            for load, place in zip(found, places, strict=True)
        }
        statements = [rows.get(each.out, each) if isinstance(each, Load) else each for each in function.body.statements]
        made = Function(function.parameters, Block(tuple(statements), function.body.results))
        return select_results(made, range(len(made.body.results)))

    def _indices(self, statement: OneToOne, found: Sequence[Load], steady: Set[Operand]) -> list[list[Value]]:
        """The indices of the rows that loads read."""
        function, wanted = statement.function, [operand for load in found for operand in load.index[:-1]]
        computed = [each for each in function.body.statements if isinstance(each, Compute) and each.out in steady]
        alone = Function(function.parameters, Block(tuple(computed), tuple(wanted)))
        given = [
            self._streams.value(argument) if parameter in steady else Fixed(constant(parameter.type, 0))
            for parameter, argument in arguments(statement)
        ]
        values = self._functions.apply(select_results(alone, range(len(wanted))), given, None)
        return [[values.pop(0) for _ in load.index[:-1]] for load in found]

    def _row(self, array: Array, outer: Sequence[Value]) -> Array:
        """A row of an array."""
        row = Array(array.label, FIRST_LEAF + len(self.places), array.element, array.shape[-1:])
        self.places[row] = self._memory.address(array, [*outer, Fixed(constant(I64, 0))])
        return row


def _is_steady(operand: Operand, steady: Set[Operand]) -> bool:
    return not isinstance(operand, Variable) or operand in steady
