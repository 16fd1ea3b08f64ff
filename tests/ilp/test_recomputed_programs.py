"""Programs in which work is recomputed give the same bits as those in which it is not, and the same errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.compile import stages
from accel.ilp.problem.clustering import Plan, Recomputation
from accel.ilp.problem.options import Options
from accel.support.choices import Duplicate
from tests import untyped
from tests.labelled.programs import AnyAcc, AnyExp
from tests.labelled.programs import program as labelled
from tests.marks import one_in


def blurred(ys: AnyAcc) -> AnyAcc:
    """A stencil of three points, at the borders of two."""
    n = A.size(ys)

    def sum_of_three(ix: AnyExp) -> AnyExp:
        (i,) = A.unindex(ix)
        return ys[A.max(i - 1, 0)] + ys[ix] + ys[A.min(i + 1, n - 1)]

    return A.generate(ys.shape, sum_of_three)


def two_loops(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A map read by two loops that cannot fuse."""
    ys = A.map(lambda x: 2 * x + 1, xs)
    total = A.the(A.fold(A.add, 0, ys))
    return (A.map(lambda y: y / total, ys),)


def generated(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A generate read by two loops that cannot fuse, one of them a scan."""
    ys = A.generate(xs.shape, lambda ix: A.cast(A.unindex(ix)[0], np.float64) * 0.5)
    total = A.the(A.fold(A.max, 0, ys))
    return A.zipWith(lambda x, y: x + y - total, xs, ys), A.scanl(A.add, 0, A.map(lambda y: y * total, ys))


def stencil(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A map into a stencil, of which one of the loads is a stream."""
    return (blurred(A.map(lambda x: x * x - 1, xs)),)


def two_stencils(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A generate into a stencil and a loop; the stencil itself into another."""
    ys = A.generate(xs.shape, lambda ix: A.cast(A.unindex(ix)[0], np.float64) * 3)
    return blurred(ys), A.zipWith(lambda x, y: x - y, xs, ys), blurred(blurred(xs))


def parts_of_something_expensive(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """What a stencil reads are cheap parts of what is not."""

    def steps(x: AnyExp) -> AnyExp:
        for step in range(40):
            x = x * (step % 3 * 0.5 + 0.25)
        return x

    costly = A.map(steps, xs)
    parts = A.map(lambda x: A.lift(x * 2, x * 3 + 1), costly)
    return (A.zipWith(lambda a, b: a * b, blurred(A.map(A.fst, parts)), blurred(A.map(A.snd, parts))),)


def in_turns(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """Stencils of stencils; the first of a map."""
    return (blurred(blurred(blurred(A.map(lambda x: x * x - 1, xs)))),)


def gathered(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """A map into two gathers in different orders, and a loop."""
    ys = A.map(lambda x: x * x, xs)
    return A.reverse(ys), A.fold(A.add, 0, A.drop(2, ys)), A.fold(A.add, 0, ys)


def branched(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """Loads in branches of scalar control flow."""
    ys = A.map(lambda x: x + 1, xs)
    n = A.size(xs)

    def next_one(ix: AnyExp) -> AnyExp:
        (i,) = A.unindex(ix)
        return A.cond(i < n - 1, ys[A.index(i + 1)], ys[ix])

    return (A.generate(xs.shape, next_one),)


def looped(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """Copies in the body of a loop, which runs three times."""

    def step(state: tuple[AnyAcc, AnyAcc]) -> tuple[AnyAcc, AnyAcc]:
        ys = A.map(lambda v: v * 1.5 + 1, state[0])
        total = A.the(A.fold(A.add, 0, ys))
        return A.map(lambda y: y - total / 1000, ys), A.map(lambda i: i + 1, state[1])

    start = (xs, A.unit(A.constant(0, np.int64)))
    return (A.awhile(lambda state: A.map(lambda i: i < 3, state[1]), step, start)[0],)


def pairs(xs: AnyAcc) -> tuple[AnyAcc, ...]:
    """An array of pairs, of which its readers want different halves."""
    ys = A.map(lambda x: A.lift(x + 1, x * 2), xs)
    total = A.the(A.fold(A.add, 0, A.map(A.fst, ys)))
    return A.map(lambda y: A.fst(y) / total + A.snd(y), ys), blurred(A.map(A.snd, ys))


PROGRAMS = (
    two_loops, generated, stencil, two_stencils, parts_of_something_expensive, in_turns, gathered, branched, looped, pairs,
)  # fmt: skip
STENCILS = (stencil, two_stencils, parts_of_something_expensive, in_turns, branched)
"""Those in which a stencil may take in what it reads."""

DUPLICATE: tuple[Duplicate, ...] = (True, "stencils", "gathers", False)


@pytest.mark.llvm
@pytest.mark.parametrize("size", one_in(4, [0, 1, 2, 5, 4099]))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: str(program.__name__))
def test_results_have_the_same_bits(program: Callable[[AnyAcc], tuple[AnyAcc, ...]], size: int) -> None:
    xs = np.linspace(0.25, 7.5, size)
    if size == 0 and program in (stencil, two_stencils, parts_of_something_expensive, in_turns, gathered):
        xs = np.zeros(3)
    expected = [found.tobytes() for found in A.run(program(A.use(xs)), backend="interpreter")]
    for duplicate in DUPLICATE:
        assert [found.tobytes() for found in A.run(program(A.use(xs)), duplicate=duplicate)] == expected, duplicate


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: str(program.__name__))
def test_nothing_is_recomputed_unless_that_is_asked_for(program: Callable[[AnyAcc], tuple[AnyAcc, ...]]) -> None:
    made = labelled(program(A.use(np.linspace(0.25, 7.5, 50))))
    for duplicate in DUPLICATE:
        staged = stages(made, Options(duplicate=duplicate))
        allowed = duplicate is True or (duplicate == "stencils" and program in STENCILS)
        assert bool(repeated(staged.plan)) == allowed
        is_view = program is generated and duplicate is not False  # each cluster has its own, which costs less
        assert (staged.labelled is made) == (not (allowed or is_view))


def repeated(plan: Plan) -> list[Recomputation]:
    """What is recomputed in a program and in those directly in it."""
    return [*plan.recomputations, *(each for _, parts in plan.inner for part in parts for each in part.recomputations)]


@pytest.mark.llvm
def test_a_load_out_of_bounds_is_an_error_of_the_same_place() -> None:
    xs = A.use(np.arange(5.0))
    ys = A.map(lambda x: x * x, xs)
    out = A.generate(xs.shape, lambda ix: ys[A.index(A.unindex(ix)[0] // 2 + 4)])
    messages = []
    for duplicate in DUPLICATE:
        with pytest.raises(A.AccelIndexError) as caught:
            untyped.run(out, duplicate=duplicate)
        messages.append(str(caught.value))
    assert messages[0] == messages[1] == messages[2]
    (each,) = stages(labelled([out]), Options(duplicate=True)).plan.recomputations
    assert (each.names, each.original, each.made) == (("map",), None, ())
