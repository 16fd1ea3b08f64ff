"""[Rob]'s sizes and concestors against accel's loop shapes, on random programs of vectors: which operations may share a loop.

The two rules are written differently: a pair of different sizes needs its concestors in the cluster [Rob section 1.3.6];
a cluster's operations must fit into one nest, behind the filters that are in it (docs/ilp.md, E1 to E4). On programs without
gathers they allow the same clusters, among those that share arrays.
"""

from __future__ import annotations

from random import Random

import pytest

from accel.ilp.legality.checker import refusal
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.labelled.operations import Role
from tests.ilp.sketch import Sketch
from tests.marks import long, slow
from tests.papers.fusion_models import Block, partitions
from tests.papers.robinson_model import Robinson


def _drawn(seed: int) -> Graph:
    """Six maps, folds and filters of vectors; maps may look at sums."""
    random, s = Random(seed), Sketch()
    sizes = {"u0": "n", "u1": random.choice(("n", "m"))}
    sums: list[str] = []
    for name, size in sizes.items():
        s.use(name, size)
    for number in range(6):
        name, source = f"v{number}", random.choice(list(sizes)[-4:])
        index = [random.choice(sums)] if sums and random.random() < 0.4 else []
        kind = random.random()
        if kind < 0.4:
            others = [other for other in sizes if sizes[other] == sizes[source]]
            s.map(name, list(dict.fromkeys([source, random.choice(others)])), index=index)
            sizes[name] = sizes[source]
        elif kind < 0.65:
            s.fold(name, source, index=index)
            sums.append(name)
        else:
            s.filter(name, f"f{number}", source, index=index)
            sizes[f"{name}.0"] = f"f{number}"
    return s.finish()


def _is_connected(graph: Graph, block: Block) -> bool:
    """Whether shared and fused arrays connect the block."""
    touched = {
        label: {edge.array for edge in graph.inputs[label] if edge.role is Role.STREAM} | set(graph.node[label].arrays)
        for label in block
    }
    seen, pending = {min(block)}, [min(block)]
    while pending:
        here = pending.pop()
        near = {label for label in block - seen if touched[label] & touched[here]}
        seen |= near
        pending += near
    return seen == block


@slow
@pytest.mark.parametrize("programs", [30, pytest.param(60, marks=long)])
def test_which_operations_may_share_a_loop(programs: int) -> None:
    """Every partition of them: legal by the paper's rules, and connected, if and only if accel's checker accepts it."""
    legal = different_sizes = 0
    for seed in range(programs):
        graph = _drawn(seed)
        paper = Robinson(graph)
        for partition in partitions([node.label for node in graph.operations]):
            theirs = all(_is_connected(graph, block) for block in partition) and paper.is_legal(partition)
            made = clustering(graph, partition)
            exact = made is not None and {frozenset(cluster.labels) for cluster in made.clusters} >= set(partition)
            ours = exact and made is not None and refusal(graph, made, False) is None
            assert ours == theirs, (seed, partition)
            legal += theirs
            different_sizes += theirs and any(
                len({graph.node[label].iteration for label in block}) > 1 for block in partition
            )
    assert legal > 700 * programs // 60
    assert different_sizes > 150 * programs // 60
