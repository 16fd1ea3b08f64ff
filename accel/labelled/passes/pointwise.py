"""What one element-by-element operation can shed: loads at its own index, results that are inputs, inputs without use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Shape
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Statement, Variable, While
from accel.labelled.scalar_text import variables_used
from accel.labelled.scalars.simplify import select_results, simplify
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A `map` or, without inputs, a `generate`: `function` of the index and of one leaf per input."""

    function: Function
    inputs: tuple[Array, ...]


def stream_loads(node: Pointwise, shape: Shape) -> Pointwise:
    """Arrays that are loaded at the operation's own index, and have its shape, become inputs: those can fuse.

    Such a load cannot fail, so it may move out of a branch.
    """
    index = node.function.parameters[: len(shape)]
    loads: dict[Array, Variable] = {}
    replaced: dict[Operand, Operand] = {}
    first = 1 + programs.highest_variable(node.function)
    for block in programs.blocks(node.function):
        for statement in block.statements:
            if isinstance(statement, Load) and statement.array.shape == shape and statement.index == index:
                fresh = Variable(first + len(loads), statement.array.element)
                replaced[statement.out] = loads.setdefault(statement.array, fresh)
    if not loads:
        return node
    body = rewrite.block(_without(node.function.body, replaced), lambda o: replaced.get(o, o), _same, lambda a: a)
    function = simplify(Function((*node.function.parameters, *loads.values()), body))
    return Pointwise(function, (*node.inputs, *loads))


def _same(variable: Variable) -> Variable:
    return variable


def _without(block: Block, gone: Mapping[Operand, Operand]) -> Block:
    """The block without the loads whose results are in `gone`."""
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Load(out):
                if out not in gone:
                    statements.append(statement)
            case Compute():
                statements.append(statement)
            case If(outs, condition, then, orelse):
                statements.append(If(outs, condition, _without(then, gone), _without(orelse, gone)))
            case While(outs, parameters, initial, condition, body):
                parts = _without(condition, gone), _without(body, gone)
                statements.append(While(outs, parameters, initial, *parts))
            case _:
                assert_never(statement)
    return Block(tuple(statements), block.results)


def passed_through(node: Pointwise, rank: int) -> dict[int, Array]:
    """Which results are just inputs."""
    inputs = dict(zip(node.function.parameters[rank:], node.inputs, strict=True))
    found = {}
    for k, result in enumerate(node.function.body.results):
        if isinstance(result, Variable) and result in inputs:
            found[k] = inputs[result]
    return found


def repeated(node: Pointwise) -> dict[int, int]:
    """Which results equal an earlier one."""
    first: dict[Operand, int] = {}
    found = {}
    for k, result in enumerate(node.function.body.results):
        if first.setdefault(result, k) != k:
            found[k] = first[result]
    return found


def narrowed(node: Pointwise, rank: int, wanted: Sequence[int]) -> Pointwise:
    """Only the results at `wanted`, each input once, and none that they do not need."""
    if _is_narrow(node, rank, len(wanted)):
        return node
    function = select_results(node.function, wanted)
    same: dict[Operand, Operand] = {}
    first: dict[Array, Variable] = {}
    for parameter, array in zip(function.parameters[rank:], node.inputs, strict=True):
        same[parameter] = first.setdefault(array, parameter)
    function = simplify(rewrite.rename(function, lambda o: same.get(o, o)))
    used = variables_used(function.body)
    pairs = list(zip(function.parameters[rank:], node.inputs, strict=True))
    kept = [(parameter, array) for parameter, array in pairs if parameter in used]
    parameters = function.parameters[:rank] + tuple([parameter for parameter, _ in kept])
    return Pointwise(simplify(Function(parameters, function.body)), tuple([array for _, array in kept]))


def _is_narrow(node: Pointwise, rank: int, count: int) -> bool:
    if count < len(node.function.body.results) or len(set(node.inputs)) < len(node.inputs):
        return False
    return variables_used(node.function.body).issuperset(node.function.parameters[rank:])
