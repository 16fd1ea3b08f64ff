"""What a program or a nest mentions: nests, statements, arrays, size variables. Read by memory planning and code generation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from accel.ir import flow
from accel.ir.nodes import (
    Branch,
    For,
    HostCall,
    HostSizes,
    Launch,
    Level,
    LoopBody,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Program,
    Read,
    Remap,
    Repeat,
    Require,
    Scatter,
    Sort,
    State,
    Step,
    View,
    Within,
    Write,
)
from accel.labelled import scalar
from accel.labelled.array import Array, Extent
from accel.labelled.programs import loaded


def programs(program: Program) -> Iterator[Program]:
    """The program and those of its branches and repetitions."""
    pending = [program]
    while pending:
        part = pending.pop()
        yield part
        for step in part.steps:
            match step:
                case Branch(then=first, orelse=second) | Repeat(condition=first, body=second):
                    pending += (second, first)
                case Launch() | View() | Sort() | HostCall() | HostSizes() | Require():
                    pass
                case _:
                    assert_never(step)


def steps(program: Program) -> Iterator[Step]:
    """The steps of a program, those of its branches and repetitions after them, in order."""
    pending: list[Step] = list(reversed(program.steps))
    while pending:
        step = pending.pop()
        yield step
        match step:
            case Branch(_, then, orelse):
                pending += [*reversed(orelse.steps), *reversed(then.steps)]
            case Repeat(condition, body):
                pending += [*reversed(body.steps), *reversed(condition.steps)]
            case Launch() | View() | Sort() | HostCall() | HostSizes() | Require():
                pass
            case _:
                assert_never(step)


def nests(program: Program) -> Iterator[Nest]:
    """The nests of a program, its branches and its repetitions, in order."""
    return (step.nest for step in steps(program) if isinstance(step, Launch))


def repeated(program: Program, most: int) -> frozenset[Nest]:
    """The nests that turns of its repetitions run, of repetitions with at most so many."""
    turns = [step for step in steps(program) if isinstance(step, Repeat)]
    found = [[*nests(step.condition), *nests(step.body)] for step in turns]
    return frozenset(nest for each in found if len(each) <= most for nest in each)


def read(program: Program) -> frozenset[Array]:
    """Arrays that a step of a program reads or hands on: all but those that are results of the program only."""
    found: set[Array] = set()
    for step in steps(program):
        match step:
            case Launch(nest):
                found |= arrays(nest) - {output.array for output in nest.outputs}
            case View(sources=sources) | Sort(sources=sources) | HostCall(sources=sources):
                found.update(sources)
            case HostSizes(function=function):
                found |= loaded(function)
            case Branch(condition, then, orelse):
                found.update((condition, *then.results, *orelse.results))
            case Repeat(condition=asked, body=body, initial=initial):
                found.update((*asked.results, *body.results, *initial))
            case Require():
                pass
            case _:
                assert_never(step)
    return frozenset(found)


def levels(nest: Nest) -> Iterator[Level]:
    """The nest's levels, outermost first."""
    level: Level | None = nest.body
    while level is not None:
        yield level
        level = level.loop.body if level.loop else None


def loops(nest: Nest) -> tuple[For, ...]:
    """The nest's loops, outermost first."""
    return tuple([level.loop for level in levels(nest) if level.loop is not None])


def statements(nest: Nest) -> Iterator[LoopBody]:
    """All statements: each level's `before`, then its `after`, outermost level first."""
    for level in levels(nest):
        yield from level.before
        yield from level.after


def stores(nest: Nest) -> Iterator[Write | Scatter]:
    """The statements that write to memory, in the same order."""
    return (statement for statement in statements(nest) if isinstance(statement, Write | Scatter))


def states(nest: Nest) -> Iterator[State]:
    """All states, outermost loop first."""
    for level in levels(nest):
        if level.loop:
            yield from level.loop.states


def function_statements(function: scalar.Function) -> Iterator[scalar.Statement]:
    """All statements of a scalar function, those of its blocks included."""
    return block_statements(function.body)


def block_statements(*blocks: scalar.Block) -> Iterator[scalar.Statement]:
    """All statements of some blocks, those of the blocks in them included."""
    pending = list(blocks)
    while pending:
        block = pending.pop()
        for statement in block.statements:
            yield statement
            match statement:
                case scalar.If(_, _, then, orelse):
                    pending += [then, orelse]
                case scalar.While(_, _, _, condition, body):
                    pending += [condition, body]
                case scalar.Compute() | scalar.Load():
                    pass
                case _:
                    assert_never(statement)


def function_operands(function: scalar.Function) -> Iterator[scalar.Operand]:
    """All operands in a scalar function, results of its blocks included; with repetitions."""
    yield from function.body.results
    for statement in function_statements(function):
        match statement:
            case scalar.Compute(_, _, arguments) | scalar.Load(_, _, arguments):
                yield from arguments
            case scalar.If(_, condition, then, orelse):
                yield condition
                yield from then.results
                yield from orelse.results
            case scalar.While(_, _, initial, condition, body):
                yield from initial
                yield from condition.results
                yield from body.results
            case _:
                assert_never(statement)


def functions(nest: Nest) -> Iterator[scalar.Function]:
    """All scalar functions of a nest, merges of states included."""
    for state in states(nest):
        yield state.merge
    for statement in statements(nest):
        match statement:
            case OneToOne() | OneToMaybe() | Within():
                yield statement.function
            case Scatter(combine=function):
                yield function
            case ManyToOne() | Remap() | Read() | Write():
                pass
            case _:
                assert_never(statement)


def operands(nest: Nest) -> Iterator[Operand]:
    """All operands of statements, states and loop bounds outside of scalar functions; with repetitions."""
    for level in levels(nest):
        if level.loop:
            yield level.loop.extent
            for state in level.loop.states:
                yield from state.initial or ()
    for statement in statements(nest):
        yield from flow.operands(statement)


def arrays(nest: Nest) -> frozenset[Array]:
    """Every array that the nest reads, indexes, writes or destroys."""
    found = {array for pair in nest.in_place for array in pair} | {output.array for output in nest.outputs}
    for function in functions(nest):
        found.update(loaded(function))
    for statement in statements(nest):
        match statement:
            case Read(array=array) | Write(array=array):
                found.add(array)
            case Scatter(arrays=some):
                found.update(some)
            case OneToOne() | ManyToOne() | OneToMaybe() | Within() | Remap():
                pass
            case _:
                assert_never(statement)
    return frozenset(found)


def extents(nest: Nest) -> frozenset[Extent]:
    """Every extent that the nest mentions: in operands, in bounds, in the shapes of its arrays, and of what is scattered."""
    every: list[Operand | scalar.Operand] = [*operands(nest)]
    for function in functions(nest):
        every += function_operands(function)
    found = {operand for operand in every if isinstance(operand, Extent)}
    for statement in statements(nest):
        if isinstance(statement, Remap):
            found.update(statement.bounds)
        if isinstance(statement, Scatter):
            found.update(statement.capacity)
    return frozenset(found | shape_extents(arrays(nest)))


def shape_extents(some: Iterable[Array]) -> frozenset[Extent]:
    """The extents of arrays' shapes."""
    return frozenset(extent for array in some for extent in array.shape)


def pruned(function: scalar.Function, arguments: Sequence[Operand]) -> tuple[scalar.Function, tuple[Operand, ...]]:
    """A call without the arguments that the function does not use."""
    used = set(function_operands(function))
    pairs = [pair for pair in zip(function.parameters, arguments, strict=True) if pair[0] in used]
    parameters = tuple(parameter for parameter, _ in pairs)
    return scalar.Function(parameters, function.body), tuple(argument for _, argument in pairs)
