"""Scans have the bits of the reference order, in vectors and in scalars."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I32, I64, U8, ScalarType
from accel.backends.llvm.machine.target import host
from accel.ir.nodes import LoopDirection
from tests.llvm import nests
from tests.marks import one_in

SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 64, 100, 4095, 4096, 4097, 9000)


@pytest.mark.parametrize("kind", one_in(5, [F32, F64, I32, I64, U8], kept=2))
@pytest.mark.parametrize("exclusive", one_in(2, [True, False]))
@pytest.mark.parametrize("order", LoopDirection)
def test_sums(kind: ScalarType, exclusive: bool, order: LoopDirection) -> None:
    merge = nests.binary(Operator.ADD, kind)
    program = nests.scan(kind, merge, 1, exact=kind.is_integer, seeded=True, exclusive=exclusive, order=order)
    for size in SIZES:
        nests.agrees(program, [nests.numbers(kind, size, size)], (1, 2))


@pytest.mark.parametrize("kind", [F32, I32])
def test_scans_without_initial_value(kind: ScalarType) -> None:
    program = nests.scan(kind, nests.binary(Operator.ADD, kind), 1, exact=kind.is_integer, seeded=False)
    for size in SIZES:
        nests.agrees(program, [nests.numbers(kind, size, size)], (1,))


@pytest.mark.parametrize("exclusive", one_in(2, [True, False]))
@pytest.mark.parametrize("seeded", one_in(2, [True, False]))
@pytest.mark.parametrize("kind", one_in(2, [F32, F64]))
def test_pairs_without_a_neutral_element(kind: ScalarType, seeded: bool, exclusive: bool) -> None:
    if exclusive and not seeded:
        return  # there is nothing before the first element
    merge = nests.first_of_pairs(kind)
    program = nests.scan(kind, merge, 2, exact=False, seeded=seeded, exclusive=exclusive)
    for size in SIZES:
        nests.agrees(program, [nests.numbers(kind, size, size), nests.numbers(kind, size, size + 1)], (1,))


@pytest.mark.parametrize("guard", one_in(2, ["prefix", "positive"]))
@pytest.mark.parametrize("kind", one_in(2, [F32, F64, I32]))
@pytest.mark.parametrize("leaves", one_in(2, [1, 2]))
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


@pytest.mark.parametrize("kind", one_in(2, [F32, F64]))
def test_sums_of_negative_zeros(kind: ScalarType) -> None:
    """Sums start from -0.0, the only float that changes none: from 0.0, all of these would be 0.0."""
    program = nests.scan(kind, nests.binary(Operator.ADD, kind), 1, exact=False, seeded=False)
    for size in SIZES:
        zeros = np.full(size, -0.0, kind.dtype)
        nests.agrees(program, [zeros], (1,))
        assert np.signbit(nests.run(program, [zeros])[0]).all()


@pytest.mark.parametrize("leaves", one_in(2, [1, 2]))
def test_blocks_behind_a_prefix(leaves: int) -> None:
    """Blocks in which no step is made: at the end of a loop, and all of them."""
    merge = nests.binary(Operator.ADD, F32) if leaves == 1 else nests.first_of_pairs(F32)
    program = nests.scan(F32, merge, leaves, exact=False, seeded=True, guard="prefix", exclusive=True)
    for size, steps in ((9000, 0), (9000, 1), (9000, 12), (9000, 4096), (9000, 4097), (1, 0), (4097, 4096)):
        arguments = [nests.numbers(F32, size, k) for k in range(leaves)]
        nests.agrees(program, [*arguments, nests.numbers(BOOL, steps, 0)], (1,))


@pytest.mark.parametrize("kind", [F64, I32])
def test_many_blocks_on_many_threads(kind: ScalarType) -> None:
    """Long enough for the pool, which must not take blocks of a scan out of their order."""
    program = nests.scan(kind, nests.binary(Operator.ADD, kind), 1, exact=kind.is_integer, seeded=True)
    values = nests.numbers(kind, 400_123, 1)
    one = nests.run(program, [values], 1)
    if kind.is_integer:
        assert one[0].tobytes() == (np.cumsum(values, dtype=kind.dtype) + kind.dtype.type(3)).tobytes()
    for threads in (2, 3):
        for again, expected in zip(nests.run(program, [values], threads), one, strict=True):
            assert again.tobytes() == expected.tobytes()


@pytest.mark.skipif(not host().processor.has_avx512, reason="masks are in vector registers")
def test_llvm_knows_no_lanes_whose_results_nobody_reads() -> None:
    """It would compute them of whatever a register holds: of floats next to zero, a hundred times as slowly."""

    def filtered(x: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        maps = A.map(lambda e: A.lift(e, e * 0.5), x)
        return A.map(lambda m: m[1], A.scanl1(lambda a, b: A.lift(a[0] * b[0], b[0] * a[1] + b[1]), maps))

    text = A.explain(filtered, np.ones(9)).stages["llvm"]
    assert "bitcast i8" in text
    assert "select <8 x i1> <i1 false, i1 true" not in text
