"""The strategy `linear`: one pass over the program, no graph [Kri section V-E].

Each operation joins the current cluster unless that makes it illegal; then it begins the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ilp.problem.clustering import Cluster
from accel.ilp.problem.graph import Graph
from accel.ilp.strategies.found import Found
from accel.ilp.strategies.partition import Partition
from accel.labelled.array import Label
from accel.labelled.operations import Kind
from accel.support.choices import Duplicate

_STEP = 64
"""From so many operations on, a cluster is offered as many as it has, then half of them, and so on: judging it again for
each single one would take quadratic time."""


def linear(graph: Graph, duplicate: Duplicate) -> Found:
    """Looks at no cost. A barrier that waits for something ends the current cluster; others may come first."""
    partition = Partition(graph, duplicate)
    waits = {later for _, later in graph.arcs}
    run: list[Label] = []
    for node in graph.nodes:
        if node.kind is not Kind.BARRIER:
            run.append(node.label)
        elif node.label in waits:
            _cut(partition, run)
            run = []
    _cut(partition, run)
    return Found(tuple(partition.cluster.values()))


def _cut(partition: Partition, run: Sequence[Label]) -> None:
    """Cut a run of operations into clusters that are as long as they can be, from the front."""
    start = 0
    while start < len(run):
        whole: Cluster | None = None
        end = start + 1
        step = 1
        while step and end < len(run):
            longer = partition.whole(run[start : end + step])
            if longer is None:
                step //= 2
                continue
            whole, end = longer, min(end + step, len(run))
            step = end - start if end - start >= _STEP else 1
        if whole is not None:
            partition.merge(run[start:end], whole)
        start = end
