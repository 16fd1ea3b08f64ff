"""What planning one graph gives."""

from __future__ import annotations

from dataclasses import field

from accel.ilp.problem.clustering import Clustering
from accel.labelled.passes.recompute import Recomputed
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """A legal clustering, its cost, and what is known about all others: none costs less than `bound`, if that is not ().

    recomputed: what is recomputed; then the clustering is one of the graph with recomputations (`recompute/graph.py`). The
    others are, too, where `duplicate="stencils"` chose these (`stencils.py`).
    finished: the strategy came to its end; no time limit struck, no solver failed. Only such answers are kept.
    trouble: if it is the solver's fault that it is not proved, how a sentence begins that says so.
    recalled: an earlier process found it. The clustering was checked and priced again; of `bound` and `proved` there is only
    that process's word.
    """

    clustering: Clustering
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    proved: bool
    strategy: str
    solver: str | None
    finished: bool = True
    recomputed: tuple[Recomputed, ...] = ()
    trouble: str = field(default="", compare=False)
    recalled: bool = field(default=False, compare=False)
