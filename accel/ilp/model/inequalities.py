"""Rows about three operations that are known before solving: the shortest circles of `cuts.py`, all at once.

They save rounds, of which each costs a solver some milliseconds, and sharpen the relaxation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accel.ilp.facts.analysis import Separation
from accel.ilp.model.variables import Pair, Variables, pair
from accel.ilp.solvers.linear import Linear, total
from accel.labelled.array import Label

_MOST = 1000
"""Rows of a kind; larger models find those that they need."""


def _cliques(members: Sequence[Label], separation: Separation) -> Iterator[list[Label]]:
    """Sets of operations of which every two are separate, so that each separate pair is in one of them."""
    apart = {u: {v for v in members if v != u and separation.are_separate(u, v)} for u in members}
    covered: set[Pair] = set()
    for u in members:
        for v in sorted(apart[u]):
            if v < u or (u, v) in covered:
                continue
            clique, common = [u, v], apart[u] & apart[v]
            while common:
                clique.append(min(common))
                common &= apart[clique[-1]]
            covered |= {pair(a, b) for a in clique for b in clique if a != b}
            yield clique


def inequalities(variables: Variables) -> Iterator[Linear]:
    """Who shares a cluster with w shares it with at most one of several that are separate; and x(u,v) <= x(u,w) + x(w,v)."""
    near: dict[Label, list[Label]] = {}
    for u, v in variables.x:
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)
    for w, members in near.items():
        for clique in _cliques(members, variables.facts.separation):
            yield total(variables.apart(w, v) for v in clique) - (len(clique) - 1)
    for u, v in variables.facts.arcs:
        if (u, v) in variables.x:
            x = variables.apart(u, v) - variables.recomputed.get((u, v), Linear())
            for w in near[u]:
                if w != v and pair(w, v) in variables.x:
                    yield variables.apart(u, w) + variables.apart(w, v) - x
