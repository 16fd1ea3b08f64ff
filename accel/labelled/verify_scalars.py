"""Well-formed scalar functions: every variable bound once and before its use, every operator at types that it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from accel.ast.tree.signatures import fits
from accel.ast.tree.types import BOOL, I64, ScalarType
from accel.errors import AccelInternalError
from accel.labelled.array import Array, SizeVariable
from accel.labelled.scalar import (
    Block,
    Compute,
    Constant,
    Function,
    If,
    Load,
    Operand,
    Statement,
    Variable,
    While,
    operand_type,
)
from accel.labelled.scalar_text import function_text


def verify_function(
    function: Function,
    parameters: Sequence[ScalarType],
    results: Sequence[ScalarType],
    knows_array: Callable[[Array], bool],
    knows_size: Callable[[SizeVariable], bool],
) -> None:
    """Raises `AccelInternalError` unless the function takes `parameters` to `results` and mentions only what is known."""
    check = _Check(function, knows_array, knows_size)
    check.require([p.type for p in function.parameters] == list(parameters), f"parameters {list(parameters)} expected")
    scope = check.bind(function.parameters, frozenset())
    found = check.block(function.body, scope)
    check.require(found == list(results), f"results {list(results)} expected, not {found}")


class _Check:
    def __init__(
        self, function: Function, knows_array: Callable[[Array], bool], knows_size: Callable[[SizeVariable], bool]
    ) -> None:
        self._function = function
        self._knows_array = knows_array
        self._knows_size = knows_size
        self._bound: set[int] = set()

    def require(self, holds: bool, expected: str) -> None:
        if not holds:
            raise AccelInternalError(f"malformed scalar function: {expected}: {function_text(self._function)}")

    def bind(self, variables: Sequence[Variable], scope: frozenset[Variable]) -> frozenset[Variable]:
        for variable in variables:
            self.require(variable.number not in self._bound, f"x{variable.number} bound once")
            self._bound.add(variable.number)
        return scope.union(variables)

    def type(self, operand: Operand, scope: set[Variable]) -> ScalarType:
        match operand:
            case Variable(number):
                self.require(operand in scope, f"x{number} bound before it is used")
            case Constant(kind, bits):
                self.require(0 <= bits < 1 << kind.bits, f"{bits:#x} are bits of {kind}")
            case _:
                variable = operand.variable
                self.require(variable is None or self._knows_size(variable), f"{operand} known")
        return operand_type(operand)

    def block(self, block: Block, outer: frozenset[Variable]) -> list[ScalarType]:
        """The types of a block's results. It recurses on nested blocks only."""
        scope = set(outer)
        for statement in block.statements:
            self._statement(statement, scope)
        return [self.type(result, scope) for result in block.results]

    def _statement(self, statement: Statement, scope: set[Variable]) -> None:
        match statement:
            case Compute(out, operator, arguments):
                types = tuple([self.type(a, scope) for a in arguments])
                self.require(fits(operator, out.type, types), f"{operator}{types} -> {out.type} is an operator")
                scope |= self.bind([out], frozenset())
            case Load(out, array, index):
                self.require(self._knows_array(array), f"%{array.label}.{array.leaf} made before it is loaded from")
                types = tuple([self.type(i, scope) for i in index])
                self.require(types == (I64,) * len(array.shape), "one i64 per dimension")
                self.require(out.type is array.element, "a load of the array's type")
                scope |= self.bind([out], frozenset())
            case If(outs, condition, then, orelse):
                self.require(self.type(condition, scope) is BOOL, "a bool to choose by")
                for branch in (then, orelse):
                    self._results(self.block(branch, frozenset(scope)), outs)
                scope |= self.bind(outs, frozenset())
            case While(outs, parameters, initial, condition, body):
                self._results([self.type(i, scope) for i in initial], parameters)
                inner = self.bind(parameters, frozenset(scope))
                self.require(self.block(condition, inner) == [BOOL], "one bool to go on by")
                self._results(self.block(body, inner), parameters)
                self._results([p.type for p in parameters], outs)
                scope |= self.bind(outs, frozenset())
            case _:
                assert_never(statement)

    def _results(self, found: list[ScalarType], variables: Sequence[Variable]) -> None:
        self.require(found == [v.type for v in variables], f"{variables} get their types")
