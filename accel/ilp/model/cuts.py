"""Rows that a solution violates: circles of clusters, circles in the forest, nests that cannot be, operations side by side.

In: a part of the model and the values of its variables. Out: rows "expression >= 0" that hold for every legal clustering.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from accel.ilp.facts.followers import adrift, leading
from accel.ilp.model.forest import tree_path
from accel.ilp.model.model import Formulation
from accel.ilp.model.variables import Pair, pair
from accel.ilp.problem.decode import components
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.array import Label

_TOLERANCE = 1e-4
_MOST = 200
"""Rows added in one round."""

_Step = tuple[Label, Linear | None]
"""Where a walk came from, and the x of the pair, or absence of the dependence, that it used; None for one that is there."""


def _neighbours(
    part: Formulation, values: Mapping[int, float]
) -> dict[Label, list[tuple[Label, float, Linear | None]]]:
    """Walks go along dependences for nothing or, if they may be absent, for being so; along pairs, either way, for their x."""
    near: dict[Label, list[tuple[Label, float, Linear | None]]] = {label: [] for label in part.labels}
    for u, v, _, absent in part.arcs:
        near[u].append((v, 0.0 if absent is None else max(0.0, absent.value(values)), absent))
    for (u, v), x in part.apart.items():
        weight = max(0.0, x.value(values))
        near[u].append((v, weight, x))
        near[v].append((u, weight, x))
    return near


def _shortest(
    near: Mapping[Label, Sequence[tuple[Label, float, Linear | None]]], start: Label, limit: float
) -> tuple[dict[Label, float], dict[Label, _Step]]:
    """Distances below `limit` from `start`, and how one came there (Dijkstra; among equals, with the fewest steps)."""
    distance: dict[Label, float] = {start: 0.0}
    came: dict[Label, _Step] = {}
    done: set[Label] = set()
    heap = [(0.0, 0, start)]
    while heap:
        far, steps, label = heapq.heappop(heap)
        if label in done:
            continue
        done.add(label)
        for other, weight, x in near[label]:
            through = far + weight
            if through < limit - _TOLERANCE and through < distance.get(other, limit) - 1e-12:
                distance[other] = through
                came[other] = (label, x)
                heapq.heappush(heap, (through, steps + 1, other))
    return distance, came


def cycles(part: Formulation, values: Mapping[int, float]) -> list[Linear]:
    """x(u,v) - absent(u,v) <= sum of x, absent over a walk from v to u, for arcs (u,v): the most violated ones.

    If none is violated by an integral solution, its clusters stand in an order, and arcs inside of them are fused.
    """
    near = _neighbours(part, values)
    into: dict[Label, list[tuple[Label, Linear, float]]] = {}
    for u, v, apart, absent in part.arcs:
        x = apart if absent is None else apart - absent
        value = x.value(values)
        if value > _TOLERANCE:
            into.setdefault(v, []).append((u, x, value))
    found: list[tuple[float, int, Linear]] = []
    seen: set[tuple[tuple[tuple[int, int], ...], int]] = set()
    for v, sources in into.items():
        distance, came = _shortest(near, v, max(value for _, _, value in sources))
        for u, x, value in sources:
            gap = value - distance.get(u, value)
            if gap <= _TOLERANCE:
                continue
            walk: dict[int, Linear] = {}
            label = u
            while label != v:
                label, used = came[label]
                if used is not None:
                    walk[id(used)] = used
            row = total([*walk.values(), -x])
            key = (tuple(sorted(row.terms.items())), row.constant)
            if key not in seen and row.value(values) < -_TOLERANCE:
                seen.add(key)
                found.append((-gap, len(found), row))
    return [row for _, _, row in sorted(found)[:_MOST]]


def company(part: Formulation, values: Mapping[int, float]) -> list[Linear]:
    """beside(u,v) + sum of x on a path of pairs from u to v >= 1: who is in one cluster through others is beside them."""
    if not part.beside:
        return []
    near: dict[Label, list[tuple[Label, float, Linear | None]]] = {label: [] for label in part.labels}
    for (u, v), x in part.apart.items():
        weight = max(0.0, x.value(values))
        near[u].append((v, weight, x))
        near[v].append((u, weight, x))
    partners: dict[Label, list[tuple[Label, Linear]]] = {}
    for (u, v), beside in part.beside.items():
        partners.setdefault(u, []).append((v, beside))
    rows: list[Linear] = []
    for u, others in partners.items():
        distance, came = _shortest(near, u, 1 - min(beside.value(values) for _, beside in others))
        for v, beside in others:
            if v not in distance or distance[v] + beside.value(values) > 1 - _TOLERANCE:
                continue
            row, label = beside - 1, v
            while label != u:
                label, used = came[label]
                assert used is not None
                row = row + used
            rows.append(row)
    return rows[:_MOST]


def clusters(part: Formulation, values: Mapping[int, float]) -> list[list[Label]]:
    """The components of x = 0."""
    return components(part.labels, _together(part, values))


def _together(part: Formulation, values: Mapping[int, float]) -> Iterator[Pair]:
    yield from (edge for edge, x in part.apart.items() if x.value(values) < 0.5)


def nests(part: Formulation, values: Mapping[int, float]) -> list[Linear]:
    """For clusters whose loops do not fit into one nest: keep the culprits apart, or change their orders."""
    near: dict[Label, list[Label]] = {}
    for u, v in _together(part, values):
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)
    rows = []
    for cluster in clusters(part, values):
        if len(cluster) == 1:
            continue
        traversals: dict[Label, Label | None] = dict.fromkeys(cluster)
        inside = set(cluster)
        traversals |= {
            v: gather for (v, gather), push in part.pushed.items() if v in inside and push.value(values) > 0.5
        }
        lost = adrift(part.spaces.graph, traversals)
        if lost is not None:
            rows.append(_led(part, *lost))
            continue
        conflict = part.spaces.conflict(traversals)
        if conflict is None:
            continue
        members = sorted(set(conflict.members))
        sides: dict[Pair, Linear] = {}
        for other in members[1:]:
            path = tree_path(near, members[0], other)
            steps = [pair(u, v) for u, v in pairwise(path)]
            sides |= {step: part.apart[step] for step in steps}
        changes = [_change(part, label, traversals[label]) for label in members]
        row = total([*sides.values(), *changes, -1])
        if conflict.unless:
            border = [x for (u, v), x in part.apart.items() if (u in inside) != (v in inside)]
            row = row + total(1 - x for x in border)
        rows.append(row)
    return rows


def _led(part: Formulation, order: Label, lost: frozenset[Label]) -> Linear:
    """What runs in the order of a scan of segments is connected with it: one of them is not, or a fused array leads to them."""
    fusible = [(u, v) for u, v, _, _ in part.arcs if pair(u, v) in part.apart]
    border = leading(part.spaces.graph, order, lost, fusible)
    return total(1 - part.apart[pair(u, v)] for u, v in border) - part.pushed[min(lost), order]


def _change(part: Formulation, label: Label, gather: Label | None) -> Linear:
    """1 where an operation is no longer pushed to a gather, or to one at all."""
    if gather is not None:
        return 1 - part.pushed[label, gather]
    return total(push for (v, _), push in part.pushed.items() if v == label)
