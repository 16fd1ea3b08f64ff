"""Control flow: branches and loops hold fused programs of their own, and refer to arrays outside of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F64, I64
from accel.ilp.problem.clustering import Plan
from accel.labelled.nodes import Acond, Awhile, Program
from tests.fusedast.hand import Body, Hand, number, plan
from tests.ir.test_lower import check


def choice() -> tuple[Program, Plan]:
    """The large elements of a vector, or all of them twice: the size of the result is found out by the branch."""
    hand = Hand()
    xs, condition = hand.use(F64, hand.size()), hand.use(BOOL)
    then = Hand(2, 1)
    kept, _ = then.filter(then.affine(xs))
    fewer = then.program(kept)
    orelse = Hand(4, 2)
    twice = orelse.program(orelse.affine(orelse.affine(xs)))
    hand.skip_to(6, 3)
    made = hand.add(Acond(condition, fewer, twice), (F64, (hand.size(),)))[0]
    program = hand.program(hand.fold(hand.affine(made)), made)
    inner = (plan(fewer, [2, 3]), plan(twice, [4, 5]))
    return program, plan(program, [7, 8], inner=((6, inner),))


def repetition() -> tuple[Program, Plan]:
    """While the sum of a vector is below 1000, double it and add a vector from outside; counts the steps."""
    hand = Hand()
    n = hand.size()
    xs, steps, start = hand.use(F64, n), hand.use(I64), hand.use(F64, n)
    ask = Hand(3)
    vector, _ = ask.given(F64, n), ask.given(I64)
    body = Body(F64)
    asked = ask.program(
        ask.map(body.gives(body.op(Operator.LT, body.parameters[0], number(F64, 1000))), ask.fold(vector), kind=BOOL)
    )
    change = Hand(7)
    vector, count = change.given(F64, n), change.given(I64)
    larger = change.zip(Operator.ADD, change.affine(vector, 2, 0), xs)
    changed = change.program(larger, change.affine(count, 1, 1))
    hand.skip_to(11, 1)
    made = hand.add(Awhile(asked, changed, (start, steps)), (F64, (n,)), (I64, ()))
    program = hand.program(*made)
    return program, plan(program, inner=((11, (plan(asked, [5, 6]), plan(changed, [9, 10]))),))


@pytest.mark.parametrize("condition", [True, False])
def test_choice(condition: bool) -> None:
    program, planned = choice()
    check(program, planned, np.linspace(-3, 3, 20), np.array(condition))


def test_choice_text(golden: Callable[[str], None]) -> None:
    golden(check(*choice(), np.linspace(-3, 3, 20), np.array(True)))


@pytest.mark.parametrize("first", [1.0, 10.0, 2000.0])
def test_repetition(first: float) -> None:
    check(*repetition(), np.ones(5), np.array(0), np.full(5, first))


def test_repetition_text(golden: Callable[[str], None]) -> None:
    golden(check(*repetition(), np.ones(5), np.array(0), np.ones(5)))
