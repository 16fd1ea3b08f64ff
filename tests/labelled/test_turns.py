"""How many turns a loop takes at most, against what it does with every start, limit and step of eight bits."""

from __future__ import annotations

import operator
from itertools import product

import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I8, U8, ScalarType
from accel.labelled.scalar import Block, Compute, Operand, Variable, While, constant
from accel.labelled.scalars.turns import most_turns

HOLDS = {Operator.LT: operator.lt, Operator.LE: operator.le, Operator.GT: operator.gt, Operator.GE: operator.ge}
EDGES = {I8: (-128, -127, -3, 0, 2, 126, 127), U8: (0, 1, 5, 200, 254, 255)}
STEPS = {I8: (-128, -100, -2, -1, 0, 1, 3, 127), U8: (0, 1, 3, 128, 255)}


def counting(
    kind: ScalarType,
    first: Operand,
    compare: Operator,
    limit: int,
    step: int,
    taken: bool = False,
    mirrored: bool = False,
) -> While:
    """A loop that adds `step`, or takes it away, as long as the counter compares so with the limit."""
    counter, going, after = Variable(1, kind), Variable(2, BOOL), Variable(3, kind)
    sides = (counter, constant(kind, limit))
    condition = Block((Compute(going, compare, sides[::-1] if mirrored else sides),), (going,))
    made = Compute(after, Operator.SUB if taken else Operator.ADD, (counter, constant(kind, step)))
    return While((Variable(4, kind),), (counter,), (first,), condition, Block((made,), (after,)))


def taken_turns(
    kind: ScalarType, first: int, compare: Operator, limit: int, step: int, taken: bool, mirrored: bool
) -> int | None:
    """What the loop does; None if it never ends."""
    holds, number, low = HOLDS[compare], first, -128 if kind is I8 else 0
    for turns in range(257):
        if not (holds(limit, number) if mirrored else holds(number, limit)):
            return turns
        number = (number + (-step if taken else step) - low) % 256 + low
    return None


@pytest.mark.parametrize("kind", [I8, U8])
@pytest.mark.parametrize("compare", HOLDS)
@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
def test_what_is_said_is_what_it_takes(kind: ScalarType, compare: Operator, taken: bool, mirrored: bool) -> None:
    known = 0
    for first, limit, step in product(EDGES[kind], EDGES[kind], STEPS[kind]):
        said = most_turns(counting(kind, constant(kind, first), compare, limit, step, taken, mirrored))
        done = taken_turns(kind, first, compare, limit, step, taken, mirrored)
        assert said in (None, done), (first, limit, step)
        known += said is not None
    upwards = (compare in (Operator.LT, Operator.LE)) != mirrored
    assert (known > 10) == (kind is I8 or upwards != taken), (
        "what has no sign counts up by sums, and down by differences"
    )


def test_one_of_several_conditions_is_enough() -> None:
    loop = counting(I8, constant(I8, 0), Operator.LT, 9, 2)
    other, both = Variable(5, BOOL), Variable(6, BOOL)
    (first,), (going,) = loop.condition.statements, loop.condition.results
    statements = (first, Compute(other, Operator.NE, (loop.parameters[0], constant(I8, 7))))
    for combine, turns in ((Operator.AND, 5), (Operator.OR, None)):
        condition = Block((*statements, Compute(both, combine, (other, going))), (both,))
        assert most_turns(While(loop.outs, loop.parameters, loop.initial, condition, loop.body)) == turns


def test_nothing_is_said_of_counters_that_begin_anywhere() -> None:
    assert most_turns(counting(I8, Variable(9, I8), Operator.LT, 9, 2)) is None
