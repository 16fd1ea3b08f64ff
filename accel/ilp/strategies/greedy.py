"""The strategy `greedy`: merge the pair of clusters that saves most, until none saves anything [Kri section V-C, Fig. 7]."""

from __future__ import annotations

from accel.ilp.graph import Graph
from accel.ilp.greedy import merge_greedily
from accel.ilp.options import Duplicate
from accel.ilp.price import Prices
from accel.ilp.strategies.coarsely import coarsely
from accel.ilp.strategies.found import Found


def greedy(graph: Graph, prices: Prices, duplicate: Duplicate, deadline: float) -> Found:
    """Chains of maps first, then the best pairs, in rounds: `merge_greedily`."""
    del deadline  # it needs little more than linear time
    coarse = coarsely(graph, prices, duplicate)
    return Found(tuple(coarse.refine(cluster) for cluster in merge_greedily(coarse.graph, coarse.prices, duplicate)))
