"""Several loops that run as one: the statement that finds their indices, the digits of a position, and who finds it again.

In: a position among all that loops visit, in row-major order. Out: the index of each loop, the outermost first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir.nodes import LoopBody, OneToOne, Stream
from accel.labelled.array import Extent
from accel.labelled.scalar import Block, Compute, Constant, Function, Operand, Variable, constant
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Digits:
    """Such a statement: `streams` are the indices of loops, which have these `extents`."""

    statement: OneToOne
    streams: tuple[Stream, ...]
    extents: tuple[Extent, ...]


def merged_index(indices: Sequence[Stream]) -> Stream:
    """The index of the loop that stands for the loops with these indices. It is known by its name: where users divide an index
    in the same way, the loop need not end where the loops would."""
    return Stream(f"{indices[0].name}m", I64)


def division(indices: Sequence[Stream], extents: Sequence[Extent]) -> OneToOne:
    """The indices of loops of these extents, of a position among all that they visit."""
    return OneToOne(tuple(indices), _function(extents), (merged_index(indices),))


def digits(statement: LoopBody, position: Stream) -> Digits | None:
    """The statement as one that finds the digits of that position; None if it is another."""
    if not isinstance(statement, OneToOne) or statement.arguments != (position,) or statement.when is not None:
        return None
    if position != merged_index(statement.outs):
        return None
    extents: list[Extent] = []
    for each in reversed(statement.function.body.statements):
        if not isinstance(each, Compute):
            return None
        match each.operator, each.arguments:
            case Operator.REM, (_, size):
                extents += _extent(size, 0)
            case Operator.MIN, (_, last):
                extents += _extent(last, 1)
            case _:
                pass
    if len(extents) < 2 or statement.function != _function(extents):
        return None
    return Digits(statement, statement.outs, tuple(extents))


def _extent(operand: Operand, more: int) -> list[Extent]:
    """An extent, and a number more; none if it is something else."""
    match operand:
        case Extent():
            return [replace(operand, offset=operand.offset + more)]
        case Constant():
            return [Extent(None, int(operand.value) + more)]
        case _:
            return []


def _function(extents: Sequence[Extent]) -> Function:
    """The digits of a position. The outermost is in its extent anyway, and is said to be: so it is known how large it is."""
    position = Variable(0, I64)
    statements: list[Compute] = []

    def computed(operator: Operator, left: Operand, right: Extent) -> Variable:
        size = constant(I64, right.offset) if right.variable is None else right
        statements.append(Compute(Variable(1 + len(statements), I64), operator, (left, size)))
        return statements[-1].out

    found: list[Variable] = []
    rest = position
    for extent in reversed(extents[1:]):
        found.append(computed(Operator.REM, rest, extent))
        rest = computed(Operator.QUOT, rest, extent)
    found.append(computed(Operator.MIN, rest, replace(extents[0], offset=extents[0].offset - 1)))
    return Function((position,), Block(tuple(statements), tuple(reversed(found))))
