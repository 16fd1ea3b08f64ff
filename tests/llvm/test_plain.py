"""What operators make of odd floats, against all of them tried; and that comparisons find extremes of plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32
from accel.backends.llvm.templates.tile.plain import Odd, Odds, Plain, plain, results
from accel.ir.mentions import nests
from accel.labelled.meaning.evaluate import evaluate
from accel.labelled.scalar import Block, Compute, Function, Variable
from accel.schedule.templates.tile import tile
from tests.llvm.test_tile import Rows, numbers, pairs, program

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
NUMBERS = [s * n for s in (1, -1) for n in (0.0, 1.0, LARGEST, SMALLEST, np.inf)] + [np.nan]


def odds(number: float) -> Odds:
    """What a number is."""
    found = {str(odd.value): odd for odd in Odd}
    name = "NaN" if np.isnan(number) else str(number)
    return frozenset({found[name]} if name in found else ())


def evaluated(function: Function, *arguments: float) -> float:
    """Its only result."""
    (found,) = evaluate(function, arguments, lambda size: 0, {})
    return float(found)


@pytest.mark.parametrize(
    "operator", [Operator.ADD, Operator.SUB, Operator.MUL, Operator.MIN, Operator.MAX, Operator.DIV]
)
def test_two_numbers(operator: Operator) -> None:
    x, y, z = (Variable(k, F32) for k in range(3))
    both = Function((x, y), Block((Compute(z, operator, (x, y)),), (z,)))
    same = Function((x,), Block((Compute(z, operator, (x, x)),), (z,)))
    for left, right in product(NUMBERS, NUMBERS):
        found = evaluated(both, left, right)
        assert odds(found) <= results(both, [odds(left), odds(right)])[0], (left, right)
    for number in NUMBERS:
        found = evaluated(same, number)
        assert odds(found) <= results(same, [odds(number)])[0], number


@pytest.mark.parametrize("operator", [Operator.NEG, Operator.ABS, Operator.SQRT])
def test_one_number(operator: Operator) -> None:
    x, z = Variable(0, F32), Variable(1, F32)
    function = Function((x,), Block((Compute(z, operator, (x,)),), (z,)))
    for number in NUMBERS:
        found = evaluated(function, number)
        assert odds(found) <= results(function, [odds(number)])[0], number


def of_pairs(
    function: Callable[[Rows, Rows], Rows], fold: Callable[[Rows, Rows], Rows], dtype: str = "float32"
) -> Plain | None:
    """How the function's extremes are found for all pairs of rows."""
    x, y = numbers((8, 8), dtype), numbers((9, 8), dtype)
    (nest,) = nests(program(lambda p, q: A.fold1(fold, pairs(function, p, q)), x, y))
    found = tile(nest)
    assert found is not None
    return plain(found)


def test_which_folds_may_compare() -> None:
    """Sums may be infinite to one side, differences not at all; a product may be -0.0, a square is no less than 0."""
    sums, differences = of_pairs(A.add, A.min), of_pairs(A.sub, A.max)
    assert sums is not None
    assert differences is not None
    assert sums.allowed == {Odd.HIGH}
    assert not differences.allowed
    assert of_pairs(lambda p, q: (p - q) * (p - q), A.max) is not None
    assert of_pairs(lambda p, q: A.abs(p - q), A.max) is not None
    assert of_pairs(A.mul, A.max) is None
    assert of_pairs(lambda p, q: -(p + q), A.max) is None
    assert of_pairs(A.add, A.add) is None
    assert of_pairs(A.add, A.max, "int32") is None


def test_comparisons_find_extremes_of_plain_numbers() -> None:
    for fold, extreme in ((A.min, min), (A.max, max)):
        found = of_pairs(A.add, fold)
        assert found is not None
        (merge,) = found.merges.values()
        for left, right in product(NUMBERS, NUMBERS):
            if not {Odd.NAN, Odd.ZERO} & (odds(left) | odds(right)):
                assert evaluated(merge, left, right) == extreme(left, right)
