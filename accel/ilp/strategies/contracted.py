"""The graph with its chains merged and prices for it, where the cost is one for which that loses nothing."""

from __future__ import annotations

from accel.ilp.facts.contraction import Contraction, merge_chains
from accel.ilp.problem.clustering import Cluster
from accel.ilp.problem.cost import CostModel, Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.price import Prices
from accel.support.choices import Duplicate
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Contracted:
    """A smaller graph, its prices, and the way back."""

    graph: Graph
    prices: Prices
    chains: Contraction | None

    def refine(self, cluster: Cluster) -> Cluster:
        """The same cluster of the original graph."""
        return cluster if self.chains is None else self.chains.refine(cluster)


def contracted(graph: Graph, prices: Prices, duplicate: Duplicate) -> Contracted:
    """Chains merged as `contraction.py` has it; a cost function sees every operation, so then nothing is merged."""
    if not isinstance(prices.cost, CostModel):
        return Contracted(graph, prices, None)
    chains = merge_chains(graph, duplicate, prices.cost.levels)
    if chains.graph is graph:
        return Contracted(graph, prices, None)
    weights = Weights(chains.graph, prices.weights.sizes)
    return Contracted(chains.graph, Prices(chains.graph, prices.cost, weights), chains)
