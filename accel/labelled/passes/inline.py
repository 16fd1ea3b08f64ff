"""Loads of what an operation makes, and what a map reads of it, replaced by what that operation does for the element.

A load out of bounds raises as before: a load of the operation's first input, which has its shape, is checked in its place, also
if what is left of the operation does not use it. So an operation without inputs can replace only loads that are known to be
in bounds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from accel.ast.tree.types import ScalarType
from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Label, Shape
from accel.labelled.nodes import Backpermute, Binding, Gather, Generate, Map
from accel.labelled.operations import Flag, describe, with_functions
from accel.labelled.passes.pointwise import Pointwise, narrowed, stream_loads
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Statement, Variable, While
from accel.labelled.scalars.ranges import always_inside
from accel.labelled.scalars.simplify import simplify

_STREAMS: Label = -1
"""Names what a map reads in order, apart from what it loads."""


def inlined(binding: Binding, made: Binding) -> Binding:
    """`binding` with every load of an array of `made` replaced; what it reads in bulk stays.

    Raises ValueError unless `made` is a generate, map, backpermute or gather.
    """
    takes_index = Flag.TAKES_INDEX in describe(binding.operation).flags
    shape = binding.arrays[0].shape if takes_index else ()
    operation = with_functions(binding.operation, lambda function: _function(function, made, shape))
    return replace(binding, operation=operation, after=_after(binding, made))


def with_stream(reader: Binding, made: Binding) -> Binding:
    """A map that computes by itself what it reads in order of `made`, a generate or map; what it loads it still loads."""
    described = describe(reader.operation)
    (function,), shape = described.functions, reader.arrays[0].shape
    index = function.parameters[: len(shape)]
    read = list(zip(function.parameters[len(shape) :], described.arrays, strict=True))
    kept = [(parameter, array) for parameter, array in read if array.label != made.label]
    streams = replace(made, label=_STREAMS, arrays=tuple([replace(array, label=_STREAMS) for array in made.arrays]))
    loads = [
        Load(parameter, replace(array, label=_STREAMS), index, inside=True)
        for parameter, array in read
        if array.label == made.label
    ]
    parameters = (*index, *(parameter for parameter, _ in kept))
    body = Block((*loads, *function.body.statements), function.body.results)
    whole = Map(Function(parameters, body), tuple([array for _, array in kept]), described.name)
    loading = inlined(replace(reader, operation=whole), streams)
    (function,) = describe(loading.operation).functions
    node = narrowed(stream_loads(Pointwise(function, whole.inputs), shape), len(shape), range(len(reader.arrays)))
    operation = Map(node.function, node.inputs, whole.name) if node.inputs else Generate(node.function, whole.name)
    return replace(loading, operation=operation)


def _after(binding: Binding, made: Binding) -> tuple[Label, ...]:
    """What must have been checked before `binding`, now that it does the work of `made`."""
    loads = [array.label for function in programs.functions(binding.operation) for array in programs.loaded(function)]
    return tuple(dict.fromkeys((*binding.after, *made.after))) if made.label in loads else binding.after


def _function(function: Function, made: Binding, shape: Shape) -> Function:
    if not any(array.label == made.label for array in programs.loaded(function)):
        return function
    body = _Inlining(made, 1 + programs.highest_variable(function)).block(function.body)
    return simplify(Function(function.parameters, body), shape)


class _Inlining:
    """One function being rewritten. Like the rest of this stage it recurses on blocks of scalar code only."""

    def __init__(self, made: Binding, fresh: int) -> None:
        self._made, self._fresh = made, fresh
        self._replaced: dict[Operand, Operand] = {}

    def _operand(self, operand: Operand) -> Operand:
        return self._replaced.get(operand, operand)

    def _operands(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple([self._operand(operand) for operand in operands])

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            statements += self._statement(statement)
        return Block(tuple(statements), self._operands(block.results))

    def _statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case Load(array=array) if array.label == self._made.label:
                return self._computed(replace(statement, index=self._operands(statement.index)))
            case Load(index=index):
                return [replace(statement, index=self._operands(index))]
            case Compute(arguments=arguments):
                return [replace(statement, arguments=self._operands(arguments))]
            case If(outs, condition, then, orelse):
                return [If(outs, self._operand(condition), self.block(then), self.block(orelse))]
            case While(outs, parameters, initial, condition, body):
                parts = self.block(condition), self.block(body)
                return [While(outs, parameters, self._operands(initial), *parts)]
            case _:
                assert_never(statement)

    def _computed(self, load: Load) -> list[Statement]:
        """The statements that compute what `load` loads; its variable gets their result."""
        match self._made.operation:
            case Generate(function) | Map(function):
                inputs = describe(self._made.operation).arrays
                statements, results = self._applied(function, inputs, load)
                self._replaced[load.out] = results[self._place(load)]
            case Backpermute(function, inputs):
                statements, index = self._applied(function, (), load)
                # Not what a check before the backpermute knows: the reader need not come after it.
                inside = always_inside(function, self._made.arrays[0].shape, inputs[0].shape)
                statements.append(self._moved(load, inputs, index, inside))
            case Gather(indices, inputs):
                statements = self._loads(load, indices)
                index = tuple([each.out for each in statements if isinstance(each, Load)])
                statements.append(self._moved(load, inputs, index, False))
            case _:
                raise ValueError(f"%{self._made.label} is not computed element by element")
        return statements

    def _applied(
        self, function: Function, inputs: tuple[Array, ...], load: Load
    ) -> tuple[list[Statement], tuple[Operand, ...]]:
        """The function at the index of `load`, and at the elements of `inputs` there."""
        rank = len(load.index)
        local: dict[Operand, Operand] = dict(zip(function.parameters[:rank], load.index, strict=True))
        statements = self._loads(load, inputs)
        for parameter, each in zip(function.parameters[rank:], statements, strict=True):
            assert isinstance(each, Load)
            local[parameter] = each.out

        def bound(variable: Variable) -> Variable:
            fresh = self._variable(variable.type)
            local[variable] = fresh
            return fresh

        body = rewrite.block(function.body, lambda operand: local.get(operand, operand), bound, _same)
        return [*statements, *there(body).statements], body.results

    def _loads(self, load: Load, arrays: tuple[Array, ...]) -> list[Statement]:
        """Loads of arrays that have the shape of what `load` loads, in its place; the first is checked as it is."""
        return [
            replace(load, out=self._variable(array.element), array=array, check=k == 0)
            for k, array in enumerate(arrays)
        ]

    def _moved(self, load: Load, inputs: tuple[Array, ...], index: tuple[Operand, ...], inside: bool) -> Load:
        """The load, from where a backpermute or gather takes its element."""
        return Load(load.out, inputs[self._place(load)], index, self._made.where, check=True, inside_block=inside)

    def _place(self, load: Load) -> int:
        return next(k for k, array in enumerate(self._made.arrays) if array.leaf == load.array.leaf)

    def _variable(self, type_: ScalarType) -> Variable:
        self._fresh += 1
        return Variable(self._fresh - 1, type_)


def there(body: Block) -> Block:
    """The block of another function, whose indices are known to be in bounds where it stands, not wherever this one runs."""
    statements: list[Statement] = []
    for statement in body.statements:
        match statement:
            case Load(inside=inside, inside_block=inside_block):
                statements.append(replace(statement, inside=False, inside_block=inside or inside_block))
            case Compute():
                statements.append(statement)
            case If(outs, condition, then, orelse):
                statements.append(If(outs, condition, there(then), there(orelse)))
            case While(outs, parameters, initial, condition, step):
                statements.append(While(outs, parameters, initial, there(condition), there(step)))
            case _:
                assert_never(statement)
    return Block(tuple(statements), body.results)


def _same(array: Array) -> Array:
    return array
