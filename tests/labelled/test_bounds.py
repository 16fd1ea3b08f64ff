"""Indices that are known to be in bounds: what is proved holds for every small size, and what should be proved is."""

from __future__ import annotations

from itertools import product

import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.labelled.array import Extent, Shape, SizeVariable
from accel.labelled.meaning.evaluate import evaluate
from accel.labelled.scalar import Function, Operand
from accel.labelled.scalars.ranges import always_inside
from tests.fusedast.hand import Body, number

N, M = Extent(SizeVariable(0), 0), Extent(SizeVariable(1), 0)


def plus(extent: Extent, more: int) -> Extent:
    return Extent(extent.variable, extent.offset + more)


def of(rank: int, *steps: tuple[Operator, object, object]) -> Function:
    """The last of some steps; "0" is the first index, an integer the result of an earlier step."""
    body = Body(*[I64] * rank)
    made: list[Operand] = []

    def operand(what: object) -> Operand:
        if isinstance(what, str):
            return body.parameters[int(what)]
        return made[what] if isinstance(what, int) else what  # type: ignore[return-value]

    for operator, left, right in steps:
        made.append(body.op(operator, operand(left), operand(right)))
    return body.gives(made[-1])


def transposed() -> Function:
    body = Body(I64, I64)
    return body.gives(body.parameters[1], body.parameters[0])


def c(value: int) -> Operand:
    return number(I64, value)


CLAMPED = of(1, (Operator.ADD, "0", c(1)), (Operator.SUB, N, c(1)), (Operator.MIN, 0, 1), (Operator.MAX, c(0), 2))

CASES: list[tuple[str, Function, Shape, Shape, bool]] = [
    ("identity", of(1, (Operator.ADD, "0", c(0))), (N,), (N,), True),
    ("init", of(1, (Operator.ADD, "0", c(0))), (plus(N, -1),), (N,), True),
    ("tail", of(1, (Operator.ADD, "0", c(1))), (plus(N, -1),), (N,), True),
    ("one too far", of(1, (Operator.ADD, "0", c(1))), (N,), (N,), False),
    ("one too low", of(1, (Operator.SUB, "0", c(1))), (N,), (N,), False),
    ("reverse", of(1, (Operator.SUB, N, c(1)), (Operator.SUB, 0, "0")), (N,), (N,), True),
    ("not quite reverse", of(1, (Operator.SUB, N, "0")), (N,), (N,), False),
    ("transpose", transposed(), (N, M), (M, N), True),
    ("not transposed", transposed(), (N, M), (N, M), False),
    ("clamped", CLAMPED, (N,), (N,), True),
    ("clamped at the wrong end", of(1, (Operator.MIN, "0", plus(M, -1))), (N,), (M,), False),
    ("clamped at both ends", of(1, (Operator.MIN, "0", c(3)), (Operator.MAX, 0, c(1))), (N,), (Extent(None, 4),), True),
    ("around", of(1, (Operator.ADD, "0", c(5)), (Operator.MOD, 0, N)), (N,), (N,), True),
    ("around what may be empty", of(1, (Operator.MOD, "0", M)), (N,), (M,), False),
    ("first", of(1, (Operator.MUL, "0", c(0))), (N,), (N,), True),
    ("unknown", of(1, (Operator.MUL, "0", "0")), (N,), (N,), False),
]


@pytest.mark.parametrize(("name", "function", "shape", "bounds", "inside"), CASES, ids=[case[0] for case in CASES])
def test_always_inside(name: str, function: Function, shape: Shape, bounds: Shape, inside: bool) -> None:
    assert always_inside(function, shape, bounds) is inside
    if inside:
        for n, m in product(range(7), repeat=2):
            assert stays_inside(function, shape, bounds, {SizeVariable(0): n, SizeVariable(1): m})


def stays_inside(function: Function, shape: Shape, bounds: Shape, sizes: dict[SizeVariable, int]) -> bool:
    def number_of(extent: Extent) -> int:
        return extent.offset + (sizes[extent.variable] if extent.variable else 0)

    limits = [number_of(bound) for bound in bounds]
    return all(
        0 <= int(value) < limit
        for index in product(*(range(number_of(extent)) for extent in shape))
        for value, limit in zip(evaluate(function, index, sizes.__getitem__, {}), limits, strict=True)
    )
