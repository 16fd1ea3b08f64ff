"""Scalar functions by the reference semantics."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, I64
from accel.errors import AccelIndexError
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.meaning.evaluate import evaluate, prepare
from accel.labelled.nodes import Generate, Map
from accel.labelled.scalar import Block, Compute, Function, If, Load, Variable, While, constant
from accel.labelled.scalar_text import function_text
from tests.labelled.programs import AnyExp, parameter, program

N = SizeVariable(0)
TABLE = Array(4, 0, I64, (Extent(N, 0),))
P, Q, R, B = (Variable(n, kind) for n, kind in enumerate((I64, I64, I64, BOOL)))


def call(function: Function, *arguments: float) -> tuple[object, ...]:
    return evaluate(function, arguments, {N: 3}.__getitem__, {TABLE: np.array([10, 20, 30])})


def test_extents_and_constants() -> None:
    body = Block((Compute(Q, Operator.MUL, (P, Extent(N, 2))),), (Q, Extent(None, 7), constant(I64, -1)))
    assert call(Function((P,), body), 4) == (20, 7, -1)


def test_loads_are_checked() -> None:
    function = Function((P,), Block((Load(Q, TABLE, (P,)),), (Q,)))
    assert [call(function, i) for i in range(3)] == [(10,), (20,), (30,)]
    for i in (-1, 3, 1 << 40):
        with pytest.raises(AccelIndexError, match=rf"index \({i},\) is out of bounds for an array of shape \(3,\)"):
            call(function, i)


def test_only_the_branch_that_is_taken_runs() -> None:
    load = Block((Load(R, TABLE, (P,)),), (R,))
    asked = Compute(B, Operator.LT, (P, Extent(N, 0)))
    function = Function((P,), Block((asked, If((Q,), B, load, Block((), (constant(I64, -5),)))), (Q,)))
    assert call(function, 2) == (30,)
    assert call(function, 99) == (-5,)


def test_loops_move_their_state_at_once() -> None:
    """Fibonacci: (a, b, n) := (b, a + b, n - 1) reads the old state everywhere."""
    a, b, n, more, c, m = (Variable(10 + i, kind) for i, kind in enumerate((I64, I64, I64, BOOL, I64, I64)))
    condition = Block((Compute(more, Operator.GT, (n, constant(I64, 0))),), (more,))
    step = (Compute(c, Operator.ADD, (a, b)), Compute(m, Operator.SUB, (n, constant(I64, 1))))
    start = (constant(I64, 0), constant(I64, 1), P)
    loop = While((Q, R, Variable(3, I64)), (a, b, n), start, condition, Block(step, (b, c, m)))
    function = Function((P,), Block((loop,), (Q,)))
    assert [call(function, i)[0] for i in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


def test_parts_of_a_state_change_places() -> None:
    """(a, b, n) := (b, a, n - 1): the new state is parts of the old one."""
    a, b, n, more, m = (Variable(10 + i, kind) for i, kind in enumerate((I64, I64, I64, BOOL, I64)))
    condition = Block((Compute(more, Operator.GT, (n, constant(I64, 0))),), (more,))
    step = Block((Compute(m, Operator.SUB, (n, constant(I64, 1))),), (b, a, m))
    start = (constant(I64, 5), constant(I64, 7), P)
    loop = While((Q, R, Variable(3, I64)), (a, b, n), start, condition, step)
    function = Function((P,), Block((loop,), (Q, R)))
    assert [call(function, i) for i in range(4)] == [(5, 7), (7, 5), (5, 7), (7, 5)]


def test_a_prepared_function_may_be_called_again() -> None:
    function = prepare(Function((P,), Block((Compute(Q, Operator.NEG, (P,)),), (Q,))), {N: 3}.__getitem__, {})
    assert [function((i,)) for i in (1, 2)] == [(-1,), (-2,)]


def test_f32_is_rounded_at_every_step() -> None:
    x = np.float32(16777217.0)
    p, q = Variable(0, F32), Variable(1, F32)
    body = Block((Compute(q, Operator.ADD, (p, constant(F32, 1.0))),), (q,))
    assert call(Function((p,), body), float(x)) == (float(x + np.float32(1.0)),)


def scalar_text(function: object) -> str:
    """The function of a map over one i64 vector."""
    xs = parameter(1, I64)
    (binding,) = program([A.map(function, xs)], [xs]).bindings[1:]  # type: ignore[arg-type]  # any function
    assert isinstance(binding.operation, Map | Generate)
    return function_text(binding.operation.function)


def test_common_subexpressions_across_branches() -> None:
    """What is computed before a branch is known in it."""

    def body(x: AnyExp) -> AnyExp:
        return A.cond(x * x > 4, A.while_(lambda s: s < 9, lambda s: s + x * x, x * x), 0)

    text = scalar_text(body)
    assert text.count("mul") == 1


def test_invariants_of_loops_are_computed_before() -> None:
    text = scalar_text(lambda x: A.while_(lambda s: s < x * x, lambda s: s + (x + 7), x))
    before, _ = text.split("while")
    assert "mul" in before
    assert "add" in before


def test_dead_parts_of_choices_disappear() -> None:
    def body(x: AnyExp) -> AnyExp:
        both = A.cond(x > 0, A.lift(A.while_(lambda s: s < 5, lambda s: s + 1, x), x + 1), A.lift(x, x + 2))
        return both[1]

    assert scalar_text(body) == "λ_ x1. x2 = gt x1 0; x3 = add x1 1; x4 = add x1 2; select x2 x3 x4"
