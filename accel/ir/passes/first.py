"""How much of each sorted row anybody reads: `topK` and `take` of places need the first ones only.

In: a loop program. Out: the same, with `first` said of sorts whose places are read by nests alone, at the first indices of each
row, as many as a loop has iterations whose extent is a number or the lesser of one and something else. What stands behind these
may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from accel.ast.tree.operators import Operator
from accel.ir import mentions
from accel.ir.nodes import (
    Branch,
    HostCall,
    HostSizes,
    Launch,
    Nest,
    Operand,
    Program,
    Read,
    Remap,
    Repeat,
    Sort,
    Step,
    View,
)
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.programs import loaded
from accel.labelled.scalar import Compute, Constant, Load


def with_first(program: Program) -> Program:
    """The program with as few sorted elements as its own steps say; programs with control flow stay as they are."""
    sorts = {step.array for step in program.steps if isinstance(step, Sort) and step.places and len(step.sources) == 1}
    if not sorts or any(isinstance(step, Branch | Repeat) for step in program.steps):
        return program
    wanted = sorts - set(program.results) - set(_otherwise(program.steps))
    limits = _limits(program.steps)
    nests = [step.nest for step in program.steps if isinstance(step, Launch)]
    steps = [
        replace(step, first=_first(step.array, nests, limits))
        if isinstance(step, Sort) and step.array in wanted
        else step
        for step in program.steps
    ]
    return replace(program, steps=tuple(steps))


def _otherwise(steps: Sequence[Step]) -> Iterator[Array]:
    """The arrays that anything but a read of a nest asks for."""
    for step in steps:
        match step:
            case View(sources=sources) | HostCall(sources=sources) | Sort(sources=sources):
                yield from sources
            case HostSizes(function=function):
                yield from loaded(function)
            case Launch(nest):
                for function in mentions.functions(nest):
                    found = mentions.function_statements(function)
                    yield from (statement.array for statement in found if isinstance(statement, Load))
                yield from (array for pair in nest.in_place for array in pair)
            case _:
                pass


def _limits(steps: Sequence[Step]) -> Mapping[SizeVariable, int]:
    """Sizes that are no greater than a number."""
    found: dict[SizeVariable, int] = {}
    for step in steps:
        if not isinstance(step, HostSizes) or len(step.variables) != 1:
            continue
        (result,) = step.function.body.results
        for statement in step.function.body.statements:
            if isinstance(statement, Compute) and statement.out == result and statement.operator is Operator.MIN:
                numbers = [int(each.value) for each in statement.arguments if isinstance(each, Constant)]
                if numbers:
                    found[step.variables[0]] = min(numbers)
    return found


def _first(array: Array, nests: Sequence[Nest], limits: Mapping[SizeVariable, int]) -> int | None:
    """How many elements of each row are read, if that is known."""
    counts: list[int | None] = [0]
    for nest in nests:
        extents: dict[Operand, Extent | None] = {
            level.loop.index: level.loop.extent if isinstance(level.loop.extent, Extent) else None
            for level in mentions.levels(nest)
            if level.loop is not None
        }
        for statement in mentions.statements(nest):
            if isinstance(statement, Remap):
                pairs = zip(statement.outs, statement.arguments, strict=True)
                extents |= {out: extents.get(argument) for out, argument in pairs}
            elif isinstance(statement, Read) and statement.array == array:
                counts.append(_limit(extents.get(statement.index[-1]), limits))
    known = [count for count in counts if count is not None]
    return max(known) if len(known) == len(counts) else None


def _limit(extent: Extent | None, limits: Mapping[SizeVariable, int]) -> int | None:
    if extent is None:
        return None
    if extent.variable is None:
        return extent.offset
    return limits[extent.variable] + extent.offset if extent.variable in limits else None
