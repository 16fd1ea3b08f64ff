"""The strategy `branch_and_bound`: the proved optimum of small graphs, for any cost that is a sum over clusters.

[Kri section V-D, Fig. 11] splits clusters as long as that costs less than the best known; that needs a cost that never falls
when a cluster is split. Here nothing is asked of the cost: all legal clusters of a part of the graph are listed, each with
what it costs, and the part is covered by them (`cover.py`). Greedy's answer is the first incumbent [Kri Fig. 11, line 8].
"""

from __future__ import annotations

from accel.ilp.facts.analysis import analyse
from accel.ilp.facts.limits import is_too_large
from accel.ilp.facts.lower_bound import lower_bounds
from accel.ilp.problem.cost import CostModel
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.price import Prices
from accel.ilp.strategies.candidates import Neighbours, candidates
from accel.ilp.strategies.contracted import contracted
from accel.ilp.strategies.cover import cover
from accel.ilp.strategies.found import Found, alone
from accel.ilp.strategies.greedy import merge_greedily
from accel.support.choices import Duplicate


def branch_and_bound(graph: Graph, prices: Prices, duplicate: Duplicate, deadline: float) -> Found:
    """The best clustering; of parts for which there is no time, the best known. Raises what `prices` raises."""
    contraction = contracted(graph, prices, duplicate)
    first = merge_greedily(contraction.graph, contraction.prices, duplicate)
    if is_too_large(contraction.graph):
        return Found(
            tuple(map(contraction.refine, first)), None, "the graph is too large to search, this is greedy's answer"
        )
    facts = analyse(contraction.graph, duplicate)
    decided = frozenset(label for part in facts.parts for label in part)
    clusters = alone(contraction.graph, (node.label for node in contraction.graph.nodes if node.label not in decided))
    least = (
        lower_bounds(facts, prices.cost.levels, contraction.prices.weights)
        if isinstance(prices.cost, CostModel)
        else {}
    )
    left = 0
    for part in facts.parts:
        near = Neighbours(facts, part)
        incumbent = tuple(cluster for cluster in first if cluster.labels[0] in near.bit)
        if least and contraction.prices.sum(incumbent) == least[part]:
            clusters += incumbent
            continue
        legal = candidates(contraction.graph, near, contraction.prices, duplicate, deadline)
        best = None if legal is None else cover(near, legal, incumbent, deadline)
        clusters += incumbent if best is None else best.clusters
        left += best is None or not best.proved
    found = tuple(map(contraction.refine, clusters))
    if left:
        what = "part" if left == 1 else "parts"
        return Found(found, None, f"there are too many clusters to try in {left} {what} of the graph")
    return Found(found, prices.total(found))
