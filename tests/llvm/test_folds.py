"""Folds have the bits of the reference order, in vectors and in scalars, for every length and number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I32, I64, U8, ScalarType
from accel.labelled.scalar import Block, Compute, Function, Variable
from tests import untyped
from tests.llvm import nests
from tests.marks import numbers_of_threads, one_in

SIZES = (1, 2, 7, 31, 64, 65, 100, 4095, 4096, 4097, 9000)
KINDS = (F32, F64, I32, I64, U8)


@pytest.mark.parametrize("kind", one_in(3, KINDS, kept=2))
@pytest.mark.parametrize("guard", one_in(3, ["none", "prefix", "positive"]))
@pytest.mark.parametrize("commutes", one_in(2, [True, False]))
def test_sums(kind: ScalarType, guard: str, commutes: bool) -> None:
    exact = kind.is_integer
    program = nests.fold(
        kind, nests.binary(Operator.ADD, kind), 1, exact=exact, commutes=commutes or exact, seeded=True, guard=guard
    )
    for size in (0, *SIZES):
        arguments = [nests.numbers(kind, size, size)]
        if guard == "prefix":
            arguments.append(nests.numbers(BOOL, max(0, size - 3), 0))
        nests.agrees(program, arguments)


@pytest.mark.parametrize("kind", one_in(2, [F32, F64]))
@pytest.mark.parametrize("guard", one_in(3, ["positive", "none", "prefix"], kept=2))
@pytest.mark.parametrize("commutes", one_in(2, [True, False]))
def test_pairs_without_a_neutral_element(kind: ScalarType, guard: str, commutes: bool) -> None:
    """The operator does not really commute: what is tested is the order in which lanes join."""
    merge = nests.first_of_pairs(kind)
    program = nests.fold(kind, merge, 2, exact=False, commutes=commutes, seeded=True, guard=guard)
    for size in (0, *SIZES):
        arguments = [nests.numbers(kind, size, size), nests.numbers(kind, size, size + 1)]
        if guard == "prefix":
            arguments.append(nests.numbers(BOOL, max(0, size - 3), 0))
        nests.agrees(program, arguments)


@pytest.mark.parametrize("operator", one_in(3, [Operator.MIN, Operator.MAX, Operator.MUL]))
@pytest.mark.parametrize("kind", one_in(4, [F32, F64, I32, U8]))
def test_fold1(operator: Operator, kind: ScalarType) -> None:
    exact = kind.is_integer or operator is not Operator.MUL
    program = nests.fold(kind, nests.binary(operator, kind), 1, exact=exact, commutes=True, seeded=False)
    for size in SIZES:
        nests.agrees(program, [nests.numbers(kind, size, size)])


@pytest.mark.parametrize("kind", one_in(2, [F32, F64]))
@pytest.mark.parametrize("guard", one_in(2, ["none", "prefix"]))
def test_sums_of_negative_zeros(kind: ScalarType, guard: str) -> None:
    """Sums start from -0.0, the only float that changes none: from 0.0, all of these would be 0.0."""
    program = nests.fold(
        kind, nests.binary(Operator.ADD, kind), 1, exact=False, commutes=True, seeded=False, guard=guard
    )
    for size in SIZES:
        arguments = [np.full(size, -0.0, kind.dtype)]
        if guard == "prefix":
            arguments.append(np.zeros(max(1, size - 3), np.bool_))
        nests.agrees(program, arguments, (1,))
        (result,) = nests.run(program, arguments)
        assert np.signbit(result[()])


@pytest.mark.parametrize("kind", one_in(3, [I32, I64, U8]))
@pytest.mark.parametrize("operator", [Operator.MIN, Operator.MAX, Operator.AND, Operator.OR, Operator.XOR])
@pytest.mark.parametrize("guard", ["none", "positive"])
def test_exact_folds_of_numbers_near_the_ends(kind: ScalarType, operator: Operator, guard: str) -> None:
    """All below zero, or all with the highest bit: what a fold starts from, and what absent lanes hold, must not show."""
    program = nests.fold(kind, nests.binary(operator, kind), 1, exact=True, commutes=True, seeded=False, guard=guard)
    ends = (kind.minimum, kind.maximum) if guard == "none" else (1, kind.maximum)
    for size in (1, 7, 100):
        for least in {ends[0], ends[1] - 5}:
            steps = np.arange(size, dtype=kind.dtype) % kind.dtype.type(5)
            nests.agrees(program, [np.asarray(steps + kind.dtype.type(least), kind.dtype)], (1,))


@pytest.mark.parametrize("kind", one_in(2, [F32, F64]))
def test_many_blocks_on_many_threads(kind: ScalarType) -> None:
    """Long enough that chunks run on the pool, with a last one that is not whole."""
    program = nests.fold(kind, nests.binary(Operator.ADD, kind), 1, exact=False, commutes=True, seeded=True)
    values = nests.numbers(kind, 400_123, 1)
    one = nests.run(program, [values], 1)
    for threads in (2, 3, 7):
        assert nests.run(program, [values], threads)[0].tobytes() == one[0].tobytes()
    nests.agrees(program, [values[:150_001]], (1, 2))


@pytest.mark.parametrize("guard", one_in(2, ["none", "positive"]))
def test_exact_folds_whose_neutral_element_is_not_known(guard: str) -> None:
    """min(a, b) written with a conditional."""
    a, b, less, least = Variable(0, I32), Variable(1, I32), Variable(2, BOOL), Variable(3, I32)
    compare, choose = Compute(less, Operator.LT, (a, b)), Compute(least, Operator.SELECT, (less, a, b))
    merge = Function((a, b), Block((compare, choose), (least,)))
    program = nests.fold(I32, merge, 1, exact=True, commutes=True, seeded=True, guard=guard)
    for size in (0, *SIZES, 300_000):
        values = nests.numbers(I32, size, size)
        kept = values[values > np.int32(0)] if guard == "positive" else values
        for threads in (1, 3):
            (result,) = nests.run(program, [values], threads)
            assert int(result[()]) == min([3, *kept.tolist()])


def half_and_more(a: A.Exp[np.float32], b: A.Exp[np.float32]) -> A.Exp[np.float32]:
    return a * 0.5 + b


def later_of_the_largest(a: Any, b: Any) -> Any:
    return A.cond(b[0] >= a[0], b, a)


@pytest.mark.parametrize(("rows", "columns"), one_in(2, [(3, 4200), (5, 130), (40, 64), (1, 9000), (2, 4097)]))
def test_folds_that_do_not_commute_beside_others(rows: int, columns: int) -> None:
    """In one loop: a tuple, a float, what a filter leaves, and a sum, whose lanes are others."""
    values = nests.numbers(F32, rows * columns, 1).reshape(rows, columns)

    def program(m: A.Acc[Any]) -> Any:
        placed = A.imap(lambda ix, x: A.lift(x, A.unlift(ix)[1]), m)
        kept = A.filter(lambda x: x > 0.0, A.flatten(m))
        return (
            A.fold1(later_of_the_largest, placed),
            A.fold(half_and_more, 1.0, m),
            A.fold(A.add, 0.0, m),
            A.foldAll(half_and_more, 1.0, m),
            A.fold(half_and_more, 2.0, kept[0]),
        )

    def results(**given: Any) -> list[bytes]:
        with A.using(**given):
            every = untyped.runN(program)(values)
        return [part.tobytes() for each in every for part in (each if isinstance(each, tuple) else (each,))]

    expected = results(backend="interpreter")
    for threads in numbers_of_threads():
        assert results(threads=threads) == expected


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_rows_come_to_is_folded_in_runs(kind: Any) -> None:
    """A step for each row, and as many rows as several runs have: 64 elements of four bytes, 128 of eight."""

    def program(xs: Any) -> Any:
        return A.fold(half_less, 1.0, A.fold(A.add, 0.0, xs))

    xs = np.random.default_rng(1).random((500, 3)).astype(kind)
    assert "as runs" in A.explain(program, xs).stages["schedule"]
    wanted = A.runN(program, backend="interpreter")(xs)
    for threads in numbers_of_threads():
        assert A.runN(program, threads=threads)(xs).tobytes() == wanted.tobytes()


def half_less(a: Any, b: Any) -> Any:
    return a - b * 0.5
