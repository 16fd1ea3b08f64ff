"""A load of what an operation makes, replaced by what the operation does."""

from __future__ import annotations

import numpy as np

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F64, I64
from accel.labelled.meaning.interpret import interpret
from accel.labelled.nodes import Map
from accel.labelled.passes.inline import inlined
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
