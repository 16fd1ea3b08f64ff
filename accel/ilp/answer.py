"""What planning one graph gives."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ilp.clustering import Clustering
from accel.labelled.duplicate import Copied


@dataclass(frozen=True, slots=True)
class Answer:
    """A legal clustering, its cost, and what is known about all others: none costs less than `bound`, if that is not ().

    copied: what is computed again; then the clustering is one of the graph with the copies (`substitute.py`).
    finished: the strategy came to its end; no time limit struck, no solver failed. Only such answers are kept.
    """

    clustering: Clustering
    cost: tuple[int, ...]
    bound: tuple[int, ...]
    proved: bool
    strategy: str
    solver: str | None
    finished: bool = True
    copied: tuple[Copied, ...] = ()
