"""Walks over labelled programs: their parts, what an operation reads, loads and mentions, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.nodes import Binding, HostCall, Operation, Program
from accel.labelled.operations import ORDERED, Flag, Kind, Role, describe, parts
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Statement, Variable, While
from accel.support.dataclass import dataclass


def programs(program: Program) -> Iterator[Program]:
    """The program and all its sub-programs, outer ones first."""
    pending = [program]
    while pending:
        current = pending.pop()
        yield current
        inner = [part for binding in current.bindings for part in parts(binding.operation)]
        pending += reversed(inner)


def in_order(program: Program) -> Iterator[Binding | tuple[Array, ...]]:
    """All bindings, and the parameters of all programs, in the order of the text."""
    pending: list[Binding | Program] = [program]
    while pending:
        item = pending.pop()
        if isinstance(item, Binding):
            yield item
            pending += reversed(parts(item.operation))
        else:
            yield from item.parameters
            pending += reversed(item.bindings)


def inside(operation: Operation) -> Iterator[Program]:
    """The sub-programs of an operation and all that are inside of them."""
    pending = list(parts(operation))
    while pending:
        current = pending.pop()
        yield current
        pending += [part for binding in current.bindings for part in parts(binding.operation)]


def has_effect(binding: Binding) -> bool:
    """Whether a binding is there for what it does, or something inside of it is."""
    within = (each for part in inside(binding.operation) for each in part.bindings)
    return any(isinstance(each.operation, HostCall) and not each.arrays for each in (binding, *within))


def inputs(operation: Operation) -> tuple[Array, ...]:
    """The arrays that an operation itself takes, without those that its functions load from or its sub-programs use."""
    return describe(operation).arrays


def streams(operation: Operation) -> tuple[Array, ...]:
    """The inputs whose producers an operation can share a loop with: all but what a scatter destroys, views, control."""
    return describe(operation).read(*ORDERED)


def makes_streams(operation: Operation) -> bool:
    """Whether the results of an operation can be consumed in its own loop. What a scatter makes is whole only after it."""
    return describe(operation).kind not in (Kind.BARRIER, Kind.SCATTER)


def functions(operation: Operation) -> tuple[Function, ...]:
    """The scalar functions of an operation."""
    return describe(operation).functions


def blocks(function: Function) -> Iterator[Block]:
    """The blocks of a function, outer ones first."""
    pending = [function.body]
    while pending:
        block = pending.pop()
        yield block
        for statement in block.statements:
            pending += inner_blocks(statement)


def has_loops(operation: Operation) -> bool:
    """Whether a scalar function of an operation has a loop."""
    return any(
        isinstance(statement, While)
        for function in functions(operation)
        for block in blocks(function)
        for statement in block.statements
    )


def inner_blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks of a statement."""
    match statement:
        case If(_, _, then, orelse):
            return (then, orelse)
        case While(_, _, _, condition, body):
            return (condition, body)
        case Compute() | Load():
            return ()
        case _:
            assert_never(statement)


def operands(statement: Statement) -> tuple[Operand, ...]:
    """What a statement itself refers to, without the blocks in it."""
    match statement:
        case Compute(_, _, arguments):
            return arguments
        case Load(_, _, index):
            return index
        case If(_, condition):
            return (condition,)
        case While(_, _, initial):
            return initial
        case _:
            assert_never(statement)


def bound(function: Function) -> list[Variable]:
    """The variables that a function binds, its parameters first."""
    found = list(function.parameters)
    for block in blocks(function):
        for statement in block.statements:
            match statement:
                case Compute(out) | Load(out):
                    found.append(out)
                case If(outs):
                    found += outs
                case While(outs, parameters):
                    found += outs + parameters
                case _:
                    assert_never(statement)
    return found


def highest_variable(function: Function) -> int:
    """The highest number of a variable of a function, -1 if it has none."""
    return max((variable.number for variable in bound(function)), default=-1)


def loaded(function: Function) -> frozenset[Array]:
    """The arrays that a function loads from."""
    return frozenset(s.array for block in blocks(function) for s in block.statements if isinstance(s, Load))


def reads(operation: Operation) -> frozenset[Array]:
    """Every array that an operation needs, but for those that only its sub-programs use."""
    described = describe(operation)
    return frozenset(described.arrays).union(*map(loaded, described.functions))


def used_inside(operation: Operation) -> Iterator[Array]:
    """Every array that the sub-programs of an operation use, their own included; with repetitions."""
    for part in inside(operation):
        yield from part.results
        for binding in part.bindings:
            yield from reads(binding.operation)


def consumed(operation: Operation) -> frozenset[Array]:
    """Every array that an operation needs, those that its sub-programs use included."""
    return reads(operation).union(used_inside(operation))


def extents_mentioned(operation: Operation) -> frozenset[SizeVariable]:
    """Size variables in the scalar functions of an operation, and in what a `RequireEqual` compares."""
    described = describe(operation)
    found: set[Operand] = set(described.extents)
    for function in described.functions:
        for block in blocks(function):
            found.update(block.results)
            found.update(operand for statement in block.statements for operand in operands(statement))
    return frozenset(e.variable for e in found if isinstance(e, Extent) and e.variable is not None)


def sizes_bound(binding: Binding) -> frozenset[SizeVariable]:
    """The size variables that a binding may find out; of those in a result's shape, some may be known before."""
    described = describe(binding.operation)
    if Flag.FINDS_SIZES not in described.flags:
        return frozenset(described.binds)
    return frozenset(e.variable for array in binding.arrays for e in array.shape if e.variable is not None)


def highest_label(program: Program) -> int:
    """The highest label of a program with its sub-programs, -1 if there is none."""
    labels = [-1]
    for part in programs(program):
        labels += [binding.label for binding in part.bindings]
        labels += [leaf.label for parameter in part.parameters for leaf in parameter]
    return max(labels)


@dataclass(frozen=True, slots=True)
class Orders:
    """In whose order operations read their sources: each in its own, but for what visits the same segments.

    Folds and scans of segments that visit one shape, whose last extent is the length of one descriptor's segments in one extent
    and one direction, are at one place of their sources in the same turn: they have one order, with the label of the first.

    `of`: the order of each operation that reads sources. `whole`: the orders in which all elements are visited, since a scan of
    segments has them, of as much as the segments hold.
    """

    of: Mapping[Label, Label]
    whole: frozenset[Label]


def shared_order(visited: Iterable[tuple[Label, Kind, Shape]]) -> dict[Label, Label]:
    """The order of each operation, given what it visits; in rising order of labels."""
    first: dict[Shape, Label] = {}
    return {label: first.setdefault(shape, label) if kind is Kind.SEGMENTS else label for label, kind, shape in visited}


def orders(bindings: Iterable[Binding]) -> Orders:
    """The orders of a program's own operations."""
    visited, placing = list[tuple[Label, Kind, Shape]](), list[Label]()
    for binding in bindings:
        described = describe(binding.operation)
        if described.read(Role.SOURCE):
            visited.append((binding.label, described.kind, described.iteration or binding.arrays[0].shape))
            placing += [binding.label] if described.placed(binding.arrays) else []
    found = shared_order(visited)
    return Orders(found, frozenset(found[label] for label in placing))
