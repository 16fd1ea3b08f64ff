"""Plans in which something is recomputed are found again, too: from the disk, and under other labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import accel as A
from accel.ilp.cache import plan_cache
from accel.ilp.cache.keys import graph_key
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import plan_graph
from accel.ilp.problem.build import build
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.recompute.graph import recompute
from tests.ilp.renamed import renamed
from tests.labelled.programs import program

XS = np.arange(8.0)


def copying() -> Iterator[Graph]:
    """Programs in which a producer is recomputed: for another loop; inside of a function, where it loads more bytes."""
    xs = A.use(XS)
    ramp = A.generate(xs.shape, lambda i: A.toFloating(A.unindex(i)[0], np.float64))
    total = A.fold(A.add, 0.0, A.zipWith(A.mul, xs, ramp))
    yield build(program((A.map(lambda x: x / A.the(total), A.zipWith(A.add, xs, ramp)),)))
    halves = A.map(lambda x: A.cast(x, np.float32), xs)
    yield build(program((A.generate(halves.shape, lambda ix: halves[ix] + halves[0]),)))


@pytest.mark.parametrize("graph", list(copying()), ids=["loop", "function"])
def test_recomputations_survive(folder: Path, searches: list[Graph], graph: Graph) -> None:
    """Under other labels, too."""
    options = Options(duplicate=True)
    first = plan_graph(graph, options)
    assert first.recomputed
    for other in (graph, renamed(graph)):
        plan_cache.forget()
        again = plan_graph(other, options)
        assert again.cost == first.cost
        assert refusal(recompute(other, again.recomputed).graph, again.clustering, True) is None
        assert len(again.recomputed) == len(first.recomputed)
        assert {label for each in again.recomputed for label in each.run} <= set(other.node)
    assert len(searches) == 1
    canonical = graph_key(graph, None)
    wrong = replace(first, recomputed=(replace(first.recomputed[0], run=first.recomputed[0].readers),))
    plan_cache.PLANS.put(plan_cache._disk_key(canonical, options), plan_cache._dumped(wrong, canonical))
    plan_cache.forget()
    assert plan_graph(graph, options) == first
    assert len(searches) == 2
