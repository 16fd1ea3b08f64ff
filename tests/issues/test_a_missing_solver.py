"""A solver that is not installed is named with the command that installs it, and nothing else is printed or logged.

Once: python-mip logged an error of its own, and the hint named python-mip's extra instead of ours.
"""

from __future__ import annotations

import logging

import pytest

from accel.errors import AccelSolverWarning
from accel.ilp import solvers
from accel.ilp.plan import plan_graph
from accel.ilp.problem.options import Options
from tests.ilp.random_graphs import draw


def test_highs_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Programs that need a solver are planned by greedy, with a warning."""
    monkeypatch.setattr(solvers, "find_spec", lambda name: None)
    monkeypatch.delenv("PMIP_HIGHS_LIBRARY", raising=False)
    graph = draw(3, 90)
    with caplog.at_level(logging.ERROR), pytest.warns(AccelSolverWarning, match=r"pip install 'accel-array\[highs\]'"):
        plan_graph(graph, Options(solver="highs"))
    assert not caplog.records
    assert capfd.readouterr() == ("", "")
