"""What tests of the plan cache share: a directory of their own, and the searches that were made."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel.ilp import plan as planner
from accel.ilp.answer import Answer
from accel.ilp.graph import Graph
from accel.ilp.options import Options
from accel.ilp.plan import search


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """The graphs that were searched, not found."""
    seen: list[Graph] = []

    def counting(graph: Graph, options: Options) -> Answer:
        seen.append(graph)
        return search(graph, options)

    monkeypatch.setattr(planner, "search", counting)
    return seen


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory of the test's own."""
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "plans"
