"""All legal clusterings of a program, each as code: what `benchmarks/exhaustive.py` times.

In: a function over arrays, and arrays. Out: its chosen code, and every other code that some legal clustering gives. Work is
recomputed as by default: pushed through gathers, nowhere else. Clusterings that give the same loops are one code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from accel import settings as setting
from accel.ast.tree.leaves import to_host
from accel.backends.choose import backend
from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.protocol import Executable, HostArray, compiled
from accel.explanation.explain import subject
from accel.fusedast.build import build as fuse
from accel.ilp.facts.analysis import analyse
from accel.ilp.legality.checker import refusal
from accel.ilp.problem.build import build
from accel.ilp.problem.clustering import Cluster, Clustering
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.decode import in_order
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.price import Prices
from accel.ilp.strategies.candidates import Candidate, Neighbours, candidates
from accel.ilp.strategies.found import alone
from accel.ir.lowering.lower import lower
from accel.ir.text import text
from accel.support.choices import DUPLICATE


class TooManyError(Exception):
    """A program has more legal clusters, or clusterings, than one can time."""


@dataclass(frozen=True, slots=True)
class Code:
    """A program compiled in one way, and what the planner thinks that it costs."""

    run: Executable
    cost: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Codes:
    """What a program may become, the chosen code first, how many legal clusterings there are, and the program's arguments."""

    codes: tuple[Code, ...]
    clusterings: int
    arguments: Sequence[HostArray]


def covers(near: Neighbours, legal: Sequence[Candidate]) -> Iterator[tuple[Cluster, ...]]:
    """All ways to take each operation of a part once."""
    whole = sum(near.bit.values())
    pending: list[tuple[int, tuple[Cluster, ...]]] = [(0, ())]
    while pending:
        covered, clusters = pending.pop()
        if covered == whole:
            yield clusters
            continue
        lowest = ~covered & (covered + 1)
        for each in legal:
            if each.members & lowest and not each.members & covered:
                pending.append((covered | each.members, (*clusters, each.cluster)))


def clusterings(graph: Graph, prices: Prices, most: int) -> list[Clustering]:
    """All that are legal. Raises `TooManyError` if there are more than `most`."""
    facts = analyse(graph, DUPLICATE)
    decided = {label for part in facts.parts for label in part}
    single = alone(graph, (node.label for node in graph.nodes if node.label not in decided))
    ways: list[list[tuple[Cluster, ...]]] = []
    for part in facts.parts:
        near = Neighbours(facts, part)
        legal = candidates(graph, near, prices, DUPLICATE, time.monotonic() + 60)
        if legal is None:
            raise TooManyError
        ways.append([])
        for cover in covers(near, legal):
            ways[-1].append(cover)
            if len(ways[-1]) > most:
                raise TooManyError
    found = []
    for choice in product(*ways):
        ordered = in_order(graph, [*single, *(cluster for clusters in choice for cluster in clusters)])
        if ordered is not None and refusal(graph, ordered, DUPLICATE) is None:
            found.append(ordered)
            if len(found) > most:
                raise TooManyError
    return found


def codes(function: Callable[..., object], arrays: Sequence[HostArray], most: int) -> Codes:
    """All codes of a program without loops over arrays; the default settings choose one.

    Raises `TooManyError` if there are too many clusterings.
    """
    settings = setting.changed({})
    found = subject(function, arrays, settings)
    graph = build(found.program, False)
    prices = Prices(graph, found.options.what_costs, Weights(graph, found.options.extents))
    target = backend(settings.backend, settings.threads)
    assert not isinstance(target, InterpreterBackend)
    assert found.data is not None
    chosen = found.staged
    made = {text(chosen.loops): Code(compiled(target, chosen.loops), chosen.plan.cost)}
    every = clusterings(graph, prices, most)
    for clustering in every:
        plan = replace(chosen.plan, clustering=clustering, cost=prices.total(clustering.clusters))
        loops = lower(fuse(found.program, plan))
        if text(loops) not in made:
            made[text(loops)] = Code(compiled(target, loops), plan.cost)
    return Codes(tuple(made.values()), len(every), [to_host(leaf) for leaf in found.data])
