"""Costs of whole programs, level by level, and what the levels are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

from accel.explanation.naming.quantities import counted
from accel.ilp.problem.build import build
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import Prices
from accel.labelled.nodes import Program
from accel.labelled.operations import parts

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "read_bytes + write_bytes": "bytes",
        "read_bytes + write_bytes + interference": "bytes",
        "intermediate": "intermediates",
        "cluster": "clusters",
        "edge": "edges",
        "read": "reads",
        "write": "stored arrays",
        "read + write": "reads and writes",
        "access": "pairs of accesses",
    }
)
"""Sums of weights that have a name; others are written as they are."""


def levels(options: Options, cost: Sequence[int]) -> tuple[str, ...]:
    """What each number of a cost counts; those of a cost function have no other name."""
    if options.model is None:
        return tuple(f"in level {number}" for number in range(1, len(cost) + 1))
    return tuple(_NAMES.get(str(level), str(level)) for level in options.model.levels)


def prices(graph: Graph, options: Options) -> Prices:
    """What the clusters of a graph cost under these options."""
    return Prices(graph, options.what_costs, Weights(graph, options.extents))


def unfused(program: Program, options: Options) -> tuple[int, ...]:
    """What a program and those inside of it cost with every operation by itself."""
    pending, costs = [program], []
    while pending:
        current = pending.pop()
        graph = build(current)
        apart = clustering(graph, ())
        assert apart is not None, "what is read is made before it"
        costs.append(prices(graph, options).total(apart.clusters))
        pending += (part for binding in current.bindings for part in parts(binding.operation))
    return added(costs)


def added(costs: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Costs of several programs; one that costs nothing may have fewer levels."""
    return tuple(map(sum, zip_longest(*costs, fillvalue=0)))


def priced(cost: Sequence[int], names: Sequence[str]) -> str:
    """`40,976 bytes, 3 intermediates, 2 clusters`. What costs nothing may have fewer levels than names."""
    all_levels = (*cost, *(0 for _ in names[len(cost) :]))
    return ", ".join(map(counted, all_levels, names)) or "nothing"


def less(saving: Sequence[int] | None, names: Sequence[str]) -> str:
    """`moves 8,192 bytes less`: the first level in which something is saved; empty if nothing is known of it."""
    for number, name in zip(saving or (), names, strict=False):
        if number:
            return f"{'moves' if name == 'bytes' else 'costs'} {counted(number, name)} less"
    return ""
