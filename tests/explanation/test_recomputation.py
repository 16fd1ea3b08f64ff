"""Why something is not recomputed where it is read: a program for every rule, and silence where nothing is copied."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.explanation.show.html import page
from accel.explanation.show.report import report
from accel.explanation.show.words import Words
from accel.ilp.problem.options import CostGiven
from accel.support.choices import Duplicate, Strategy
from tests.labelled.programs import AnyAcc, AnyExp

XS = np.arange(6.0)


def shares(ys: AnyAcc) -> AnyAcc:
    """Two loops over ys."""
    return A.map(lambda y: y / A.the(A.fold(A.add, 0, ys)), ys)


def steps(x: AnyExp) -> AnyExp:
    for step in range(40):
        x = x * (step + 0.5)
    return x


def dear(xs: AnyAcc) -> AnyAcc:
    return shares(A.map(steps, xs))


def looping(xs: AnyAcc) -> AnyAcc:
    return shares(A.map(lambda x: A.while_(lambda v: v < 9, lambda v: v * 2 + 1, x), xs))


def of_a_scan(xs: AnyAcc) -> AnyAcc:
    """The running sums are fused away with the map: nowhere in memory."""
    return shares(A.map(lambda x: x * 2, A.scanl1(A.add, xs)))


def computed(xs: AnyAcc) -> AnyAcc:
    return A.fold(A.add, 0, A.compute(A.map(lambda x: x + 1, xs)))


def looked_up(xs: AnyAcc) -> AnyAcc:
    table = A.map(lambda x: x + 1, xs)
    return A.map(lambda i: table[A.index(i)], A.use(np.arange(20) % 6))


def loaded_in_a_loop(xs: AnyAcc) -> AnyAcc:
    ys = A.map(lambda x: x + 1, xs)

    def last(ix: AnyExp) -> AnyExp:
        start = A.min(A.unindex(ix)[0], 1)
        return A.while_(
            lambda i: i < 5,
            lambda i: i + A.cond(ys[A.index(i)] > 2.0, A.constant(1, np.int64), A.constant(2, np.int64)),
            start,
        )

    return A.generate(ys.shape, last)


def unchecked(xs: AnyAcc) -> AnyAcc:
    ys = A.generate(xs.shape, lambda ix: A.toFloating(A.unindex(ix)[0], np.float64))
    return A.generate(ys.shape, lambda ix: ys[A.index(A.unindex(ix)[0] + 1)])


def in_turns(xs: AnyAcc) -> AnyAcc:
    """The last loop may compute the seconds by itself, of the firsts; so it does not compute the firsts, too."""
    firsts = A.zipWith3(lambda x, y, z: x * y + z, xs, A.use(XS + 1), A.use(XS + 2))
    total = A.the(A.fold(A.add, 0, firsts))
    seconds = A.map(lambda first: first * total, firsts)
    largest = A.the(A.fold(A.max, 0, seconds))
    return A.zipWith(lambda first, second: first - second * largest, firsts, seconds)


def of_three(xs: AnyAcc) -> AnyAcc:
    return shares(A.zipWith3(lambda x, y, z: x * y + z, xs, A.use(XS + 1), A.use(XS + 2)))


@pytest.mark.parametrize(
    ("program", "rule", "reason"),
    [
        (dear, "C1", "map %1 holds a loop, or more than 32 scalar operations"),
        (looping, "C1", "map %1 holds a loop, or more than 32 scalar operations"),
        (of_a_scan, "C2", "what map %2 reads need not be in memory, and takes as many bytes"),
        (computed, "C3", "force %2 is no loop, or reads it in two orders"),
        (looked_up, "C3", "map %3 is not known to have no more elements than map %2"),
        (
            loaded_in_a_loop,
            "C3",
            "generate %2 loads it in a loop, or it would do more than 32 operations for an element",
        ),
        (unchecked, "C3", "nothing but the load from it says that an index is out of bounds"),
        (in_turns, "C4", "nothing is recomputed of what a recomputation reads"),
        (of_three, "cost", "to read what zipWith3 %3 reads would cost as much, or more"),
    ],
)
def test_every_rule_is_named(program: object, rule: str, reason: str) -> None:
    assert callable(program)
    found = A.explain(program(A.use(XS)), duplicate=True)
    lines = [line for array in found.arrays for line in array.why_not_again]
    assert (rule, reason) in [(line.rule, line.reason) for line in lines], [str(line) for line in lines]
    assert all(line.where is not None for line in lines)
    assert f"      not recomputed for {Words(found).sentence(lines[0])}" in report(found).splitlines()
    assert "not recomputed for " in page(found)


@pytest.mark.parametrize(
    ("duplicate", "strategy", "cost"),
    [("gathers", "ilp", "bytes"), (True, "greedy", "bytes"), (True, "ilp", "clusters")],
)
def test_nothing_is_said_where_nothing_is_copied(duplicate: Duplicate, strategy: Strategy, cost: CostGiven) -> None:
    found = A.explain(dear(A.use(XS)), duplicate=duplicate, strategy=strategy, cost=cost)
    assert any(array.why_not for array in found.arrays)
    assert not any(array.why_not_again for array in found.arrays)


def test_what_is_saved_is_what_the_loops_would_move_more() -> None:
    """A stencil of two points: 1024 doubles written and read again, and the reads of xs are where those of ys were."""

    def doubled(xs: A.Acc[A.Vector[np.float64]]) -> AnyAcc:
        ys = A.map(lambda x: x * 2, xs)
        return A.generate(ys.shape, lambda ix: ys[ix] + ys[A.index(0)])

    costs: tuple[tuple[CostGiven, str, int], ...] = (
        ("bytes", "moves 16,384 bytes less", 16384),
        ("reads_writes", "costs 2 reads and writes less", 2),
    )
    for cost, text, less in costs:
        found = A.explain(doubled, duplicate=True, cost=cost)
        (copy,) = found.copies
        assert (copy.loops, copy.saves) == (1, text)
        assert A.explain(doubled, duplicate="gathers", cost=cost).cost[0] - found.cost[0] == less
