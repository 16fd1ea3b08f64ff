"""Programs that fail at run time: every evaluator raises what the labelled interpreter raises; and programs over nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F64, I64
from accel.errors import AccelError, AccelIndexError, AccelShapeError, AccelValueError
from accel.fusedast import interpret as fused_interpreter
from accel.fusedast.build import build
from accel.ilp.problem.clustering import Plan
from accel.ir.lowering.lower import lower
from accel.ir.meaning import interpret as loop_interpreter
from accel.labelled.meaning import interpret as labelled_interpreter
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.nodes import Program, RequireEqual
from tests.fusedast.examples import EXAMPLES, Example, one
from tests.fusedast.hand import Body, Hand, at, number, plan
from tests.ir.test_lower import check

Failing = tuple[Program, Plan, list[HostArray]]


def gather_out_of_bounds() -> Failing:
    hand = Hand()
    indices, xs = hand.use(I64, hand.size()), hand.use(F64, hand.size())
    bs = hand.gather(indices, hand.affine(xs))
    program = hand.program(bs)
    return program, plan(program, [2, 3], orders={2: at(bs)}), [np.array([1, 7, -1]), np.ones(5)]


def backpermute_out_of_bounds() -> Failing:
    hand = Hand()
    xs = hand.use(F64, hand.size(), hand.size())
    body = Body(I64)
    index = body.gives(body.parameters[0], body.op(Operator.ADD, body.parameters[0], number(I64, 1)))
    program = hand.program(hand.affine(hand.backpermute(index, xs, xs.shape[0])))
    return program, plan(program, [1, 2]), [np.ones((4, 4))]


def scatter_out_of_bounds() -> Failing:
    hand = Hand()
    n = hand.size()
    indices, xs = hand.use(I64, n), hand.use(F64, n)
    program = hand.program(hand.scatter(hand.copy(xs), [hand.affine(indices, 1, 2)], xs))
    return program, plan(program, [3, 4]), [np.array([0, 1, 2]), np.ones(3)]


def load_out_of_bounds() -> Failing:
    hand = Hand()
    xs = hand.use(F64, hand.size())
    body = Body(I64, F64)
    loaded = hand.map(body.gives(body.load(xs, body.op(Operator.MUL, body.parameters[0], number(I64, 2)))), xs)
    program = hand.program(hand.fold(loaded))
    return program, plan(program, [1, 2]), [np.ones(5)]


def fold1_of_nothing() -> Failing:
    hand = Hand()
    xs = hand.use(F64, hand.size(), hand.size())
    program = hand.program(hand.fold(hand.affine(xs), seed=None))
    return program, plan(program, [1, 2]), [np.ones((3, 0))]


def fold1_of_nothing_kept() -> Failing:
    hand = Hand()
    kept, _ = hand.filter(hand.use(F64, hand.size()), 10)
    program = hand.program(hand.fold(kept, seed=None))
    return program, plan(program, [1, 2]), [np.ones(5)]


def negative_extent() -> Failing:
    hand = Hand()
    xs = hand.use(F64, hand.size())
    body = Body()
    (less,) = hand.sizes(body.gives(body.op(Operator.SUB, xs.shape[0], number(I64, 9))))
    program = hand.program(hand.generate(Body(I64).gives(number(F64, 0)), less))
    return program, plan(program), [np.ones(5)]


def unequal_shapes() -> Failing:
    hand = Hand()
    xs = hand.use(F64, hand.size())
    kept, _ = hand.filter(xs)
    hand.add(RequireEqual(xs.shape, kept.shape, "zipWith"))
    program = hand.program(kept)
    return program, plan(program), [np.array([1.0, -1.0])]


def wrong_reshape() -> Failing:
    hand = Hand()
    xs = hand.use(F64, hand.size())
    program = hand.program(hand.reshape(xs, one(2), one(3)))
    return program, plan(program), [np.ones(5)]


FAILURES: list[tuple[Callable[[], Failing], type[AccelError], str]] = [
    (gather_out_of_bounds, AccelIndexError, "index (7,) is out of bounds for an array of shape (5,)"),
    (backpermute_out_of_bounds, AccelIndexError, "index (3, 4) is out of bounds for an array of shape (4, 4)"),
    (scatter_out_of_bounds, AccelIndexError, "index (3,) is out of bounds for an array of shape (3,)"),
    (load_out_of_bounds, AccelIndexError, "index (6,) is out of bounds for an array of shape (5,)"),
    (fold1_of_nothing, AccelValueError, "fold1 of an empty row: the array has shape (3, 0)"),
    (negative_extent, AccelShapeError, "generate needs extents that are not negative, got -4"),
    (unequal_shapes, AccelShapeError, "(2,) and (1,)"),
    (wrong_reshape, AccelShapeError, "an array of shape (5,) cannot be reshaped to (2, 3)"),
]


@pytest.mark.parametrize(("failing", "kind", "message"), FAILURES, ids=lambda each: getattr(each, "__name__", ""))
def test_failures(failing: Callable[[], Failing], kind: type[AccelError], message: str) -> None:
    program, planned, arguments = failing()
    fused = build(program, planned)
    runs: list[Callable[[], list[HostArray]]] = [
        lambda: labelled_interpreter.interpret(program, arguments),
        lambda: fused_interpreter.interpret(fused, arguments),
        lambda: loop_interpreter.interpret(lower(fused), arguments),
    ]
    for run in runs:
        with pytest.raises(kind) as error:
            run()
        assert message in error.value.message


def test_fold1_of_what_a_filter_dropped() -> None:
    """Its nest finds out the size of what was kept: for the message it is 0, or there were no error."""
    program, planned, arguments = fold1_of_nothing_kept()
    with pytest.raises(AccelValueError, match=r"fold1 of an empty row: the array has shape \(0,\)"):
        loop_interpreter.interpret(lower(build(program, planned)), arguments)


def resized(example: Example, most: int) -> list[HostArray]:
    """The arguments with all extents that may vary cut down."""
    leaves = [leaf for (leaf,) in example.program.parameters]
    return [
        argument[tuple(slice(0, most if extent.variable else None) for extent in leaf.shape)]
        for leaf, argument in zip(leaves, example.arguments, strict=True)
    ]


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_small_extents(example: Callable[[], Example], most: int) -> None:
    """Zero extents are legal everywhere; where the reference raises there is nothing to compare."""
    made = example()
    arguments = resized(made, most)
    try:
        labelled_interpreter.interpret(made.program, arguments)
    except AccelIndexError:
        return  # indices into what is now smaller
    check(made.program, made.fused, *arguments)
    check(made.program, made.unfused, *arguments)
