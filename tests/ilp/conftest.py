"""What tests of the plan cache share: the searches that were made."""

from __future__ import annotations

import pytest

from accel.ilp import plan as planner
from accel.ilp.plan import search
from accel.ilp.problem.answer import Answer
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """The graphs that were searched, not found."""
    seen: list[Graph] = []

    def counting(graph: Graph, options: Options) -> Answer:
        seen.append(graph)
        return search(graph, options)

    monkeypatch.setattr(planner, "search", counting)
    return seen
