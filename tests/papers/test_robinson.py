"""[Rob]: Table 1.1 in all four columns, the clusterings and integer programs of sections 1.1 to 1.5, sizes of section 1.3.

Columns of the table: every operation by itself; pull streams; equal loop sizes only; accel in place of "ours". The models of
the other systems count over the same graphs as accel (`fusion_models.py`); [Rob]'s own program is `robinson_model.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import plan_graph
from accel.ilp.problem.cost import MODELS, Weights
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.problem.price import price
from tests.ilp.sketch import Sketch
from tests.papers import graphs, programs, robinson_programs
from tests.papers.clusterings import named
from tests.papers.fusion_models import Partition, megiddo, stream_fusion, unfused
from tests.papers.graphs import Draw, drawn, groups, planned
from tests.papers.reading import fused, passes, trees
from tests.papers.robinson_model import Robinson, concestors

XS = np.arange(1, 9)
ROBINSON = Options(cost="robinson", duplicate=False)


def row(*parts: Draw) -> tuple[int, int, int, int]:
    """A row of Table 1.1: loops of a program of one or more functions, one column after the other."""
    columns = [0, 0, 0, 0]
    for draw in parts:
        sketch, graph = drawn(draw)
        others = [len(system(graph)) for system in (unfused, stream_fusion, megiddo)]
        ours = {len(planned(sketch, graph, options)[1]) for options in (graphs.OWN_RULE, ROBINSON)}
        assert len(ours) == 1  # by accel's costs as by [Rob]'s
        columns = [total + found for total, found in zip(columns, [*others, ours.pop()], strict=True)]
    unfused_, stream, megiddo_, accel = columns
    return unfused_, stream, megiddo_, accel


def test_table_1_1_normalize2() -> None:
    assert row(graphs.normalize2) == (5, 4, 3, 2)


def test_table_1_1_quickhull() -> None:
    assert row(graphs.filter_max) == (4, 3, 2, 1)


def test_table_1_1_quadtree() -> None:
    """Printed: 8, 8, 2, 2. Section 1.5.3 lets streams unzip the points for nothing, and so must the first column:

    as written, with `xs` and `ys` as maps, there are ten operations, of which streams fuse none. Megiddo's and our column
    hold either way for [Rob], who fuses whatever has one size. accel needs the maps: unzipped, the folds over `xs` and those
    over `ys` share no array, and loops without common data stay apart (docs/ilp.md, D3), at the same reads and writes.
    """
    printed = (8, 8, 2, 2)
    as_written = row(graphs.quadtree_bounds, graphs.quadtree_boxes)
    unzipped = row(graphs.quadtree_bounds_unzipped, graphs.quadtree_boxes)
    assert as_written == (10, 10, 2, 2)
    assert unzipped == (8, 8, 2, 3)
    assert (*unzipped[:2], *as_written[2:]) == printed


def test_table_1_1_closest_points() -> None:
    """Printed: 7, 6, 4, 4. With the fold of `midy`, which section 1.5.2 clusters as an external, there are eight operations.

    No way of counting gives the whole row: the columns for streams, Megiddo and "ours" count the loop of `midy`, the first does
    not. Listing 1.2 names three clusters besides it.
    """
    printed = (7, 6, 4, 4)
    with_midpoint = row(graphs.closest_points)
    without = row(graphs.closest_points_without_midpoint)
    assert with_midpoint == (8, 6, 4, 4)
    assert without == (7, 5, 3, 3)
    assert (without[0], *with_midpoint[1:]) == printed


# ---- sections 1.1 to 1.5 on graphs


CLUSTERS = [
    (graphs.normalize2, groups("sum1 gts sum2", "ys1 ys2")),  # Fig. 1.1, middle
    (graphs.normalize_inc, groups("sum1", "incs ys")),  # Fig. 1.9, left
    (graphs.closest_points, groups("midy", "aboves belows", "aboveB belowB", "merged dists mins")),  # Listing 1.2
    (graphs.quadtree_bounds, groups("xs ys x1 x2 y1 y2")),  # Listing 1.3
    (graphs.quadtree_boxes, groups("p1 p2 p3 p4")),
    (graphs.filter_max, groups("ptsAnn maximAnn aboveAnn above")),  # Listing 1.4
]


def _names(graph: Graph, partition: Partition) -> graphs.Sets:
    return {frozenset(graph.node[label].name for label in block) for block in partition}


@pytest.mark.parametrize(("draw", "clusters"), CLUSTERS, ids=[case[0].__name__ for case in CLUSTERS])
def test_clusters_are_those_of_the_paper_and_of_its_integer_program(draw: Draw, clusters: graphs.Sets) -> None:
    sketch, graph = drawn(draw)
    _, best = Robinson(graph).best()
    assert [_names(graph, partition) for partition in best] == [clusters]
    assert planned(sketch, graph, graphs.OWN_RULE)[1] == clusters
    assert planned(sketch, graph, ROBINSON)[1] == clusters


def test_fig_1_1_left_and_right() -> None:
    _, graph = drawn(graphs.normalize2)
    assert _names(graph, stream_fusion(graph)) == groups("sum1", "gts sum2", "ys1", "ys2")
    assert _names(graph, megiddo(graph)) == groups("sum1 gts", "sum2", "ys1 ys2")


def test_fig_1_9_three_array_accesses_instead_of_four() -> None:
    """Section 1.4: two reads of xs and ys written, or one read of xs, incs written and read, ys written; unfused, five."""
    sketch, graph = drawn(graphs.normalize_inc)
    model, weights = MODELS["bytes"], Weights(graph, {})

    def accesses(*sets: str) -> float:
        (cost,) = price(graph, named(sketch, graph, False, *sets), model, weights)
        return (cost - 4) / 4096  # without the four bytes of sum1

    assert [accesses("incs ys"), accesses("incs sum1"), accesses()] == [3, 4, 5]


def test_section_1_4_2_a_circle_of_clusters() -> None:
    """C1 = {ys, zs} and C2 = {sum} need each other; with sum in C1 a fusion-preventing edge would be inside."""
    sketch, graph = drawn(graphs.cycle)
    ys, total, zs = (sketch.labels[name] for name in ("ys", "sum", "zs"))
    assert clustering(graph, [[ys, zs]]) is None
    assert clustering(graph, [[ys, total, zs]]) is None
    legal = clustering(graph, [[ys, total]])
    assert legal is not None
    assert refusal(graph, legal, False) is None


def objectives() -> tuple[str, str]:
    """Fig. 1.12's objective for the best clustering of normalize2 and for that of pull streams."""
    _, graph = drawn(graphs.normalize2)
    program = Robinson(graph)
    return str(program.best()[0]), str(program.objective(stream_fusion(graph)))


def test_section_1_5_1_objective_of_normalize2() -> None:
    """Figs. 1.15 and 1.16: the least objective is 51, of one clustering; that of stream fusion is 102."""
    _, graph = drawn(graphs.normalize2)
    program = Robinson(graph)
    assert program.possible_sets() == groups("sum1 gts sum2", "sum1 ys2", "gts sum2 ys1", "ys1 ys2")
    assert len(program.best()[1]) == 1
    assert program.is_legal(stream_fusion(graph))
    assert objectives() == ("51", "102")


def test_section_1_3_6_concestors() -> None:
    """concestors(sum1, sum2) = (sum1, gts)."""
    sketch, graph = drawn(graphs.normalize2)
    at = sketch.labels
    assert concestors(graph, at["sum1"], at["sum2"]) == (at["sum1"], at["gts"])
    assert concestors(graph, at["ys1"], at["ys2"]) == (at["ys1"], at["ys2"])
    _, points = drawn(graphs.closest_points)
    by_name = {node.name: node.label for node in points.nodes}
    assert concestors(points, by_name["aboveB"], by_name["merged"]) is None


def test_section_1_3_6_sums_meet_in_the_filter_only() -> None:
    """Both sums share a loop if the filter is in it; forced, gts is another size like any other."""
    for force, clusters in ((False, groups("sum1 gts sum2")), (True, groups("sum1 gts", "sum2"))):
        s = Sketch()
        s.use("xs")
        s.fold("sum1", "xs")
        s.filter("gts", "f", "xs", force=force)
        s.fold("sum2", "gts.0")
        assert s.sets(plan_graph(s.finish(), graphs.OWN_RULE).clustering) == clusters


# ---- the programs as a user writes them


def test_normalize2() -> None:
    """Two loops: xs is read twice, both results are written, and the two sums pass through memory. `gts` does not."""
    found = A.explain(programs.normalize2(A.use(XS)), duplicate=False)
    assert passes(found) == (2, {"n0": 2, "1": 2}, {"n0": 2, "1": 2})
    assert trees(found) == ["Horizontal(fold, Vertical(filter, fold))", "Horizontal(map, map)"]
    assert set(fused(found)) == {"filter"}  # with the count, which nobody asks for


def test_normalize_inc() -> None:
    found = A.explain(programs.normalizeInc(A.use(XS)), duplicate=False)
    assert passes(found) == (2, {"n0": 2, "1": 1}, {"n0": 1, "1": 1})
    assert trees(found) == ["fold", "Vertical(map, map)"]


def test_quickhull_filter_max() -> None:
    """One loop: both coordinates read once; the farthest point and the points above written. `above` is a projection."""
    points = A.use(np.arange(8.0))
    found = A.explain(programs.filterMax(points, points), duplicate=False)
    assert found.loops == 1
    assert trees(found) == ["Vertical(zipWith, Horizontal(fold1, filter))"]
    assert dict(found.reads) == {"n0": 1}


def test_quadtree() -> None:
    """`initialBounds`: unzipping costs nothing, so each coordinate is read in a loop of its own; `go`: one loop."""
    xs, ys = A.use(np.arange(8.0)), A.use(np.arange(8.0) * 3)
    bounds = A.explain(robinson_programs.initial_bounds(xs, ys), duplicate=False)
    assert passes(bounds) == (2, {"n0": 2}, {"1": 4})
    boxes = A.explain(robinson_programs.quadrants(xs, ys, 4.0, 9.0), duplicate=False)
    assert boxes.loops == 1
    assert dict(boxes.reads) == {"n0": 2}
    assert [float(found) for found in A.run(robinson_programs.initial_bounds(xs, ys))] == [0, 7, 0, 21]
    sizes = [len(found[0]) for found in A.run(robinson_programs.quadrants(xs, ys, 4.0, 9.0))]
    assert sizes == [3, 1, 0, 4]


def test_closest_points() -> None:
    """Midpoint, halves, border, merge: the four loops of Table 1.1; the recursive calls stand between."""
    points = [A.use(np.random.default_rng(k).standard_normal(50)) for k in range(2)]
    program = robinson_programs.closest_points(*points)
    found = A.explain(program, duplicate=False)
    kinds = [[operation.split()[0] for operation in cluster.operations] for cluster in found.clusters]
    assert kinds.count(["filter", "filter"]) == 2
    assert ["generate", "map", "fold"] in kinds
    assert found.loops == 4 + robinson_programs.LOOPS_OF_EXTERNALS
    xs, ys = (np.random.default_rng(k).standard_normal(50) for k in range(2))
    distances = np.hypot(xs[:, None] - xs, ys[:, None] - ys) + np.diag(np.full(50, np.inf))
    assert A.run(program) == pytest.approx(distances.min(), rel=1e-12)


def test_filter_left() -> None:
    """Section 1.3.1: a map and a filter of one array, of results with unrelated sizes, in one loop."""
    xs = A.use(XS)
    found = A.explain((A.map(lambda x: x + 1, xs), A.filter(lambda x: x % 2 == 0, xs)[0]), duplicate=False)
    assert found.loops == 1
    assert dict(found.reads) == {"n0": 1}


def test_bad1_and_bad2_have_no_sizes() -> None:
    """Section 1.3.4: [Rob] rejects both before they run; accel asks for equal sizes when they are known, and raises then."""
    xs = A.use(XS)
    even, small = A.filter(lambda x: x % 2 == 0, xs)[0], A.filter(lambda x: x < 3, xs)[0]
    for program in (A.zipWith(A.add, xs, even), A.zipWith(A.add, even, small)):
        with pytest.raises(A.AccelShapeError):
            A.run(program)
