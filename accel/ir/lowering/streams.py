"""The pieces that every lowered operation is made of: reads, writes, copies, calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from accel.ast.tree.types import ScalarType
from accel.ilp.problem.clustering import Traversal
from accel.ir.lowering.frame import Frame
from accel.ir.lowering.names import element
from accel.ir.mentions import pruned
from accel.ir.nodes import Guard, LoopBody, OneToOne, Operand, Read, Stream, Write
from accel.labelled.array import Array
from accel.labelled.scalar import Block, Function, Variable

Placed: TypeAlias = tuple[int, LoopBody]
"""A statement and its depth."""


def reads(arrays: Iterable[Array], traversal: Traversal, frame: Frame) -> list[Placed]:
    """Reads of arrays at their points, with what makes index and guard there."""
    made: list[Placed] = []
    for array in arrays:
        at = frame.point(array.shape, traversal)
        made += at.needs
        made.append((at.depth, Read(element(array, traversal), array, at.index, at.guard)))
    return made


def writes(arrays: Iterable[Array], traversal: Traversal, frame: Frame) -> list[Placed]:
    """Writes of the arrays' elements at their points."""
    made: list[Placed] = []
    for array in arrays:
        at = frame.point(array.shape, traversal)
        made += at.needs
        made.append((at.depth, Write(array, at.index, element(array, traversal), at.guard)))
    return made


def identity(types: Sequence[ScalarType]) -> Function:
    """The function that gives its arguments."""
    parameters = tuple(Variable(number, kind) for number, kind in enumerate(types))
    return Function(parameters, Block((), parameters))


def copy(outs: tuple[Stream, ...], values: tuple[Operand, ...], guard: Guard) -> OneToOne:
    """`outs := values`."""
    return OneToOne(outs, identity([out.type for out in outs]), values, guard)


def applied(outs: tuple[Stream, ...], function: Function, arguments: Sequence[Operand], guard: Guard) -> OneToOne:
    """`outs := function(arguments)`, without the arguments that the function does not use."""
    return OneToOne(outs, *pruned(function, arguments), guard)
