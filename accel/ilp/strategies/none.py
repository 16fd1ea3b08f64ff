"""The strategy `none`: every operation by itself."""

from __future__ import annotations

from accel.ilp.problem.graph import Graph
from accel.ilp.strategies.found import Found, alone


def none(graph: Graph) -> Found:
    """Nothing is fused: what all other strategies start from."""
    return Found(tuple(alone(graph, (node.label for node in graph.nodes))))
