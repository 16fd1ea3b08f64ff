"""Scans have the bits of the reference order, in vectors and in scalars."""

from __future__ import annotations

import pytest

from accel.ast.operators import Operator
from accel.ast.types import BOOL, F32, F64, I32, I64, U8, ScalarType
from accel.ir.nodes import Order
from tests.llvm import nests

SIZES = (0, 1, 2, 7, 8, 9, 31, 64, 100, 4095, 4096, 4097, 9000)


@pytest.mark.parametrize("kind", [F32, F64, I32, I64, U8])
@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("order", Order)
def test_sums(kind: ScalarType, exclusive: bool, order: Order) -> None:
    merge = nests.binary(Operator.ADD, kind)
    program = nests.scan(kind, merge, 1, exact=kind.is_integer, seeded=True, exclusive=exclusive, order=order)
    for size in SIZES:
        nests.agrees(program, [nests.numbers(kind, size, size)], (1, 2))


@pytest.mark.parametrize("kind", [F32, I32])
def test_scans_without_initial_value(kind: ScalarType) -> None:
    program = nests.scan(kind, nests.binary(Operator.ADD, kind), 1, exact=kind.is_integer, seeded=False)
    for size in SIZES:
        nests.agrees(program, [nests.numbers(kind, size, size)], (1,))


@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize("kind", [F32, F64])
def test_pairs_without_a_neutral_element(kind: ScalarType, seeded: bool, exclusive: bool) -> None:
    if exclusive and not seeded:
        return  # there is nothing before the first element
    merge = nests.first_of_pairs(kind)
    program = nests.scan(kind, merge, 2, exact=False, seeded=seeded, exclusive=exclusive)
    for size in SIZES:
        nests.agrees(program, [nests.numbers(kind, size, size), nests.numbers(kind, size, size + 1)], (1,))


@pytest.mark.parametrize("guard", ["prefix", "positive"])
@pytest.mark.parametrize("kind", [F32, F64, I32])
@pytest.mark.parametrize("leaves", [1, 2])
def test_guarded_scans(kind: ScalarType, guard: str, leaves: int) -> None:
    """An exclusive scan under a guard: the state is read everywhere, also where no step is made."""
    merge = nests.binary(Operator.ADD, kind) if leaves == 1 else nests.first_of_pairs(kind)
    exact = kind.is_integer and leaves == 1
    program = nests.scan(kind, merge, leaves, exact=exact, seeded=True, guard=guard, exclusive=True)
    for size in SIZES:
        arguments = [nests.numbers(kind, size, size + k) for k in range(leaves)]
        if guard == "prefix":
            arguments.append(nests.numbers(BOOL, max(0, size - 1), 0))
        nests.agrees(program, arguments, (1,))
