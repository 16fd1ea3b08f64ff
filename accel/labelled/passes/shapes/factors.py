"""Of which extents a size is the product: how it is known, before any call, that two shapes have equally many elements.

In: shapes, and how a program computes sizes. Out: factors, which are equal only where the products always are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

from accel.ast.tree.operators import Operator
from accel.labelled import programs
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.nodes import BindSizes, Program
from accel.labelled.scalar import Compute, Constant, Function, Operand, Variable

Sizes: TypeAlias = Mapping[SizeVariable, tuple[Function, int]]
"""For sizes that are computed: by which function, as which result."""


def computed_sizes(program: Program) -> Sizes:
    """How a program, with its sub-programs, computes sizes."""
    found: dict[SizeVariable, tuple[Function, int]] = {}
    for part in programs.programs(program):
        for binding in part.bindings:
            if isinstance(binding.operation, BindSizes):
                function = binding.operation.function
                found |= {variable: (function, k) for k, variable in enumerate(binding.operation.variables)}
    return found


def factors(shape: Sequence[Extent], sizes: Sizes) -> Counter[Extent]:
    """The extents whose product is the size of `shape`, computed ones taken apart; constants as one factor."""
    found: Counter[Extent] = Counter()
    constant = 1
    for extent in shape:
        for factor in _of_extent(extent, sizes):
            if factor.variable is None:
                constant *= factor.offset
            else:
                found[factor] += 1
    return found + Counter({Extent(None, constant): 1})


def _of_extent(extent: Extent, sizes: Sizes) -> list[Extent]:
    if extent.variable is None or extent.offset or extent.variable not in sizes:
        return [extent]
    function, position = sizes[extent.variable]
    products: dict[Variable, list[Extent]] = {}
    for statement in function.body.statements:
        if isinstance(statement, Compute) and statement.operator is Operator.MUL:
            parts = [_of_operand(argument, products) for argument in statement.arguments]
            known = [part for part in parts if part is not None]
            if len(known) == len(parts):
                products[statement.out] = [factor for part in known for factor in part]
    return _of_operand(function.body.results[position], products) or [extent]


def _of_operand(operand: Operand, products: Mapping[Variable, list[Extent]]) -> list[Extent] | None:
    match operand:
        case Extent():
            return [operand]
        case Constant():
            return [Extent(None, int(operand.value))]
        case Variable():
            return products.get(operand)
        case _:
            assert_never(operand)
