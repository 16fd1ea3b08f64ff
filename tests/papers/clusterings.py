"""Clusterings to price: random legal ones, and ones that are spelled out; random graphs without orders."""

from __future__ import annotations

from random import Random

from accel.ilp.legality.checker import refusal
from accel.ilp.problem.clustering import Clustering
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.labelled.operations import Kind
from accel.support.choices import Duplicate
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch


def named(sketch: Sketch, graph: Graph, duplicate: Duplicate, *sets: str) -> Clustering:
    """The clustering with these clusters, written as words, and all else by itself; it must be legal."""
    made = clustering(graph, [[sketch.labels[name] for name in names.split()] for names in sets])
    assert made is not None
    assert refusal(graph, made, duplicate) is None
    return made


def random_clustering(graph: Graph, random: Random, duplicate: Duplicate = "published") -> Clustering:
    """A legal clustering, by merging at random for a random while."""
    sets = [[node.label] for node in graph.operations]
    made = clustering(graph, sets)
    assert made is not None
    for _ in range(random.randrange(4 * len(sets))):
        if len(sets) < 2:
            break
        first, second = random.sample(sets, 2)
        merged = [*(each for each in sets if each is not first and each is not second), sorted(first + second)]
        found = clustering(graph, merged)
        if found is not None and refusal(graph, found, duplicate) is None:
            made, sets = found, merged
    return made


def forward_graphs(count: int, operations: int) -> list[Graph]:
    """Random graphs in which all is read and made forward: one array is one view."""
    found: list[Graph] = []
    for seed in range(1_000):
        graph = draw(seed, operations)
        if not any(node.kind is Kind.GATHER or node.backward for node in graph.nodes):
            found.append(graph)
        if len(found) == count:
            break
    return found
