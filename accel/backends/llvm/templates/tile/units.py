"""Sums and differences as products that are added, where sums alone would keep a processor's adders busy.

AMD's processors have two units for sums, and two others for products and products that are added. Comparisons and extremes take
those of products or those of sums, depending on the generation. `x + y` is `fma(x, 1.0, y)`, and `x - y` is `fma(y, -1.0, x)`,
in every bit. Elsewhere the same units do all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from accel.ast.tree.operators import COMPARISONS, Operator
from accel.ast.tree.types import F32, F64
from accel.backends.llvm.machine.target import host
from accel.ir import mentions
from accel.ir.nodes import OneToOne
from accel.labelled.scalar import Block, Compute, Function, Statement, constant, operand_type

_SUMS = frozenset({Operator.ADD, Operator.SUB})
_PRODUCTS = frozenset({Operator.MUL, Operator.FMA})
_EXTREMES = COMPARISONS | {Operator.MIN, Operator.MAX}

Inside: TypeAlias = Sequence[OneToOne]
"""What a tile computes of each element."""


def balanced(inside: Inside, functions: Iterable[Function]) -> tuple[Inside, Inside]:
    """The statements for even and for odd rows of a tile, which runs these functions as well for each element."""
    if not (host().processor.adds_apart and host().processor.has_fma):
        return inside, inside
    moved = [replace(statement, function=_multiplied(statement.function)) for statement in inside]
    every = [*(statement.function for statement in inside), *functions]
    adders, multipliers, extremes = (sum(_count(each, of) for each in every) for of in (_SUMS, _PRODUCTS, _EXTREMES))
    if host().processor.extremes_add:
        adders += extremes
    else:
        multipliers += extremes
    movable = sum(_count(statement.function, _SUMS) for statement in inside)
    # Of no row, every other one, or all: what keeps the busier units less busy.
    ways = ((inside, inside), (inside, moved), (moved, moved))
    busy = [max(adders - movable * part / 2, multipliers + movable * part / 2) for part in range(len(ways))]
    return ways[busy.index(min(busy))]


def _count(function: Function, operators: frozenset[Operator]) -> int:
    return sum(
        _is_float(s) and s.operator in operators
        for s in mentions.function_statements(function)
        if isinstance(s, Compute)
    )


def _is_float(statement: Compute) -> bool:
    return operand_type(statement.arguments[0]) in (F32, F64)


def _multiplied(function: Function) -> Function:
    """The same with its sums and differences as products that are added."""
    return replace(function, body=Block(tuple(map(_moved, function.body.statements)), function.body.results))


def _moved(statement: Statement) -> Statement:
    if not isinstance(statement, Compute) or statement.operator not in _SUMS or not _is_float(statement):
        return statement
    x, y = statement.arguments
    if statement.operator is Operator.ADD:
        return Compute(statement.out, Operator.FMA, (x, constant(statement.out.type, 1.0), y))
    return Compute(statement.out, Operator.FMA, (y, constant(statement.out.type, -1.0), x))
