"""What it saves to recompute a producer: the same loops compared with those in which it is stored."""

from __future__ import annotations

from collections.abc import Iterator

from accel.ilp.legality.checker import refusal
from accel.ilp.model.solution import loads
from accel.ilp.problem.clustering import BACKWARD, Asked, Clustering
from accel.ilp.problem.cost import Weights, added
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import price
from accel.ilp.recompute.graph import RecomputedGraph, recompute
from accel.labelled.array import Label

Cost = tuple[int, ...]


def recompute_savings(asked: Asked, producer: Label, options: Options) -> Cost | None:
    """How much more it costs, per level, if `producer` is not recomputed and its readers stay in their loops.

    Where the producer itself is gone, it is made in the best of the loops that recompute it, or in one of its own. None if no
    such clustering is legal.
    """
    if options.model is None:
        return None
    kept = [each for each in asked.recomputed if each.run[-1] != producer]
    changed, whole = recompute(asked.graph, kept), recompute(asked.graph, asked.recomputed)
    costs = [_cost(asked.graph, changed, other, options) for other in _without(asked, producer, whole, changed)]
    legal = [cost for cost in costs if cost is not None]
    now = _cost(asked.graph, whole, asked.clustering, options)
    return None if not legal or now is None else tuple(a - b for a, b in zip(min(legal), now, strict=True))


def _cost(graph: Graph, changed: RecomputedGraph, found: Clustering, options: Options) -> Cost | None:
    """What a clustering of `graph` with recomputations costs, if it is legal."""
    assert options.model is not None
    if refusal(changed.graph, found, options.duplicate) is not None:
        return None
    cost = price(changed.graph, found, options.model, Weights(changed.graph, options.extents))
    more = loads(graph, changed.recomputed, options.duplicate, options.model.levels, Weights(graph, options.extents))
    return added(cost, more)


def _without(asked: Asked, producer: Label, whole: RecomputedGraph, changed: RecomputedGraph) -> Iterator[Clustering]:
    """The clusterings of the graph without some recomputations that are nearest to the one that was asked for."""
    own = {label for made in whole.made for label in made}
    gone = {
        label
        for each, made in zip(whole.recomputed, whole.made, strict=True)
        if each not in changed.recomputed
        for label in made
    }
    clusters = asked.clustering.clusters
    sets = [{changed.new(whole.old(label)) for label in cluster.labels if label not in own} for cluster in clusters]
    orders = [pair for cluster in clusters for pair in cluster.members.items()]
    backward = {changed.new(whole.old(label)) for label, order in orders if order == BACKWARD and label not in own}
    run = next(each.run for each in asked.recomputed if each.run[-1] == producer)
    missing = {changed.new(member) for member in run if whole.new(producer) not in whole.graph.node}
    homes = [number for number, cluster in enumerate(clusters) if missing and gone.intersection(cluster.labels)]
    for home in [*homes, None]:
        tried = [members | missing if number == home else members for number, members in enumerate(sets)]
        tried += [missing] if home is None else []
        found = clustering(changed.graph, [changed.whole(sorted(members)) for members in tried if members], backward)
        if found is not None:
            yield found
