"""Loads of what an operation makes, replaced by what that operation does for the element.

A load out of bounds raises as before: a load of the operation's first input, which has its shape, is checked in its place, also
if what is left of the operation does not use it. So an operation without inputs can replace only loads that are known to be
in bounds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Label, Shape
from accel.labelled.nodes import Binding, Generate, Map
from accel.labelled.operations import Flag, describe, with_functions
from accel.labelled.passes.pointwise import Pointwise
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Statement, Variable, While
from accel.labelled.scalars.simplify import simplify


def inlined(binding: Binding, made: Binding) -> Binding:
    """`binding` with every load of an array of `made`, a generate or map, replaced; what it reads in bulk stays.

    Raises ValueError if `made` is another operation.
    """
    takes_index = Flag.TAKES_INDEX in describe(binding.operation).flags
    shape = binding.arrays[0].shape if takes_index else ()
    operation = with_functions(binding.operation, lambda function: _function(function, made, shape))
    return replace(binding, operation=operation, after=_after(binding, made))


def _after(binding: Binding, made: Binding) -> tuple[Label, ...]:
    """What must have been checked before `binding`, now that it does the work of `made`."""
    loads = [array.label for function in programs.functions(binding.operation) for array in programs.loaded(function)]
    return tuple(dict.fromkeys((*binding.after, *made.after))) if made.label in loads else binding.after


def _pointwise(made: Binding) -> Pointwise:
    match made.operation:
        case Generate(function):
            return Pointwise(function, ())
        case Map(function, inputs):
            return Pointwise(function, inputs)
        case _:
            raise ValueError(f"%{made.label} is not computed element by element")


def _function(function: Function, made: Binding, shape: Shape) -> Function:
    if not any(array.label == made.label for array in programs.loaded(function)):
        return function
    body = _Inlining(made.label, _pointwise(made), 1 + programs.highest_variable(function)).block(function.body)
    return simplify(Function(function.parameters, body), shape)


class _Inlining:
    """One function being rewritten. Like the rest of this stage it recurses on blocks of scalar code only."""

    def __init__(self, label: Label, node: Pointwise, fresh: int) -> None:
        self._label, self._node, self._fresh = label, node, fresh
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
            case Load(array=array) if array.label == self._label:
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
        function, rank = self._node.function, len(load.index)
        local: dict[Operand, Operand] = dict(zip(function.parameters[:rank], load.index, strict=True))
        statements: list[Statement] = []
        for parameter, array in zip(function.parameters[rank:], self._node.inputs, strict=True):
            element = self._variable(parameter)
            local[parameter] = element
            statements.append(replace(load, out=element, array=array, check=not statements))

        def bound(variable: Variable) -> Variable:
            fresh = self._variable(variable)
            local[variable] = fresh
            return fresh

        body = rewrite.block(function.body, lambda operand: local.get(operand, operand), bound, _same)
        self._replaced[load.out] = body.results[load.array.leaf]
        return [*statements, *body.statements]

    def _variable(self, like: Variable) -> Variable:
        self._fresh += 1
        return Variable(self._fresh - 1, like.type)


def _same(array: Array) -> Array:
    return array
