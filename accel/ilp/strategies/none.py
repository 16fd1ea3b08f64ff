"""The strategy `none`: every operation by itself."""

from __future__ import annotations

from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Duplicate
from accel.ilp.problem.price import Prices
from accel.ilp.strategies.found import Found, alone


def none(graph: Graph, prices: Prices, duplicate: Duplicate, deadline: float) -> Found:
    """Nothing is fused: what all other strategies start from."""
    del prices, duplicate, deadline  # one signature for all strategies
    return Found(tuple(alone(graph, (node.label for node in graph.nodes))))
