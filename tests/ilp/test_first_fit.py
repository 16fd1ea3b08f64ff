"""The first answer for programs in which many operations read one array: legal, and never worse than greedy's."""

from __future__ import annotations

import pytest

from accel.ilp import optimise
from accel.ilp.facts.analysis import analyse
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import search
from accel.ilp.problem.clustering import Clustering
from accel.ilp.problem.decode import in_order
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.strategies.first_fit import first_fit
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch


def fan(count: int) -> Graph:
    """Maps and sums of one array; each third one waits for an earlier one, which it loads by index."""
    s = Sketch()
    s.use("xs")
    for k in range(count):
        index = [f"m{k * k % k}"] if k and k % 3 == 0 else [f"m{k - 2}"] if k % 7 == 5 else []
        if k % 4 == 1:
            s.fold(f"m{k}", "xs", index=index)
        else:
            s.map(f"m{k}", "xs", index=index, result=k % 5 == 0)
    return s.finish()


@pytest.mark.parametrize("seed", range(40))
def test_clusters_are_legal(seed: int) -> None:
    graph = draw(seed, 25, nested=seed % 4 == 3) if seed else fan(60)
    clusters = in_order(graph, first_fit(graph, analyse(graph, "gathers").separation, "gathers"))
    assert isinstance(clusters, Clustering)
    assert refusal(graph, clusters, "gathers") is None


def test_a_fan_of_sixty_readers_is_proved_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three loops, as many as the longest chain of operations that wait for each other, where greedy makes seven."""
    graph = fan(60)
    monkeypatch.setattr(optimise, "find", lambda name: pytest.fail("a solver is asked for"))
    found, greedy = search(graph, Options(duplicate="gathers")), search(graph, Options(strategy="greedy"))
    assert (found.proved, found.cost[2]) == (True, 3)
    assert found.cost[0] < greedy.cost[0]
