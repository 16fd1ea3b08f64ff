"""What a strategy gives back, and what several of them need."""

from __future__ import annotations

from collections.abc import Iterable

from accel.ilp.problem.clustering import Cluster
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.traversals import assign
from accel.labelled.array import Label
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """Clusters of all operations and barriers, in no particular order, and what is known of all others.

    bound: no clustering costs less; None if the strategy does not know. trouble: why what it should have proved is not proved.
    """

    clusters: tuple[Cluster, ...]
    bound: tuple[int, ...] | None = None
    trouble: str = ""


def alone(graph: Graph, labels: Iterable[Label]) -> list[Cluster]:
    """Operations or barriers as clusters of one."""
    found = [assign(graph, (label,)) for label in labels]
    return [cluster for cluster in found if cluster is not None]
