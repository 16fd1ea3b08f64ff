"""Dependency graphs of programs as users write them, and plans of programs inside programs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F64, I64
from accel.ilp.plan import plan, plan_graph
from accel.ilp.problem.build import build
from accel.ilp.text import graph_text
from accel.labelled.array import Extent
from accel.labelled.nodes import Program
from accel.labelled.operations import Kind
from tests.fusedast.hand import Hand
from tests.ilp.sketch import Sketch
from tests.labelled.programs import AnyAcc, program
from tests.marks import long

XS = np.arange(8.0)


def filtered() -> tuple[AnyAcc, ...]:
    """A backpermute whose shape is a filter's size comes strictly after the filter; a scan of what is filtered need not."""
    kept, counts = A.filter(lambda x: x > 0, A.use(XS))
    return A.reverse(kept), counts, A.scanl(A.add, 0, kept)


def scattered() -> tuple[AnyAcc, ...]:
    """All other readers of a scatter's destination come before the scatter."""
    xs = A.use(XS)
    defaults = A.map(lambda x: x + 1, xs)
    pairs = A.map(lambda x: A.lift(A.truncate(x, np.int64), x), xs)
    return (A.scatterWith(A.add, defaults, pairs),)


def controlled() -> tuple[AnyAcc, ...]:
    """A loop reads, as a whole, what its body and condition mention."""
    xs = A.use(XS)
    start = A.map(lambda x: x + 1, xs)
    looped = A.awhile(lambda v: A.unit(A.the(A.sum(v)) < 100), lambda v: A.map(lambda x: x * 2 + xs[0], v), start)
    return looped, A.reshape((2, 4), start)


def sized() -> tuple[AnyAcc, ...]:
    """Sizes that the host computes come before the operations whose shapes they are."""
    return (A.fold(A.add, 0, A.take(2, A.transpose(A.use(np.ones((3, 4)))))),)


@pytest.mark.parametrize("draw", [filtered, scattered, controlled, sized], ids=lambda draw: str(draw.__name__))
def test_graph(draw: Callable[[], tuple[AnyAcc, ...]], golden: Callable[[str], None]) -> None:
    golden(graph_text(build(program(draw()))))


def test_readers_of_a_destination_come_before_its_scatter() -> None:
    """Also those of the same memory under another shape."""
    hand = Hand()
    n = hand.size()
    xs, indices = hand.use(F64, n), hand.use(I64, n)
    destination = hand.affine(xs)
    view = hand.reshape(destination, n, Extent(None, 1))
    first, second = hand.affine(destination), hand.affine(view)
    scattered = hand.scatter(destination, [indices], xs)
    graph = build(hand.program(first, second, scattered))
    assert {first.label, second.label} <= {one for one, other in graph.before if other == scattered.label}


def test_programs_inside_programs_are_planned_by_themselves() -> None:
    made = program(controlled())
    planned = plan(made)
    ((label, (condition, body)),) = planned.inner
    assert build(made).node[label].kind is Kind.BARRIER
    assert condition.clustering.clusters == ()  # it is computed in the step
    assert [len(cluster.labels) for cluster in body.clustering.clusters] == [3]
    assert condition.inner == body.inner == ()


@pytest.mark.slow
def test_programs_nested_deeply_are_planned_without_recursion() -> None:
    looped: AnyAcc = A.use(XS)
    for _ in range(300):
        below = looped
        looped = A.acond(A.the(A.sum(below)) > 0, A.map(lambda x: x + 1, below), below)
    assert plan(program([looped])).proved


def _chain(length: int) -> Program:
    xs: AnyAcc = A.use(XS)
    ys = A.use(XS + 1)
    for k in range(length):
        xs = A.zipWith(A.add, xs, ys) if k % 3 == 0 else A.map(lambda x: x * 1.5, xs)
    return program([xs])


def test_a_long_chain_is_one_loop_up_to_the_limit_of_scalar_operations() -> None:
    planned = plan(_chain(300))
    assert [len(cluster.labels) for cluster in planned.clustering.clusters if len(cluster.labels) > 1] in ([], [300])
    assert planned.proved


@long
@pytest.mark.parametrize("thousands", [2, 4])
def test_thousands_of_operations_are_clustered(thousands: int) -> None:
    """In pieces of a thousand, as the labelled stage cuts them; from labels to clusters in little more than linear time."""
    s = Sketch()
    s.use("ys")
    s.use("v0")
    for k in range(1000 * thousands):
        s.map(f"v{k + 1}", [f"v{k}", "ys"] if k % 3 == 0 else f"v{k}", force=k % 1000 == 999)
    answer = plan_graph(s.finish())
    assert sum(len(cluster.labels) > 1 for cluster in answer.clustering.clusters) == thousands
