"""The heuristics of [vB24 section 5] and [Kri section V] on the papers' examples: where they fall into traps, and how deep."""

from __future__ import annotations

from typing import cast

import pytest

from accel.ilp.legality.checker import cluster_refusal, refusal
from accel.ilp.plan import plan_graph
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import price
from accel.ilp.problem.traversals import assign
from accel.labelled.array import Label
from accel.labelled.operations import Kind
from accel.support.choices import CostName, Strategy
from tests.ilp.brute import brute
from tests.papers import graphs
from tests.papers.clusterings import forward_graphs
from tests.papers.fusion_models import partitions
from tests.papers.graphs import Draw, drawn, groups

TRAPPED_BELOW, TRAPPED_ABOVE = groups("is large zs", "ys result"), groups("bs cs", "ds es result")
BEST_BELOW, BEST_ABOVE = groups("is large ys zs", "result"), groups("bs", "cs ds es result")


def found(draw: Draw, strategy: str) -> tuple[int, graphs.Sets]:
    """Bytes and clusters for 20 rows of a million elements, under the paper's free rule for pushing."""
    sketch, graph = drawn(draw)
    sizes = {size: 1_000_000 if name == "m" else 20 for name, size in sketch.sizes.items()}
    options = Options(strategy=cast(Strategy, strategy), cost="bytes", duplicate="published", sizes=sizes)
    answer = plan_graph(graph, options)
    return answer.cost[0], sketch.sets(answer.clustering)


def test_bottom_up_first_fuses_the_final_map() -> None:
    """[vB24 section 5]: then both folds cannot be in one cluster, and `large` is stored: thrice the bytes of the optimum."""
    cost, clusters = found(graphs.greedy_bottom_up_bad, "greedy_bottom_up")
    best, optimum = found(graphs.greedy_bottom_up_bad, "ilp")
    assert (clusters, optimum) == (TRAPPED_BELOW, BEST_BELOW)
    assert 2.9 < cost / best < 3.1


def test_top_down_first_fuses_diagonally() -> None:
    """[vB24 section 5]: `cs` with `bs`, where it is stored, not with `es`, where it is not. The paper measures 1.5 times."""
    cost, clusters = found(graphs.greedy_top_down_bad, "greedy_top_down")
    best, optimum = found(graphs.greedy_top_down_bad, "ilp")
    assert (clusters, optimum) == (TRAPPED_ABOVE, BEST_ABOVE)
    assert 1.3 < cost / best < 1.5


@pytest.mark.parametrize(
    ("draw", "strategy", "clusters"),
    [
        (graphs.greedy_bottom_up_bad, "greedy_top_down", BEST_BELOW),
        (graphs.greedy_top_down_bad, "greedy_bottom_up", BEST_ABOVE),
        (graphs.greedy_bottom_up_bad, "greedy", BEST_BELOW),
        (graphs.greedy_top_down_bad, "greedy", BEST_ABOVE),
        (graphs.greedy_bottom_up_bad, "branch_and_bound", BEST_BELOW),
        (graphs.greedy_top_down_bad, "branch_and_bound", BEST_ABOVE),
    ],
)
def test_who_avoids_the_traps(draw: Draw, strategy: str, clusters: graphs.Sets) -> None:
    """Each greedy avoids the other's; [Kri]'s, which looks at savings, and the exact search avoid both."""
    assert found(draw, strategy)[1] == clusters


@pytest.mark.parametrize(
    ("strategy", "clusters"),
    [
        ("none", groups("A", "B", "C", "R", "D", "E", "F", "G", "H")),
        ("linear", groups("A B C", "R D E F G", "H")),
        ("greedy", groups("A", "B C R D E", "F G H")),
        ("branch_and_bound", groups("A", "B C R D E", "F G H")),
        ("ilp", groups("A", "B C R D E", "F G H")),
    ],
)
def test_kristensen_fig_21(strategy: str, clusters: graphs.Sets) -> None:
    assert found(graphs.contraction, strategy)[1] == clusters


def _linear(graph: Graph) -> list[list[Label]]:
    """[Kri section V-E] by the letter: the next operation joins the current block unless that makes it illegal."""
    blocks: list[list[Label]] = []
    for node in graph.operations:
        longer = assign(graph, [*blocks[-1], node.label]) if blocks else None
        inside = set(longer.labels) if longer is not None else set()
        apart = any(first in inside and second in inside for first, second in graph.before)
        if longer is None or apart or cluster_refusal(graph, longer, False) is not None:
            blocks.append([])
        blocks[-1].append(node.label)
    return blocks


def test_kristensen_section_v_e_linear_merge() -> None:
    compared = 0
    for graph in forward_graphs(80, 7):
        if any(node.kind is Kind.BARRIER and graph.inputs[node.label] for node in graph.nodes):
            continue  # a barrier in the midst, which bytecode does not have
        answer = plan_graph(graph, Options(strategy="linear", duplicate=False))
        operations = {node.label for node in graph.operations}
        clusters = {cluster.labels for cluster in answer.clustering.clusters if operations.issuperset(cluster.labels)}
        assert clusters == {tuple(block) for block in _linear(graph)}
        compared += len(clusters) < len(operations)
    assert compared > 20


@pytest.mark.parametrize("model", ["bytes", "max_contract", "max_locality"])
def test_kristensen_theorem_3_unintrusive_merges_belong_to_an_optimum(model: CostName) -> None:
    """The best partition that has the unintrusive blocks as parts costs what the best of all costs."""
    merged = 0
    for graph in forward_graphs(30, 6):
        answer = plan_graph(graph, Options(strategy="unintrusive", cost=model, duplicate=False))
        blocks = [
            cluster.labels
            for cluster in answer.clustering.clusters
            if graph.node[cluster.labels[0]].kind is not Kind.BARRIER
        ]
        if all(len(labels) == 1 for labels in blocks):
            continue
        weights, costs = Weights(graph, {}), []
        for partition in partitions(range(len(blocks))):
            sets = [sorted(label for number in block for label in blocks[number]) for block in partition]
            made = clustering(graph, sets)
            if made is not None and refusal(graph, made, False) is None:
                costs.append(price(graph, made, MODELS[model], weights))
        assert min(costs) == brute(graph, MODELS[model], weights, False)[0]
        merged += 1
    assert merged > 10
