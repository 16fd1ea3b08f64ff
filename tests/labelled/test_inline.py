"""A load of what an operation makes, replaced by what the operation does."""

from __future__ import annotations

from itertools import count

import numpy as np

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F64, I64
from accel.labelled.construction.build import build
from accel.labelled.meaning.interpret import interpret
from accel.labelled.nodes import Map
from accel.labelled.number import number
from accel.labelled.passes.absorb import absorb
from accel.labelled.passes.inline import inlined
from accel.labelled.passes.recompute import Recomputed, recompute
from accel.labelled.scalar import Load
from tests.fusedast.hand import Body, Hand


def test_each_leaf_is_its_own_result() -> None:
    """A map makes sums and products; one reader loads them in reverse order."""
    hand = Hand()
    n = hand.size()
    xs = hand.use(F64, n)
    body = Body(I64, F64)
    (_, x) = body.parameters
    made = hand.add(
        Map(body.gives(body.op(Operator.ADD, x, x), body.op(Operator.MUL, x, x)), (xs,)), (F64, (n,)), (F64, (n,))
    )
    reader = Body(I64, F64)
    at, _ = reader.parameters
    first, second = reader.load(made[1], at), reader.load(made[0], at)
    result = hand.map(reader.gives(reader.op(Operator.SUB, first, second)), xs)
    program = hand.program(result)
    *others, maker, last = program.bindings
    whole = inlined(last, maker)
    assert isinstance(whole.operation, Map)
    loads = [each for each in whole.operation.function.body.statements if isinstance(each, Load)]
    assert {load.array for load in loads} == {xs}
    values = np.array([0.5, 3.0, -2.0])
    alone = Hand()
    alone.bindings, alone.parameters = [*others, whole], hand.parameters
    for each in (program, alone.program(result)):
        np.testing.assert_array_equal(interpret(each, [values])[0], values * values - (values + values))


def test_what_is_in_bounds_in_a_maker_is_so_only_in_the_branch_that_computes_it_again() -> None:
    """The maker reads a table from behind, at places that are there in each of its six iterations; readers have a hundred."""
    table = A.scanl1(A.add, A.enumFromN((6,), 0.0))
    tripled = A.map(lambda x: x * 3, table)
    made = A.generate((6,), lambda ix: tripled[5 - ix[0]])

    def reader(rest: float) -> A.Acc[A.Vector[np.float64]]:
        return A.generate((100,), lambda ix: A.cond(ix[0] < 6, made[ix[0]], rest))

    readers = [reader(1.0), reader(2.0)]
    program = absorb(build([each.node for each in readers], ()).program)
    _, _, maker, first, second = (binding.label for binding in program.bindings)
    again = number(recompute(program, [Recomputed((maker,), (first, second))], count(100)).program)
    assert len(again.bindings) == len(program.bindings) - 1
    behind = np.cumsum(np.arange(6.0))[::-1] * 3
    for found, rest in zip(interpret(again, []), (1.0, 2.0), strict=True):
        np.testing.assert_array_equal(found, [*behind, *[rest] * 94])
