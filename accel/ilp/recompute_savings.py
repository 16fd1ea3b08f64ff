"""What it saves to recompute a producer: the same loops compared with those in which it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accel.ilp.legality.checker import refusal
from accel.ilp.model.solution import loads
from accel.ilp.problem.clustering import BACKWARD, Asked, Clustering
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import price
from accel.ilp.recompute.graph import RecomputedGraph, recompute
from accel.labelled.array import Label
from accel.labelled.passes.recompute import Recomputed

Cost = tuple[int, ...]
_Sets = list[set[Label]]


def recompute_savings(asked: Asked, producer: Label, options: Options) -> Cost | None:
    """How much more it costs, per level, if `producer` is not recomputed and its readers stay in their loops.

    Where the producer itself is gone, it is made in the best of the loops that recompute it, or in one of its own. None if no
    such clustering is legal.
    """
    if options.model is None:
        return None
    kept = [each for each in asked.recomputed if each.run[-1] != producer]
    changed, whole = recompute(asked.graph, kept), recompute(asked.graph, asked.recomputed)
    costs = [
        _cost(asked.graph, changed.graph, other, kept, options)
        for other in _without(asked, producer, whole, changed, kept)
    ]
    legal = [cost for cost in costs if cost is not None]
    now = _cost(asked.graph, whole.graph, asked.clustering, asked.recomputed, options)
    return None if not legal or now is None else tuple(a - b for a, b in zip(min(legal), now, strict=True))


def _cost(
    graph: Graph, changed: Graph, found: Clustering, recomputed: Iterable[Recomputed], options: Options
) -> Cost | None:
    """What a clustering of `graph` with recomputations costs, if it is legal."""
    assert options.model is not None
    if refusal(changed, found, options.duplicate) is not None:
        return None
    cost = price(changed, found, options.model, Weights(changed, options.extents))
    more = loads(graph, recomputed, options.duplicate, options.model.levels, Weights(graph, options.extents))
    return tuple(map(sum, zip(cost, more, strict=True)))


def _without(
    asked: Asked, producer: Label, whole: RecomputedGraph, changed: RecomputedGraph, kept: list[Recomputed]
) -> Iterator[Clustering]:
    """The clusterings of the graph with recomputations `kept` that are nearest to the one that was asked for."""
    label = {whole.label[old]: new for old, new in changed.label.items() if old in whole.label}
    places = dict(zip(kept, changed.made, strict=True))
    gone: set[Label] = set()
    for each, theirs in zip(asked.recomputed, whole.made, strict=True):
        if each in places:
            label |= dict(zip(theirs, places[each], strict=True))
        else:
            gone.update(theirs)
    sets: _Sets = [{label[one] for one in cluster.labels if one not in gone} for cluster in asked.clustering.clusters]
    backward = {
        label[one]
        for cluster in asked.clustering.clusters
        for one, traversal in zip(cluster.labels, cluster.traversals, strict=True)
        if traversal == BACKWARD and one not in gone
    }
    run = next(each.run for each in asked.recomputed if each.run[-1] == producer)
    missing = {changed.label[member] for member in run} if producer not in whole.label else set[Label]()
    homes = [
        number
        for number, cluster in enumerate(asked.clustering.clusters)
        if missing and gone.intersection(cluster.labels)
    ]
    for home in [*homes, None]:
        tried = [members | missing if number == home else members for number, members in enumerate(sets)]
        tried += [missing] if home is None else []
        found = clustering(changed.graph, [sorted(members) for members in tried if members], backward)
        if found is not None:
            yield found
