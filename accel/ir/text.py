"""Loop programs as text: loops are indented, one statement a line, guards at the end. Stable.

nest %2
  for i0 < n0
    fold e3 from 0.0f32 by λx0 x1. add x0 x1 [commutes]
    e0 = %0[i0]
    e1 = %1[i0]
    e2 = (λx0 x1. mul x0 x1) e0 e1
    step e3 e2
  %3[] := e3
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from accel.ir.nodes import (
    Branch,
    For,
    Guard,
    HostCall,
    HostSizes,
    Launch,
    Level,
    LoopBody,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Output,
    Program,
    Read,
    Remap,
    Repeat,
    Require,
    Scatter,
    Sort,
    State,
    Step,
    Stream,
    View,
    Within,
    Write,
)
from accel.labelled.algebra import Monoid
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Constant, Function
from accel.labelled.scalar_text import constant_text, extent_text, function_text, plain_name, products_text, shape_text


def text(program: Program) -> str:
    """The whole program."""
    return "\n".join(_program(program))


def nest_text(nest: Nest) -> str:
    """One nest."""
    return "\n".join(_nest(nest))


def operand_text(operand: Operand) -> str:
    """A stream's name, a constant, an extent."""
    match operand:
        case Stream(name):
            return name
        case Constant():
            return constant_text(operand)
        case Extent():
            return extent_text(operand)
        case _:
            assert_never(operand)


def statement_text(statement: LoopBody) -> str:
    """One statement on one line."""
    body = _statement(statement)
    return body if statement.when is None else f"{body} if {statement.when.name}"


def _program(program: Program) -> Iterator[str]:
    for equality in program.equalities:
        yield f"require {shape_text(equality.left)} = {shape_text(equality.right)}"
    for number, parameter in enumerate(program.parameters):
        own = ""
        if number < len(program.own_shapes) and any(array.shape != program.own_shapes[number] for array in parameter):
            own = f" of {shape_text(program.own_shapes[number])}"
        yield f"parameter {_typed(parameter)}{own}"
    for step in program.steps:
        yield from _step(step)
    yield f"return {_arrays(program.results)}".rstrip()


def _step(step: Step) -> Iterator[str]:
    match step:
        case Launch(nest):
            yield from _nest(nest)
        case View(arrays, sources):
            yield f"view {_typed(arrays)} = {_arrays(sources)}"
        case Sort(array, sources, places, descending, first=first):
            flags = [word for word, holds in (("places", places), ("descending", descending)) if holds]
            flags += [] if first is None else [f"first {first}"]
            head = f"sort[{', '.join(flags)}]" if flags else "sort"
            yield f"{head} {_arrays(sources)} -> {_typed((array,))}"
        case HostCall(arrays, called, sources):
            yield f"call {called.name} {_arrays(sources)} -> {_typed(arrays)}".rstrip()
        case HostSizes(variables, function):
            names = " ".join(f"n{variable.number}" for variable in variables)
            yield f"sizes {names} = {function_text(function)}"
        case Require(left, right, message=message):
            said = "" if message is None else f" {message!r}"
            yield f"require {shape_text(left)} = {shape_text(right)}{said}"
        case Branch(condition, then, orelse, arrays):
            yield f"branch {plain_name(condition)} -> {_typed(arrays)}"
            yield from _part("then", then)
            yield from _part("else", orelse)
        case Repeat(condition, body, initial, arrays):
            yield f"repeat {_arrays(initial)} -> {_typed(arrays)}"
            yield from _part("while", condition)
            yield from _part("do", body)
        case _:
            assert_never(step)


def _part(title: str, program: Program) -> Iterator[str]:
    yield f"  {title}"
    for line in _program(program):
        yield f"    {line}"


def _nest(nest: Nest) -> Iterator[str]:
    yield f"nest %{nest.label}" + (" -> " + ", ".join(map(_output, nest.outputs)) if nest.outputs else "")
    for destination, result in nest.in_place:
        yield f"  {plain_name(result)} in place of {plain_name(destination)}"
    yield from _level(nest.body)
    for count in nest.counts:
        yield f"  n{count.variable.number} = {plain_name(count.array)}"


def _output(output: Output) -> str:
    """`%3 : f32[n5] (at most n0*n1)`."""
    typed = _typed((output.array,))
    if output.is_whole:
        return typed
    bounds = ",".join("*".join(map(extent_text, product)) for product in output.capacity)
    return f"{typed} (at most {bounds})"


def _level(outermost: Level) -> Iterator[str]:
    """Loops nest as deep as ranks go; still no recursion, so that the `after` parts come back out in order."""
    depth, closing = 1, list[tuple[int, Level]]()
    level: Level | None = outermost
    while level is not None:
        yield from _lines(depth, level.before)
        closing.append((depth, level))
        if level.loop is not None:
            yield "  " * depth + _for(level.loop)
            yield from ("  " * (depth + 1) + _state(state) for state in level.loop.states)
        level = level.loop.body if level.loop is not None else None
        depth += 1
    for depth, level in reversed(closing):
        yield from _lines(depth, level.after)


def _lines(depth: int, statements: Sequence[LoopBody]) -> Iterator[str]:
    return ("  " * depth + statement_text(statement) for statement in statements)


def _for(loop: For) -> str:
    extent = operand_text(loop.extent)
    return f"for {loop.index.name} < {extent}" + (" down" if loop.direction is LoopDirection.DOWN else "")


def _state(state: State) -> str:
    kind = "scan" if state.running else "fold"
    seed = "" if state.initial is None else f" from {_operands(state.initial)}"
    products = products_text(state.products, len(state.finals))
    shown = f"{function_text(state.merge)}{_algebra(state.monoid, products)}"
    return f"{kind} {_streams(state.finals)}{seed} by {shown}{_guard(state.when)}"


def _algebra(monoid: Monoid, *more: str) -> str:
    flags = [*filter(None, more)]
    flags += [flag for flag, holds in (("exact", monoid.exact), ("commutes", monoid.commutes)) if holds]
    return f" [{', '.join(flags)}]" if flags else ""


def _statement(statement: LoopBody) -> str:
    match statement:
        case OneToOne(outs, function, arguments):
            return f"{_streams(outs)} = {_applied(function, arguments)}"
        case OneToMaybe() | Within():
            return f"{statement.out.name} = keep {_applied(statement.function, statement.arguments)}"
        case ManyToOne(state, values, before, after):
            shown = f" before {_streams(before)}" if before else ""
            shown += f" after {_streams(after)}" if after else ""
            return f"step {state} {_operands(values)}{shown}"
        case Remap(outs, (start, end, _), (bound, *_)) if statement.segment is not None:
            of = extent_text(Extent(bound.variable, bound.offset - 1))
            return f"{_streams(outs)} = segment {_operands((start, end))} of {of}"
        case Remap(outs, arguments, bounds):
            return f"{_streams(outs)} = index {_operands(arguments)} of {shape_text(bounds)}"
        case Read(out, array, index):
            return f"{out.name} = {plain_name(array)}{_index(index)}"
        case Write(array, index, value):
            return f"{plain_name(array)}{_index(index)} := {operand_text(value)}"
        case Scatter(arrays, index, values, combine, monoid):
            places = " ".join(plain_name(array) + _index(index) for array in arrays)
            return f"scatter {places} := ({function_text(combine)}) {_operands(values)}{_algebra(monoid)}"
        case _:
            assert_never(statement)


def _applied(function: Function, arguments: Sequence[Operand]) -> str:
    body = function_text(function)
    return " ".join([f"({body})", *map(operand_text, arguments)]) if arguments else body


def _guard(guard: Guard) -> str:
    return "" if guard is None else f" if {guard.name}"


def _streams(streams: Sequence[Stream]) -> str:
    return ", ".join(stream.name for stream in streams)


def _operands(operands: Sequence[Operand]) -> str:
    return ", ".join(map(operand_text, operands))


def _index(index: Sequence[Operand]) -> str:
    return f"[{_operands(index)}]"


def _arrays(arrays: Sequence[Array]) -> str:
    return " ".join(map(plain_name, arrays))


def _typed(arrays: Sequence[Array]) -> str:
    return ", ".join(f"{plain_name(array)} : {array.element}{shape_text(array.shape)}" for array in arrays)
