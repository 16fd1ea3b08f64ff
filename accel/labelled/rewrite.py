"""Substitution in labelled programs: other arrays, other sizes, other variables, the structure as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar, assert_never

from accel.labelled.array import Array, Extent, Label, Shape, SizeVariable
from accel.labelled.nodes import BindSizes, Operation, RequireEqual
from accel.labelled.operations import describe, rebuild
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Statement, Variable, While
from accel.support.dataclass import dataclass

V = TypeVar("V", bound=Operand)


@dataclass(frozen=True, slots=True)
class Substitution:
    """What replaces arrays that are used, and extents."""

    array: Callable[[Array], Array]
    extent: Callable[[Extent], Extent]

    def arrays(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        """What replaces each."""
        return tuple([self.array(array) for array in arrays])

    def shape(self, shape: Shape) -> Shape:
        """The shape with its extents replaced."""
        return tuple([self.extent(extent) for extent in shape])

    def variable(self, variable: SizeVariable) -> SizeVariable:
        """A variable that is bound, which only another variable can replace."""
        found = self.extent(Extent(variable, 0))
        assert found.variable is not None, "a bound size is not a constant"
        assert not found.offset, "a bound size is not a sum"
        return found.variable

    def operand(self, operand: Operand) -> Operand:
        """Variables and constants stay."""
        return self.extent(operand) if isinstance(operand, Extent) else operand

    def function(self, function: Function) -> Function:
        """The function with arrays and extents replaced."""
        return Function(function.parameters, block(function.body, self.operand, _same, self.array))


def _same(variable: Variable) -> Variable:
    return variable


def rename(function: Function, operand: Callable[[Operand], Operand]) -> Function:
    """The function with operands replaced that are not bound in it."""
    return Function(function.parameters, block(function.body, operand, _same, lambda array: array))


def block(
    body: Block,
    operand: Callable[[Operand], Operand],
    bound: Callable[[Variable], Variable],
    array: Callable[[Array], Array],
) -> Block:
    """The block with its operands, the variables that it binds, and its arrays replaced, in order of evaluation."""

    def inner(part: Block) -> Block:
        return block(part, operand, bound, array)

    statements = tuple([_statement(statement, operand, bound, array, inner) for statement in body.statements])
    return Block(statements, tuple([operand(result) for result in body.results]))


def _statement(
    statement: Statement,
    operand: Callable[[Operand], Operand],
    bound: Callable[[Variable], Variable],
    array: Callable[[Array], Array],
    inner: Callable[[Block], Block],
) -> Statement:
    match statement:
        case Compute(out, operator, arguments):
            replaced = tuple([operand(argument) for argument in arguments])
            return Compute(bound(out), operator, replaced)
        case Load(out, source, index):
            replaced = tuple([operand(i) for i in index])
            return replace(statement, out=bound(out), array=array(source), index=replaced)
        case If(outs, condition, then, orelse):
            asked = operand(condition)
            branches = inner(then), inner(orelse)
            return If(tuple(map(bound, outs)), asked, *branches)
        case While(outs, parameters, initial, condition, body):
            start = tuple([operand(i) for i in initial])
            state = tuple(map(bound, parameters))
            parts = inner(condition), inner(body)
            return While(tuple(map(bound, outs)), state, start, *parts)
        case _:
            assert_never(statement)


def operation(node: Operation, to: Substitution) -> Operation:
    """The operation with arrays, extents and functions replaced; sub-programs stay as they are."""
    match node:
        case BindSizes(variables, function, name):
            return BindSizes(tuple(map(to.variable, variables)), to.function(function), name)
        case RequireEqual(left, right):
            return replace(node, left=to.shape(left), right=to.shape(right))
        case _:
            described = describe(node)
            functions = tuple([to.function(function) for function in described.functions])
            return rebuild(node, to.arrays(described.arrays), functions, described.parts)


def reading(node: Operation, labels: Mapping[Label, Label]) -> Operation:
    """The operation with other labels for the arrays that it reads."""

    def array(old: Array) -> Array:
        return replace(old, label=labels.get(old.label, old.label))

    return operation(node, Substitution(array, lambda extent: extent))
