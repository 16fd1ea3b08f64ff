"""[vB24] Figs. 1 and 3, the examples of sections 1 to 5, and the cost functions (a) to (e), with the paper's answers.

Planned under the paper's free rule for pushing (`duplicate="published"`) and with its reads and writes, cost (e).
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import accel as A
from accel.ilp.facts.analysis import analyse
from accel.ilp.problem.clustering import Clustering
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import price
from accel.labelled.operations import Kind, Role
from tests.ilp.random_graphs import draw
from tests.ilp.sketch import Sketch
from tests.papers import graphs, programs
from tests.papers.clusterings import named, random_clustering
from tests.papers.graphs import Draw, drawn, groups, planned
from tests.papers.reading import fused, kept, passes, trees

XS = np.arange(1, 9)
IS = np.array([3, 1, 4])
ROWS = np.arange(20).reshape(5, 4)


def published(program: object) -> A.Explanation:
    """Planned by the paper's rule and its cost (e)."""
    return A.explain(program, duplicate="published", cost="reads_writes")


# Program, fusion trees, loops and passes; the two-dimensional input of simple4 is read row by row.
PROGRAMS = [
    ("singleLoop", (XS,), ["Vertical(reverse, Vertical(map, Vertical(map, zipWith3)))"], (1, {"n0": 2}, {"n0": 1})),
    ("simple1", (IS, XS), ["Vertical(map:l, gather)"], (1, {"n0": 2}, {"n0": 1})),
    ("simple2", (IS, IS[:2], XS), ["Vertical(gather:l, gather)"], (1, {"n0": 3}, {"n0": 1})),
    ("simple3", (IS, XS), ["map", "gather"], (2, {"n0": 1, "n1": 2}, {"n0": 1, "n1": 1})),
    ("simple4", (IS, ROWS), ["Vertical(fold:l, gather)"], (1, {"n0": 1, "n0*n2": 1}, {"n0": 1})),
    ("simple5", (XS - 1, XS), ["Vertical(map, Vertical(gather, zipWith))"], (1, {"n0": 3}, {"n0": 1})),
    ("scatterExample", (XS,), ["map", "Vertical(map, scatter)"], (2, {"n0": 3}, {"n0": 2})),
]


@pytest.mark.parametrize(("name", "inputs", "expected", "counts"), PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_programs_as_a_user_writes_them(
    name: str, inputs: tuple[np.ndarray, ...], expected: list[str], counts: tuple[int, dict[str, int], dict[str, int]]
) -> None:
    found = published(getattr(programs, name)(*map(A.use, inputs)))
    assert found.proved
    assert trees(found) == expected
    assert passes(found) == counts


# Program, clusters, reads and writes; simple3's and scatterExample's counts are the paper's own arguments (3.3, 3.4).
GRAPHS = [
    (graphs.single_loop, groups("inds bs cs ds result"), 3),
    (graphs.simple1, groups("as bs"), 3),
    (graphs.simple2, groups("as bs"), 4),
    (graphs.simple3, groups("as", "bs"), 5),
    (graphs.simple4, groups("as bs"), 3),
    (graphs.simple5, groups("as bs cs"), 4),
    (graphs.scatter_example, groups("bs", "as result"), 4),
    (graphs.greedy_top_down_bad, groups("bs", "cs ds es result"), 4),
]


@pytest.mark.parametrize(("draw_", "clusters", "cost"), GRAPHS, ids=[row[0].__name__ for row in GRAPHS])
def test_programs_as_graphs(draw_: Draw, clusters: graphs.Sets, cost: int) -> None:
    assert planned(*drawn(draw_)) == ((cost,), clusters)


def test_fig_1_vertical_horizontal_diagonal() -> None:
    """Fig. 1: (a) nothing is stored between, (b) one read for both, (c) one read, and the array between is kept."""
    xs = A.use(XS)
    vertical = published(A.map(programs.f, A.map(programs.g, xs)))
    horizontal = published((A.map(programs.f, xs), A.map(programs.g, xs)))
    between = A.map(programs.f, xs)
    diagonal = published((between, A.map(programs.g, between)))
    assert [trees(found) for found in (vertical, horizontal, diagonal)] == [
        ["Vertical(map, map)"], ["Horizontal(map, map)"], ["Diagonal(map, map)"],
    ]  # fmt: skip
    assert [passes(found)[1:] for found in (vertical, horizontal, diagonal)] == [
        ({"n0": 1}, {"n0": 1}), ({"n0": 1}, {"n0": 2}), ({"n0": 1}, {"n0": 2}),
    ]  # fmt: skip
    assert (fused(vertical), kept(diagonal)) == (["map"], ["map"])


def test_section_2_reverse_is_generate_and_gather() -> None:
    s = Sketch()
    s.use("xs")
    s.generate("inds")
    s.gather("result", "inds", "xs")
    assert planned(s, s.finish()) == ((2,), groups("inds result"))


def test_section_2_1_gather_by_backpermute_does_not_fuse_with_the_indices() -> None:
    """`backpermute` by `gather` loses nothing; `gather` by `backpermute` indexes `is`, which must then be complete."""
    by_gather, by_backpermute = Sketch(), Sketch()
    for s in (by_gather, by_backpermute):
        s.use("xs")
        s.use("js", "m")
        s.map("is", "js")
    by_gather.gather("ys", "is", "xs")
    by_backpermute.backpermute("ys", "m", "xs", index="is")
    assert planned(by_gather, by_gather.finish())[1] == groups("is ys")
    assert planned(by_backpermute, by_backpermute.finish())[1] == groups("is", "ys")


def test_section_2_1_filter_by_scatter_takes_fewer_loops_than_by_permute() -> None:
    """`scatter` streams its targets, so that they fuse; `permute` indexes them, so that they are complete before."""
    by_scatter, by_permute = Sketch(), Sketch()
    for s in (by_scatter, by_permute):
        s.use("xs")
        s.generate("dest")
        s.map("keep", "xs")
        s.scan("offsets", "keep", exact=True)
    by_scatter.map("pairs", "keep offsets xs")
    by_scatter.scatter("result", "pairs", "dest")
    by_permute.map("pairs", "xs", index="offsets keep")
    by_permute.scatter("result", "pairs", "dest")
    assert planned(by_scatter, by_scatter.finish())[1] == groups("keep offsets pairs result", "dest")
    assert planned(by_permute, by_permute.finish())[1] == groups("keep offsets", "pairs result", "dest")


def test_section_3_3_scanl_and_scanr_of_one_array_read_it_twice_either_way() -> None:
    """The paper would also count two reads if both ran in one loop."""
    s = Sketch()
    s.use("xs")
    s.scan("left", "xs", exact=True)
    s.scan("right", "xs", backward=True, exact=True)
    assert planned(s, s.finish()) == ((4,), groups("left", "right"))


def test_section_3_3_a_scan_does_not_fuse_into_a_gather_of_it() -> None:
    s = Sketch()
    s.use("is")
    s.use("xs")
    s.scan("as", "xs", exact=True)
    s.gather("bs", "is", "as")
    assert planned(s, s.finish()) == ((5,), groups("as", "bs"))


def test_section_3_3_both_reads_of_simple5_cannot_fuse_with_a_producer_of_xs() -> None:
    s = Sketch()
    s.use("is")
    s.use("us")
    s.map("xs", "us")
    s.map("as", "xs")
    s.gather("bs", "is", "xs")
    s.map("cs", "as bs")
    cost, clusters = planned(s, s.finish())
    assert cost == (6,)
    assert not any({"xs", "as", "bs"} <= names for names in clusters)


def test_fig_3_two_clusterings() -> None:
    """One saves a read for each element of xs, the other a read and a write: 5 and 4 passes, of 6 without fusion."""
    sketch, graph = drawn(graphs.scatter_example)
    weights = Weights(graph, {})

    def passes_of(*sets: str) -> tuple[int, ...]:
        return price(graph, named(sketch, graph, "published", *sets), MODELS["reads_writes"], weights)

    assert [passes_of(), passes_of("as bs"), passes_of("as result")] == [(6,), (5,), (4,)]


def test_fig_3_fusible_and_infusible_edges() -> None:
    """Section 4.1: F = {(as, result)}, I = {(xs, as), (xs, bs), (bs, result)}; reading `xs` from outside fuses nothing."""
    sketch, graph = drawn(graphs.scatter_example)
    names = {label: name for name, label in sketch.labels.items()}
    arcs = {(names[first], names[second]) for first, second in graph.arcs}
    infusible = {(names[first], names[second]) for first, second in analyse(graph, "published").infusible}
    assert infusible & arcs == {("xs", "as"), ("xs", "bs"), ("bs", "result")}
    assert arcs - infusible == {("as", "result")}


# ---- section 5: the greedy traps


def test_greedy_bottom_up_bad_stores_no_large_array() -> None:
    """Fusing `result` into `ys` would force the gathered n x m array into memory."""
    found = A.explain(programs.greedyBottomUpBad(A.use(XS)), duplicate="published", cost="bytes", sizes="actual")
    assert trees(found) == ["Vertical(generate, Vertical(gather, Horizontal(fold, fold)))", "map"]
    assert found.bytes_written == 3 * 8 * len(XS)
    assert found.proved


def test_greedy_bottom_up_bad_is_a_tie_when_all_arrays_count_the_same() -> None:
    """The paper's cost functions ignore sizes; it is the size of `large` that makes the trap expensive."""
    sketch, graph = drawn(graphs.greedy_bottom_up_bad)
    assert planned(sketch, graph)[0] == (5,)
    trapped = named(sketch, graph, "published", "is large zs", "ys result")
    best = named(sketch, graph, "published", "is large ys zs")
    model, weights = MODELS["reads_writes"], Weights(graph, {})
    # xs, large, zs written, large read again, result; against xs, ys and zs written, ys read, result.
    assert price(graph, trapped, model, weights) == price(graph, best, model, weights) == (5,)
    actual = {s: 20 if s == sketch.extent("n").variable else 1_000_000 for s in sketch.sizes.values()}
    costs = [price(graph, each, MODELS["bytes"], Weights(graph, actual))[0] for each in (best, trapped)]
    assert costs == [4 * 20_000_080, 4 * 60_000_040]
    options = Options(cost="bytes", duplicate="published", sizes=actual)
    assert planned(sketch, graph, options) == ((costs[0],), groups("is large ys zs", "result"))


def test_greedy_top_down_bad_fuses_with_the_reader() -> None:
    """`cs` goes to `es`, where it is not stored, and not to its maker `bs`, where it is: 4 passes instead of 6."""
    found = published(programs.greedyTopDownBad(A.use(XS)))
    assert trees(found) == ["map", "Vertical(map, Vertical(generate, Vertical(zipWith, fold)))"]
    assert (found.cost, dict(found.writes), kept(found)) == ((4,), {"n0": 1, "1": 1}, [])
    sketch, graph = drawn(graphs.greedy_top_down_bad)
    trapped = named(sketch, graph, "published", "bs cs", "ds es result")
    assert price(graph, trapped, MODELS["reads_writes"], Weights(graph, {})) == (5,)


# ---- section 4.1: the cost functions, from their definitions


def _counted(graph: Graph, clustering: Clustering) -> dict[str, int]:
    """(a) to (e) of one clustering. `x` is 1 for an edge between clusters, `m` for an array that is stored."""
    cluster_of = {label: cluster for cluster in clustering.clusters for label in cluster.labels}
    operations = {node.label for node in graph.operations}
    edges = {(edge.array.label, edge.consumer) for edge in graph.edges if edge.array.label in operations}
    reads: set[object] = set()
    for edge in graph.edges:
        reader = cluster_of[edge.consumer]
        if edge.role in (Role.STREAM, Role.SOURCE) and edge.array.label not in reader.labels:
            order = reader.traversals[reader.labels.index(edge.consumer)]
            reads.add((edge.array, str(order) if edge.role is Role.STREAM else f"l{edge.consumer}", reader.labels))
    stored = [
        array
        for node in graph.operations
        for array in node.arrays
        if array in graph.results or any(cluster_of[e.consumer] != cluster_of[node.label] for e in graph.readers[array])
    ]
    clusters = sum(not set(cluster.labels) - operations for cluster in clustering.clusters)
    return {
        "clusters": clusters,
        "edges": sum(cluster_of[first] != cluster_of[second] for first, second in edges),
        "intermediates": sum(array not in graph.results for array in stored),
        "reads": len(reads),
        "reads_writes": len(reads) + len(stored),
    }


def test_cost_functions_a_to_e_of_random_clusterings() -> None:
    """accel leaves out edges that no clustering fuses (by index, to a destination, to a barrier): a constant of the graph."""
    seen = 0
    for seed in range(60):
        graph, random = draw(seed, 7), Random(seed)
        constants: dict[str, set[int]] = {}
        for _ in range(6):
            made = random_clustering(graph, random)
            for name, count in _counted(graph, made).items():
                (cost,) = price(graph, made, MODELS[name], Weights(graph, {}))
                constants.setdefault(name, set()).add(count - cost)
            seen += any(len(cluster.labels) > 2 for cluster in made.clusters)
        assert all(len(differences) == 1 for differences in constants.values()), seed
        assert all(constants[name] == {0} for name in constants.keys() - {"edges"}), seed
    assert seen > 100


def test_external_nodes_are_no_clusters() -> None:
    graph = draw(3, 7)
    assert any(node.kind is Kind.BARRIER for node in graph.nodes)
    (cost,) = price(graph, random_clustering(graph, Random(0)), MODELS["clusters"], Weights(graph, {}))
    assert cost <= len(graph.operations)
