"""Clusters of a thousand operations: nothing recurses on their size, and nothing is worse than quadratic in it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F64, I64
from accel.ilp.problem.clustering import Plan
from accel.labelled.nodes import Program
from tests.fusedast.hand import Hand, at, plan
from tests.ir.test_lower import check
from tests.marks import long, one_in, slow

MANY = 1000


def chain() -> tuple[Program, Plan]:
    """Each map reads the last: Verticals all the way down."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    for _ in range(MANY):
        xs = hand.affine(xs, 1, 1)
    program = hand.program(xs)
    return program, plan(program, range(1, MANY + 1))


def side_by_side() -> tuple[Program, Plan]:
    """All maps read one array: Horizontals."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    program = hand.program(*(hand.affine(xs, factor) for factor in range(MANY)))
    return program, plan(program, range(1, MANY + 1))


def ladder() -> tuple[Program, Plan]:
    """Each step reads the two before it."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    last = hand.affine(xs)
    for _ in range(MANY):
        xs, last = last, hand.zip(Operator.SUB, last, xs)
    program = hand.program(last)
    return program, plan(program, range(1, MANY + 2))


def gathers(many: int) -> tuple[Program, Plan]:
    """Each gather is pushed to the next."""
    hand = Hand()
    n = hand.size()
    indices, xs = hand.use(I64, n), hand.use(F64, n)
    made = []
    for _ in range(many):
        xs = hand.gather(indices, xs)
        made.append(xs)
    program = hand.program(xs)
    orders = {each.label: at(following) for each, following in pairwise(made)}
    return program, plan(program, range(2, many + 2), orders=orders)


@pytest.mark.parametrize("large", one_in(3, [chain, side_by_side, ladder]))
def test_a_thousand_maps(large: Callable[[], tuple[Program, Plan]]) -> None:
    check(*large(), np.arange(3.0))


@slow
@pytest.mark.parametrize("many", [MANY // 3, pytest.param(MANY, marks=long)])
def test_hundreds_of_gathers(many: int) -> None:
    check(*gathers(many), np.array([1, 2, 0]), np.arange(3.0))
