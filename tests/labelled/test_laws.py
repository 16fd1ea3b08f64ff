"""Every law of the scalar simplifier, by trial: all values of small types, and the odd ones of floats, give the same bits."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence

import pytest

from accel.ast.meaning.semantics import Value
from accel.ast.tree.operators import COMPARISONS, ELEMENTARY, Operator
from accel.ast.tree.signatures import fits
from accel.ast.tree.types import BOOL, F32, F64, I8, I16, I64, U8, ScalarType
from accel.labelled.meaning.evaluate import prepare
from accel.labelled.scalar import Block, Compute, Function, Operand, Variable, constant, operand_type
from accel.labelled.scalars.simplify import simplify

FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, math.inf, -math.inf, math.nan)


def values(kind: ScalarType) -> Sequence[Value]:
    if kind is BOOL:
        return (False, True)
    return FLOATS if kind.is_float else range(kind.minimum, kind.maximum + 1)


def constants(kind: ScalarType) -> Sequence[Value]:
    if kind.is_integer:
        return sorted({kind.minimum, kind.maximum, 0, 1, 2, max(kind.minimum, -1), kind.bits - 1})
    return values(kind)


def same(left: Sequence[Value], right: Sequence[Value]) -> bool:
    """Equal in every bit, but for which NaN it is."""
    return [_bits(each) for each in left] == [_bits(each) for each in right]


def _bits(value: Value) -> object:
    if not isinstance(value, float):
        return type(value), value
    return "nan" if math.isnan(value) else struct.pack("<d", value)


def agrees(function: Function, kinds: Sequence[ScalarType]) -> None:
    smaller = simplify(function)
    before, after = (prepare(each, lambda size: 0, {}) for each in (function, smaller))
    arguments: list[list[Value]] = [[]]
    for kind in kinds:
        arguments = [[*some, value] for some in arguments for value in values(kind)]
    for some in arguments:
        assert same(before(some), after(some)), (some, function, smaller)


def applied(operator: Operator, kind: ScalarType) -> Iterator[tuple[Operand, ...]]:
    """A variable with each constant, on either side, and with itself."""
    x, amount = Variable(0, kind), I64 if fits(operator, kind, (kind, I64)) and kind is not I64 else kind
    for value in constants(amount):
        yield x, constant(amount, value)
    if amount is kind:
        for value in constants(kind):
            yield constant(kind, value), x
        yield x, x


@pytest.mark.parametrize("kind", [BOOL, I8, U8, F32, F64])
@pytest.mark.parametrize("operator", [each for each in Operator if each not in ELEMENTARY])
def test_operators_of_a_variable_and_a_constant(operator: Operator, kind: ScalarType) -> None:
    result = BOOL if operator in COMPARISONS else kind
    x, out = Variable(0, kind), Variable(1, result)
    for operands in applied(operator, kind):
        types = tuple(map(operand_type, operands))
        if fits(operator, result, types):
            agrees(Function((x,), Block((Compute(out, operator, operands),), (out,))), [kind])


@pytest.mark.parametrize("kind", [BOOL, I8, F32])
def test_choices(kind: ScalarType) -> None:
    """Between constants, the variable and the condition itself; twice, under the same condition."""
    condition, x = Variable(0, BOOL), Variable(1, kind)
    some: list[Operand] = [x, constant(kind, 0), constant(kind, 1)]
    some += [condition] if kind is BOOL else []
    for test in (condition, constant(BOOL, True), constant(BOOL, False)):
        for then in some:
            for orelse in some:
                first, second = Variable(2, kind), Variable(3, kind)
                choices = (
                    Compute(first, Operator.SELECT, (test, then, orelse)),
                    Compute(second, Operator.SELECT, (test, first, x)),
                )
                agrees(Function((condition, x), Block(choices, (first, second))), [BOOL, kind])


@pytest.mark.parametrize(
    "pair", [(I8, U8), (I8, I16), (I16, I8), (U8, I16), (F64, F32), (F32, F64), (I8, F32), (F32, I8)]
)
def test_conversions_there_and_back(pair: tuple[ScalarType, ScalarType]) -> None:
    """Equal computations at two types are two computations."""
    kind, other = pair
    x, there, back, wide = Variable(0, kind), Variable(1, other), Variable(2, kind), Variable(3, I64)
    body = (
        Compute(there, Operator.CAST, (x,)),
        Compute(back, Operator.CAST, (there,)),
        Compute(wide, Operator.CAST, (x,)),
    )
    agrees(Function((x,), Block(body, (there, back, wide))), [kind] if kind is not I16 else [I8])
