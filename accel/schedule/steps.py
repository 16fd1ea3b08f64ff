"""How far each stream of a nest moves from one iteration of a loop to the next: what strides are, before they are bytes.

In: a nest. Out: for each stream the `Steps` of its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir import mentions
from accel.ir.flow import made, needed
from accel.ir.nodes import LoopBody, Nest, OneToOne, Operand, Remap, Stream
from accel.labelled import scalar
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Compute, Constant
from accel.support.dataclass import dataclass

LARGEST = 1 << 16
"""Larger steps are not counted as even: so no index wraps around within a block of iterations."""


@dataclass(frozen=True, slots=True)
class Steps:
    """`even`: loop indices with which the value rises by so much at each iteration. `uneven`: those with which it changes
    otherwise. With all others it stays the same."""

    even: Mapping[str, int] = field(default_factory=dict)
    uneven: frozenset[str] = frozenset()

    def over(self, index: Stream) -> int | None:
        """The step of one loop; None if it is not even."""
        return None if index.name in self.uneven else self.even.get(index.name, 0)


SAME = Steps()


def steps(nest: Nest) -> dict[str, Steps]:
    """The steps of all streams but those of states, which change with all loops."""
    loops = mentions.loops(nest)
    found = {loop.index.name: Steps({loop.index.name: 1}) for loop in loops}
    every = frozenset(found)
    for state in mentions.states(nest):
        found.update((final.name, Steps(uneven=every)) for final in state.finals)
    for statement in mentions.statements(nest):
        found.update(zip((out.name for out in made(statement)), _made(statement, found, every), strict=True))
    return found


def _made(statement: LoopBody, known: Mapping[str, Steps], every: frozenset[str]) -> Sequence[Steps]:
    """What a statement makes. A stream that is not known yet belongs to a state."""
    match statement:
        case Remap(arguments=arguments):
            return [of(argument, known) for argument in arguments]
        case OneToOne(function=function, arguments=arguments):
            return _results(function, [of(argument, known) for argument in arguments])
        case _:
            return [_uneven([known.get(stream.name, Steps(uneven=every)) for stream in needed(statement)])] * len(
                made(statement)
            )


def of(operand: Operand, known: Mapping[str, Steps]) -> Steps:
    """The steps of an operand."""
    return known[operand.name] if isinstance(operand, Stream) else SAME


def loaded(function: scalar.Function, arguments: Sequence[Steps]) -> Iterator[tuple[Array, list[Steps]]]:
    """What a function of such arguments reads, and how far each operand of the index moves. What conditionals and loops give
    may change with all that changes an argument."""
    values = dict(zip((parameter.number for parameter in function.parameters), arguments, strict=True))
    anything = _uneven(arguments)

    def steps_of(operands: Sequence[scalar.Operand]) -> list[Steps]:
        return [SAME if isinstance(o, Constant | Extent) else values.get(o.number, anything) for o in operands]

    for statement in mentions.function_statements(function):
        match statement:
            case Compute(out, _, operands):
                values[out.number] = _computed(statement, steps_of(operands))
            case scalar.Load(out, array, index):
                yield array, steps_of(index)
            case scalar.If() | scalar.While():
                pass
            case _:
                assert_never(statement)


def _uneven(some: Sequence[Steps]) -> Steps:
    return Steps(uneven=frozenset().union(*(each.uneven | set(each.even) for each in some)))


def _results(function: scalar.Function, arguments: Sequence[Steps]) -> list[Steps]:
    values = dict(zip((parameter.number for parameter in function.parameters), arguments, strict=True))
    if not all(isinstance(statement, Compute) for statement in function.body.statements):
        return [_uneven(arguments)] * len(function.body.results)
    for statement in function.body.statements:
        assert isinstance(statement, Compute)
        values[statement.out.number] = _computed(statement, [_scalar(a, values) for a in statement.arguments])
    return [_scalar(result, values) for result in function.body.results]


def _scalar(operand: scalar.Operand, values: Mapping[int, Steps]) -> Steps:
    return SAME if isinstance(operand, Constant | Extent) else values[operand.number]


def _computed(statement: Compute, arguments: Sequence[Steps]) -> Steps:
    if statement.out.type is not I64:
        return _uneven(arguments)
    match statement.operator, statement.arguments:
        case Operator.ADD, _:
            return _sum(arguments[0], arguments[1], 1)
        case Operator.SUB, _:
            return _sum(arguments[0], arguments[1], -1)
        case Operator.NEG, _:
            return _sum(SAME, arguments[0], -1)
        case Operator.MUL, (Constant() as factor, _):
            return _sum(SAME, arguments[1], int(factor.value))
        case Operator.MUL, (_, Constant() as factor):
            return _sum(SAME, arguments[0], int(factor.value))
        case _:
            return _uneven(arguments)


def _sum(left: Steps, right: Steps, factor: int) -> Steps:
    """`left + factor * right`."""
    even = {name: left.even.get(name, 0) + factor * right.even.get(name, 0) for name in {*left.even, *right.even}}
    uneven = left.uneven | right.uneven
    if any(abs(step) >= LARGEST for step in even.values()):
        return _uneven([left, right])
    return Steps({name: step for name, step in even.items() if step and name not in uneven}, uneven)
