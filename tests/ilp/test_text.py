"""The model of a small graph in LP format; the graph's text is in test_build."""

from __future__ import annotations

from collections.abc import Callable

from accel.ilp.facts.analysis import analyse
from accel.ilp.model.model import formulate
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.text import model_text
from tests.ilp.sketch import Sketch


def _model(cost: str, level: int) -> str:
    s = Sketch()
    s.use("xs")
    s.map("a", "xs")
    s.backpermute("g", "n", "a", shrinking=True)
    s.map("b", "xs g")
    graph = s.finish()
    facts = analyse(graph, True)
    (part,) = facts.parts
    return model_text(formulate(facts, part, MODELS[cost].levels, Weights(graph, {}), True).model, level)


def test_model_of_reads_and_writes(golden: Callable[[str], None]) -> None:
    golden(_model("reads_writes", 0))


def test_model_of_clusters(golden: Callable[[str], None]) -> None:
    golden(_model("default", 2))
