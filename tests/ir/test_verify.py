"""Malformed nests are refused, each for its reason; and nests that would take two loops at one depth."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from accel.ast.tree.nodes import Direction
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F64, I64
from accel.errors import AccelInternalError
from accel.fusedast.build import build
from accel.ilp.problem.clustering import BACKWARD, FORWARD
from accel.ir.lowering.lower import lower
from accel.ir.nodes import (
    Count,
    For,
    Launch,
    Level,
    LoopBody,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Output,
    Program,
    Read,
    State,
    Stream,
    View,
    Within,
    Write,
)
from accel.ir.nodes import LoopDirection as Way
from accel.ir.verify import verify, verify_nest
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array, Extent, SizeVariable
from tests.fusedast.examples import EXAMPLES, scatter_example
from tests.fusedast.hand import Body, Hand, affine, always, at, binary, number, plan

N = Extent(SizeVariable(0), 0)
XS, YS = Array(0, 0, F64, (N,)), Array(1, 0, F64, (N,))
AT, X, Y, KEEP = Stream("i0", I64), Stream("x", F64), Stream("y", F64), Stream("keep", BOOL)
READ = Read(X, XS, (AT,))
DOUBLE = OneToOne((Y,), affine(F64, 0, 2, 0), (X,))
WRITE = Write(YS, (AT,), Y)


def nest(*body: LoopBody, states: tuple[State, ...] = (), after: tuple[LoopBody, ...] = ()) -> Nest:
    loop = For(AT, N, Way.UP, states, Level(body, None, ()))
    return Nest(1, Level((), loop, after), (Output(YS, ((N,),)),), (), ())


SUM = binary(Operator.ADD, F64)
TOTAL = State((Stream("t", F64),), (number(F64, 0),), SUM, monoid_of(SUM), False)
STEP = ManyToOne("t", (X,))
GUARD = OneToMaybe(KEEP, always(number(BOOL, 1)), ())

BAD = [
    ("y is used before it is bound", nest(READ, WRITE, DOUBLE)),
    ("x is bound twice", nest(READ, READ, DOUBLE, WRITE)),
    ("x is used where it need not exist", nest(GUARD, replace(READ, when=KEEP), DOUBLE, WRITE)),
    ("an index has another rank than its array", nest(replace(READ, index=()), DOUBLE, WRITE)),
    ("an element is read as another type", nest(replace(READ, out=Stream("x", I64)), WRITE)),
    ("arguments are not what the function takes", nest(READ, replace(DOUBLE, arguments=(AT,)), WRITE)),
    ("outputs are not those that are written, once each", nest(READ, DOUBLE)),
    ("state t is not of a loop around its step", nest(READ, STEP, DOUBLE, WRITE)),
    ("states are not those that are stepped, once each", nest(READ, DOUBLE, WRITE, states=(TOTAL,))),
    (
        "states are not those that are stepped, once each",
        nest(READ, STEP, STEP, DOUBLE, WRITE, states=(TOTAL,)),
    ),
    ("state t is read, but not running", nest(READ, replace(STEP, before=(Y,)), WRITE, states=(TOTAL,))),
    (
        "state t is read before its first step",
        nest(READ, replace(STEP, before=(Y,)), WRITE, states=(replace(TOTAL, initial=None, running=True),)),
    ),
    ("i0 is used before it is bound", nest(READ, DOUBLE, after=(WRITE,))),
    (
        "what is within an array is not the first iterations of a loop",
        nest(Within(KEEP, AT, 1, N), READ, DOUBLE, WRITE),
    ),
    ("a count is not written", replace(nest(READ, DOUBLE, WRITE), counts=(Count(SizeVariable(1), XS),))),
    ("output 1 has another rank", replace(nest(READ, DOUBLE, WRITE), outputs=(Output(YS, ()),))),
]


def refused(text: str) -> pytest.RaisesExc[AccelInternalError]:
    return pytest.RaisesExc(AccelInternalError, match=re.escape(text))


def test_the_nest_that_the_others_spoil_is_good() -> None:
    verify_nest(nest(READ, DOUBLE, WRITE))
    verify_nest(nest(GUARD, replace(READ, when=KEEP), replace(DOUBLE, when=KEEP), replace(WRITE, when=KEEP)))


@pytest.mark.parametrize(
    ("message", "bad"), BAD, ids=[f"{k}_{message.replace(' ', '_')}" for k, (message, _) in enumerate(BAD)]
)
def test_bad_nests(message: str, bad: Nest) -> None:
    with refused(message):
        verify_nest(bad)


def test_good_programs_pass() -> None:
    for example in EXAMPLES:
        made = example()
        verify(lower(build(made.program, made.fused)))


def test_arrays_that_are_not_there() -> None:
    step = Launch(nest(READ, DOUBLE, WRITE))
    with refused("a step uses arrays [(0, 0)] that are not there"):
        verify(Program((), (step,), ()))
    with refused("an array is made twice"):
        verify(Program(((XS,),), (step, View((YS,), (XS,))), ()))
    with refused("a result is not there"):
        verify(Program(((XS,),), (), (YS,)))


def test_what_a_scatter_destroyed() -> None:
    made = scatter_example()
    loops = lower(build(made.program, made.unfused))
    verify(loops)
    ((destroyed, _),) = [pair for step in loops.steps if isinstance(step, Launch) for pair in step.nest.in_place]
    with refused("a result is not there"):
        verify(replace(loops, results=(destroyed,)))


def test_a_row_that_needs_its_maximum_takes_two_loops() -> None:
    """`xs - replicate(rowmax)`: the fold, pushed through the backpermute, would run below the row's own loop."""
    hand = Hand()
    xs = hand.use(F64, hand.size(), hand.size())
    largest = hand.fold(xs, Operator.MAX, seed=None)
    body = Body(I64, I64)
    rows = hand.backpermute(body.gives(body.parameters[0]), largest, *xs.shape, shrinking=False)
    program = hand.program(hand.zip(Operator.SUB, xs, rows))
    both = lower(build(program, plan(program, [1, 2, 3], orders={1: at(rows)})))
    (launch,) = [step for step in both.steps if isinstance(step, Launch)]
    assert launch.nest.body.loop is not None  # three loops deep: legal, but only under duplicate="published"
    with refused("read at another order than it is made"):
        build(program, plan(program, [1, 2, 3]))


def test_a_fold_of_what_depends_on_a_fold_of_the_same_row() -> None:
    """Two folds of a row, the second with a seed that the first gives: the second loop cannot start with the first."""
    hand = Hand()
    n, m = hand.size(), hand.size()
    indices, xs = hand.use(I64, n, m), hand.use(F64, n, m)
    first = hand.fold(indices)
    second = hand.gather(first, hand.fold(xs))
    program = hand.program(second)
    planned = plan(program, [2, 3, 4], orders={2: FORWARD, 3: at(second)})
    with refused("a loop needs what another loop at its depth makes"):
        lower(build(program, planned))


def test_loops_over_different_extents() -> None:
    """A gather and what is pushed to it share a nest, but its index and an unrelated matrix do not."""
    hand = Hand()
    n, m, k = hand.size(), hand.size(), hand.size()
    indices, other, xs = hand.use(I64, n), hand.use(F64, n, m), hand.use(F64, n, k)
    gathered = hand.gather(indices, hand.fold(xs))
    program = hand.program(hand.zip(Operator.ADD, gathered, hand.fold(other)))
    with refused("two loops at depth 1"):
        lower(build(program, plan(program, [3, 4, 5, 6], orders={3: at(gathered)})))


def test_a_loop_both_ways() -> None:
    """The inference rules refuse it already; were it not for them, the loops would."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    (left,) = hand.scan(xs)
    (right,) = hand.scan(left, direction=Direction.RIGHT)
    program = hand.program(right)
    with refused("would have to run both ways"):
        lower(build(program, plan(program, [1, 2], orders={2: FORWARD})))


def test_a_sum_that_would_run_backward() -> None:
    """It may not be taken in another order, so it shares no loop with a scan from the right."""
    hand = Hand()
    xs = hand.use(F64, hand.size())
    (right,) = hand.scan(xs, direction=Direction.RIGHT)
    program = hand.program(right, hand.fold(xs))
    with refused("would have to run both ways"):
        lower(build(program, plan(program, [1, 2], orders={1: BACKWARD, 2: BACKWARD})))
