"""Walks over labelled programs: their parts, and what an operation reads, loads and mentions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Filter,
    Fold,
    Force,
    Gather,
    Generate,
    Map,
    Operation,
    Program,
    RequireEqual,
    Reshape,
    Scan,
    Scatter,
    Use,
)
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Statement, Variable, While


def parts(operation: Operation) -> tuple[Program, ...]:
    """The sub-programs of an operation."""
    match operation:
        case Acond(_, then, orelse):
            return (then, orelse)
        case Awhile(condition, body):
            return (condition, body)
        case _:
            return ()


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


def inputs(operation: Operation) -> tuple[Array, ...]:
    """The arrays that an operation itself takes, without those that its functions load from or its sub-programs use."""
    match operation:
        case Use() | Generate() | BindSizes() | RequireEqual():
            return ()
        case Map(_, arrays) | Backpermute(_, arrays) | Copy(arrays) | Filter(_, arrays):
            return arrays
        case Fold(_, _, arrays) | Scan(_, _, arrays) | Reshape(arrays) | Force(arrays):
            return arrays
        case Gather(indices, arrays):
            return indices + arrays
        case Scatter(_, destinations, keep, indices, values):
            return destinations + (() if keep is None else (keep,)) + indices + values
        case Acond(condition):
            return (condition,)
        case Awhile(_, _, initial):
            return initial
        case _:
            assert_never(operation)


def streams(operation: Operation) -> tuple[Array, ...]:
    """The inputs whose producers an operation can share a loop with: all but what a scatter destroys, views, control."""
    match operation:
        case Scatter(_, _, keep, indices, values):
            return (() if keep is None else (keep,)) + indices + values
        case Map() | Backpermute() | Gather() | Fold() | Scan() | Filter() | Copy():
            return inputs(operation)
        case Use() | Generate() | Reshape() | Force() | BindSizes() | RequireEqual() | Acond() | Awhile():
            return ()
        case _:
            assert_never(operation)


def functions(operation: Operation) -> tuple[Function, ...]:
    """The scalar functions of an operation."""
    match operation:
        case Generate(function) | Map(function) | Backpermute(function) | BindSizes(_, function):
            return (function,)
        case Filter(function) | Scatter(function):
            return (function,)
        case Fold(function, initial) | Scan(function, initial):
            return (function,) if initial is None else (function, initial)
        case Use() | Gather() | Copy() | Reshape() | Force() | RequireEqual() | Acond() | Awhile():
            return ()
        case _:
            assert_never(operation)


def blocks(function: Function) -> Iterator[Block]:
    """The blocks of a function, outer ones first."""
    pending = [function.body]
    while pending:
        block = pending.pop()
        yield block
        for statement in block.statements:
            pending += inner_blocks(statement)


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
    return frozenset(inputs(operation)).union(*map(loaded, functions(operation)))


def extents_mentioned(operation: Operation) -> frozenset[SizeVariable]:
    """Size variables in the scalar functions of an operation, and in what a `RequireEqual` compares."""
    found: set[Operand] = set()
    for function in functions(operation):
        for block in blocks(function):
            found.update(block.results)
            found.update(operand for statement in block.statements for operand in operands(statement))
    if isinstance(operation, RequireEqual):
        found.update(operation.left + operation.right)
    return frozenset(e.variable for e in found if isinstance(e, Extent) and e.variable is not None)


def sizes_bound(binding: Binding) -> frozenset[SizeVariable]:
    """The size variables that a binding may find out; of those in a result's shape, some may be known before."""
    match binding.operation:
        case BindSizes(variables):
            return frozenset(variables)
        case Filter() | Acond() | Awhile():
            return frozenset(e.variable for array in binding.arrays for e in array.shape if e.variable is not None)
        case _:
            return frozenset()


def highest_label(program: Program) -> int:
    """The highest label of a program with its sub-programs, -1 if there is none."""
    labels = [-1]
    for part in programs(program):
        labels += [binding.label for binding in part.bindings]
        labels += [leaf.label for parameter in part.parameters for leaf in parameter]
    return max(labels)
