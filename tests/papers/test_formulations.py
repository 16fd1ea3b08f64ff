"""The published integer programs, as models of their own, give the papers' answers on the papers' examples, as accel's does."""

from __future__ import annotations

import pytest

from accel.ilp.problem.options import Options
from accel.support.choices import FormulationName
from tests.papers import graphs
from tests.papers.graphs import Draw, drawn, planned
from tests.papers.test_robinson import CLUSTERS
from tests.papers.test_van_balen_2024 import GRAPHS


@pytest.mark.parametrize("formulation", ["accel", "published"])
@pytest.mark.parametrize(("draw", "clusters", "cost"), GRAPHS, ids=[case[0].__name__ for case in GRAPHS])
def test_van_balen_2024(draw: Draw, clusters: graphs.Sets, cost: int, formulation: FormulationName) -> None:
    options = Options(cost="reads_writes", duplicate="published", formulation=formulation)
    assert planned(*drawn(draw), options) == ((cost,), clusters)


@pytest.mark.parametrize("formulation", ["accel", "published", "robinson"])
@pytest.mark.parametrize(("draw", "clusters"), CLUSTERS, ids=[case[0].__name__ for case in CLUSTERS])
def test_robinson(draw: Draw, clusters: graphs.Sets, formulation: FormulationName) -> None:
    options = Options(cost="robinson", duplicate=False, formulation=formulation)
    assert planned(*drawn(draw), options)[1] == clusters
