"""What no clustering can avoid: a lower bound on the cost of a part, without a solver.

Where a heuristic reaches it, it is optimal. In the sums of `price.cluster_price`, level by level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from accel.ilp.facts.analysis import Analysis, Bundle
from accel.ilp.problem.clustering import FORWARD, Cluster, Traversal, own_order
from accel.ilp.problem.cost import CostLevel, Weights, added
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.price import cluster_price
from accel.labelled.array import Label
from accel.labelled.operations import Kind, Role
from accel.support.dataclass import dataclass

Cost = tuple[int, ...]


def _cheapest_read(facts: Analysis, bundle: Bundle, number: int, level: CostLevel, weights: Weights) -> int:
    """The least that a reader pays for all arrays of a bundle, over the orders that it may have."""
    reader, role = bundle.readers[number]
    traversals = [own_order(facts.graph, reader) if role is Role.SOURCE else FORWARD]
    if role is Role.STREAM and reader in facts.pushable:
        traversals += [Traversal(gather, False) for gather in facts.pushable[reader]]
    return min(sum(weights.read(level, array, traversal) for array in bundle.arrays) for traversal in traversals)


def _reads(facts: Analysis, number: int, near: _Near, level: CostLevel, weights: Weights) -> int:
    """Readers that cannot be fused with the maker read; those of which no two can share a read, each by itself.

    Of a maker that may be gone and all who recompute it then, it or each of them reads.
    """
    bundle = facts.bundles[number]
    costs: dict[frozenset[int], int] = {}
    apart = {
        reader: _cheapest_read(facts, bundle, reader, level, weights)
        for reader, (label, _) in enumerate(bundle.readers)
        if label in near.inside and (not bundle.made_here or (bundle.label, label) in facts.infusible)
    }
    for reader, cost in apart.items():
        label = bundle.readers[reader][0]
        if bundle.only_if[reader] or (bundle.label, label) in facts.candidates.reads:
            continue
        if label in facts.candidates.removable:
            heirs = {other for other, pairs in enumerate(bundle.only_if) if any(pair[0] == label for pair in pairs)}
            least = max((apart[heir] for heir in heirs if heir in apart), default=0)
            costs[frozenset({reader, *heirs})] = min(cost, least)
        else:
            costs[frozenset({reader})] = cost
    chosen: list[frozenset[int]] = []
    for members in sorted(costs, key=lambda members: (-costs[members], sorted(members))):
        pairs = [(min(one, two), max(one, two)) for other in chosen for one in other for two in members]
        if all(one != two and (number, one, two) not in near.shares for one, two in pairs):
            chosen.append(members)
    return sum(costs[members] for members in chosen)


def _depth(facts: Analysis, near: _Near) -> int:
    """How many clusters stand one after the other at least: by infusible arcs on a path; barriers are no clusters.

    Nor is an operation that may be gone; nothing comes after it then.
    """
    depth: dict[Label, int] = {}
    for label in sorted(near.inside):
        barrier = facts.graph.node[label].kind is Kind.BARRIER
        depth[label] = 0 if barrier else 1
        for earlier in near.ahead[label]:
            step = not barrier and (earlier, label) in facts.infusible
            depth[label] = max(depth[label], depth[earlier] + step)
    return max(steps for label, steps in depth.items() if label not in facts.candidates.removable)


_STEPS = 4
"""How far apart two operations may be for `_beside_or_read` to see that they are together unless something is stored."""


def _beside_or_read(facts: Analysis, near: _Near, level: CostLevel, weights: Weights) -> int:
    """Of two operations that interfere, they lose time together, or one of the arrays on a path between them is read.

    Every array and every first operation counts once. Of arrays that somebody reads from memory anyway the read may be shared;
    of what may be recomputed nothing is known.
    """
    loud = weights.interfering & near.inside if not facts.candidates.reads else frozenset[Label]()
    if not loud:
        return 0
    free: dict[Label, list[tuple[Label, int, int]]] = {}
    for number in near.bundles:
        bundle = facts.bundles[number]
        arcs = [(bundle.label, label) for label, _ in bundle.readers]
        if not bundle.made_here or bundle.label not in near.inside or not facts.infusible.isdisjoint(arcs):
            continue
        store = 0 if bundle.stored else sum(weights.write(level, array) for array in bundle.arrays)
        store += 0 if bundle.stored else level.intermediate * len(bundle.arrays)
        for reader, (maker, label) in enumerate(arcs):
            price = _cheapest_read(facts, bundle, reader, level, weights) + store
            free.setdefault(maker, []).append((label, number, price))
            free.setdefault(label, []).append((maker, number, price))
    cost, used = 0, set[int]()
    for first in sorted(loud):
        found = _nearest(first, loud, free, used, weights)
        if found is not None:
            lost, path = found
            used |= path.keys()
            cost += min(level.interference * lost, *path.values())
    return cost


def _nearest(
    first: Label,
    loud: frozenset[Label],
    free: Mapping[Label, list[tuple[Label, int, int]]],
    used: set[int],
    weights: Weights,
) -> tuple[int, dict[int, int]] | None:
    """An operation that `first` interferes with: what is lost, and what each array between the two costs if it is read."""
    paths: dict[Label, dict[int, int]] = {first: {}}
    last = [first]
    for _ in range(_STEPS):
        following: list[Label] = []
        for label in last:
            for other, number, price in free.get(label, ()):
                if other in paths or number in used:
                    continue
                before = paths[label]
                paths[other] = {**before, number: min(price, before.get(number, price))}
                lost = weights.interference.get((first, other), 0) if other in loud else 0
                if lost:
                    return lost, paths[other]
                following.append(other)
        last = following
    return None


def _level(facts: Analysis, near: _Near, level: CostLevel, weights: Weights) -> int:
    cost = level.cluster * _depth(facts, near) if level.cluster else 0
    for number in near.bundles:
        bundle = facts.bundles[number]
        if level.reads:
            cost += _reads(facts, number, near, level, weights)
        if not bundle.made_here or bundle.label not in near.inside:
            continue
        if bundle.stored:
            cost += sum(weights.write(level, array) for array in bundle.arrays)
            cost += 0 if bundle.result else level.intermediate * len(bundle.arrays)
        fusible = sum((bundle.label, reader) not in facts.infusible for reader, _ in bundle.readers)
        cost -= level.access * len(bundle.arrays) * fusible
    if level.interference:
        cost += _beside_or_read(facts, near, level, weights)
    cost -= level.edge * sum((u, v) not in facts.infusible for v, ahead in near.ahead.items() for u in ahead)
    return cost - level.access * sum(len(facts.bundles[number].arrays) for number, _, _ in near.shares)


@dataclass(frozen=True, slots=True)
class _Near:
    """What concerns one part: its operations, the arcs inside of it, bundles that it makes or reads, shared reads."""

    inside: frozenset[Label]
    ahead: Mapping[Label, list[Label]]
    bundles: tuple[int, ...]
    shares: frozenset[tuple[int, int, int]]


def _neighbourhoods(facts: Analysis) -> Iterator[_Near]:
    """One for every part."""
    part_of = {label: number for number, part in enumerate(facts.parts) for label in part}
    ahead: dict[Label, list[Label]] = {label: [] for label in part_of}
    for u, v in facts.arcs:
        if part_of.get(u, -1) == part_of.get(v, -2) and (u, v) not in facts.candidates.reads:
            ahead[v].append(u)
    bundles: list[dict[int, None]] = [{} for _ in facts.parts]
    for number, bundle in enumerate(facts.bundles):
        for label in (bundle.label, *(reader for reader, _ in bundle.readers)):
            if label in part_of:
                bundles[part_of[label]][number] = None
    shares: list[list[tuple[int, int, int]]] = [[] for _ in facts.parts]
    for number, i, j in facts.shares:
        shares[part_of[facts.bundles[number].readers[i][0]]].append((number, i, j))
    for number, part in enumerate(facts.parts):
        inside = frozenset(part)
        yield _Near(inside, {v: ahead[v] for v in part}, tuple(bundles[number]), frozenset(shares[number]))


def lower_bounds(facts: Analysis, levels: tuple[CostLevel, ...], weights: Weights) -> dict[tuple[Label, ...], Cost]:
    """For every part a lower bound on what its clusters cost together."""
    return {
        part: tuple(_level(facts, near, level, weights) for level in levels)
        for part, near in zip(facts.parts, _neighbourhoods(facts), strict=True)
    }


def price_of(graph: Graph, clusters: Iterable[Cluster], levels: tuple[CostLevel, ...], weights: Weights) -> Cost:
    """What clusters cost together, in the same sums."""
    found = [cluster_price(graph, cluster, levels, weights) for cluster in clusters]
    return added((0,) * len(levels), *found)
