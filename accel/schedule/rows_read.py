"""Along which loops statements read rows of memory: as what moves, element by element, the last index of what they read.

In: statements, and for each loop that is asked about the streams that rise by one where it does. Out: for each read, the
numbers of these loops whose streams its last index adds up, or clamps. An index that is multiplied moves by more than one
element.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from accel.ast.tree.operators import Operator
from accel.ir import flow, mentions
from accel.ir.nodes import LoopBody, OneToOne, Read, Remap, Stream
from accel.labelled.array import Array
from accel.labelled.scalar import Compute, Function, Load, Variable

_MOVES_ON = frozenset({Operator.ADD, Operator.SUB, Operator.MIN, Operator.MAX})
"""What rises evenly where an operand does, but for the ends of what is clamped."""

_NOTHING: frozenset[int] = frozenset()


def rows_read(statements: Iterable[LoopBody], rising: Sequence[Collection[Stream]]) -> list[frozenset[int]]:
    """For each read of an element at an index, by which of the loops its last index rises."""
    of: dict[object, frozenset[int]] = {
        stream: frozenset(number for number, streams in enumerate(rising) if stream in streams)
        for streams in rising
        for stream in streams
    }
    found: list[frozenset[int]] = []
    for statement in statements:
        match statement:
            case Read(_, _, index) if index:
                found.append(of.get(index[-1], _NOTHING))
            case Remap(outs, arguments):
                _bind(of, outs, [of.get(each, _NOTHING) for each in arguments])
            case OneToOne(outs, function, arguments):
                inside = {p: of.get(a, _NOTHING) for p, a in zip(function.parameters, arguments, strict=True)}
                variables = _variables(function, inside)
                found += _loads(function, variables)
                _bind(of, outs, [variables.get(each, _NOTHING) for each in function.body.results])
            case _:
                pass
    return found


def _bind(of: dict[object, frozenset[int]], outs: Sequence[Stream], rise: Sequence[frozenset[int]]) -> None:
    """Notes what a statement makes. What it is of streams that are asked about is known."""
    for out, each in zip(outs, rise, strict=True):
        of.setdefault(out, each)


def _variables(function: Function, parameters: Mapping[Variable, frozenset[int]]) -> Mapping[object, frozenset[int]]:
    """The same of a function's variables."""
    of: dict[object, frozenset[int]] = dict(parameters.items())
    for each in mentions.function_statements(function):
        if isinstance(each, Compute) and each.operator in _MOVES_ON:
            of[each.out] = _NOTHING.union(*(of.get(operand, _NOTHING) for operand in each.arguments))
    return of


def _loads(function: Function, of: Mapping[object, frozenset[int]]) -> Iterator[frozenset[int]]:
    for each in mentions.function_statements(function):
        if isinstance(each, Load) and each.index:
            yield of.get(each.index[-1], _NOTHING)


Steps: TypeAlias = tuple[int, int]
"""By how much something rises where one index does, and where another does."""

_STILL: Steps = (0, 0)


def rows_that_may_join(
    statements: Iterable[LoopBody], streams: Collection[Stream], outer: Stream, inner: Stream
) -> list[Array] | None:
    """The arrays that must have rows as long as `inner` counts, one behind the other, so that where `inner` counts on beyond
    its end the streams are what they would be in the next turn of `outer`; None if they may be something else.

    So it is where both indices are only added to the last two of what is read, each to one.
    """
    of: dict[object, Steps] = {outer: (1, 0), inner: (0, 1)}
    arrays: list[Array] = []
    for statement in statements:
        match statement:
            case Read(_, array, index) if statement.when is None:
                if not _walks(array, [of.get(each, _STILL) for each in index], arrays):
                    return None
            case OneToOne(outs, function, arguments) if statement.when is None:
                inside = {p: of.get(a, _STILL) for p, a in zip(function.parameters, arguments, strict=True)}
                if set(inside.values()) <= {_STILL}:
                    continue
                results = _walked(function, inside, arrays)
                if results is None:
                    return None
                of.update(zip(outs, results, strict=True))
            case _ if all(of.get(each, _STILL) == _STILL for each in flow.needed(statement)):
                pass
            case _:
                return None
    return arrays if {of.get(stream, _STILL) for stream in streams} <= {_STILL} else None


def _walked(function: Function, parameters: Mapping[Variable, Steps], arrays: list[Array]) -> list[Steps] | None:
    """How a function's results rise; None if it does anything else with what rises than to add it up and to read there."""
    of: dict[object, Steps] = dict(parameters.items())
    for each in function.body.statements:
        match each:
            case Compute(out, operator, arguments):
                left, *right = (of.get(operand, _STILL) for operand in arguments)
                if {left, *right} <= {_STILL}:
                    continue
                if operator is not Operator.ADD:
                    return None
                of[out] = left[0] + right[0][0], left[1] + right[0][1]
            case Load(_, array, index):
                steps = [of.get(operand, _STILL) for operand in index]
                if each.may_fail or not _walks(array, steps, arrays):
                    return None
            case _:
                return None
    return [of.get(each, _STILL) for each in function.body.results]


def _walks(array: Array, index: Sequence[Steps], arrays: list[Array]) -> bool:
    """Whether an index stays where it is, or rises as rows do; then the array is noted."""
    if set(index) <= {_STILL}:
        return True
    arrays.append(array)
    return len(index) > 1 and list(index[-2:]) == [(1, 0), (0, 1)] and set(index[:-2]) <= {_STILL}
