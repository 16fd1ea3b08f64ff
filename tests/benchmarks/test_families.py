"""Every made-up graph is a program's: planned legally by every strategy, and as good as is known for those drawn by hand."""

from __future__ import annotations

import pytest

from accel.ilp.legality.checker import refusal
from accel.ilp.plan import search
from accel.ilp.problem.cost import MODELS, CostModel
from accel.ilp.problem.options import Options
from accel.ilp.recompute.graph import recompute
from accel.support.choices import STRATEGIES, Strategy
from benchmarks.fusion_drawing import Drawing
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_suite import hard_ones, program_like, random_ones
from tests.marks import one_in

LIKE = list(program_like())
RANDOM = [*random_ones(), *hard_ones()]


LEXICOGRAPHIC = CostModel((*MODELS["reads_writes"].levels, *MODELS["intermediates"].levels, *MODELS["clusters"].levels))


@pytest.mark.parametrize(
    ("drawing", "operations", "edges", "unfused", "optimum"),
    [
        (LIKE[0], 72, 100, 172, (42, 11, 3)),
        (LIKE[1], 51, 104, 142, (38, 8, 7)),
        (LIKE[2], 100, 117, 186, (49, 29, 31)),
        (LIKE[3], 100, 114, 200, (30, 14, 15)),
        (LIKE[4], 100, 150, 225, (77, 50, 26)),
        (LIKE[5], 100, 177, 250, (89, 39, 24)),
    ],
    ids=[drawing.name for drawing in LIKE],
)
def test_like_programs(
    drawing: Drawing, operations: int, edges: int, unfused: int, optimum: tuple[int, int, int]
) -> None:
    """Sizes and optima are what another program with another model found for graphs of this description."""
    graph = graph_of(drawing)
    assert (drawing.operations, drawing.edges) == (operations, edges)
    assert search(graph, Options(cost="reads_writes", strategy="none")).cost == (unfused,)
    found = search(graph, Options(cost=LEXICOGRAPHIC, duplicate="published"))
    assert found.cost[:2] == found.bound[:2] == optimum[:2]
    assert found.cost == optimum or (not found.proved and found.cost > optimum)


@pytest.mark.filterwarnings("ignore::accel.AccelSolverWarning")
@pytest.mark.parametrize("strategy", one_in(8, STRATEGIES))
@pytest.mark.parametrize("drawing", one_in(3, [*LIKE, *RANDOM]), ids=lambda drawing: str(drawing.name))
def test_every_strategy_is_legal(drawing: Drawing, strategy: Strategy) -> None:
    graph = graph_of(drawing)
    options = Options(cost="reads_writes", strategy=strategy, time_limit=0.2)
    answer = search(graph, options)
    assert refusal(recompute(graph, answer.recomputed).graph, answer.clustering, options.duplicate) is None
