"""Small graphs on which published formulations, or easy mistakes, go wrong; the answers are known beforehand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accel.ilp.plan import plan_graph
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.options import Options
from tests.ilp.agreement import FORMULATIONS, expressible
from tests.ilp.brute import brute
from tests.ilp.sketch import Sketch

PUBLISHED = Options(cost="reads_writes", duplicate="published")
DEFAULT = Options(duplicate="gathers")


def solve(sketch: Sketch, options: Options = PUBLISHED) -> tuple[tuple[int, ...], list[str]]:
    """The optimal cost, equal to brute force's by every formulation, and the clusters of ours as sorted words."""
    graph = sketch.finish()
    answer = plan_graph(graph, options)
    best = brute(graph, options.what_costs, Weights(graph, {}), options.duplicate)[0]
    for formulation in expressible(graph, FORMULATIONS):
        found = plan_graph(graph, replace(options, formulation=formulation))
        assert (found.cost, found.proved) == (best, True), formulation
    return answer.cost, sorted(" ".join(sorted(cluster)) for cluster in sketch.sets(answer.clustering))


def test_c1_the_source_of_a_scatter_is_visited_whole() -> None:
    """[vB24 Fig. 4] lacks Table 1's order of the source: its optimum of 5 scatters only what is gathered."""
    s = Sketch()
    s.use("xs")
    s.use("is")
    s.generate("d0")
    s.map("a", "xs")
    s.scatter("s", "a", "d0")
    s.gather("b", "is", "a")
    assert solve(s) == ((7,), ["a s", "b", "d0"])


@pytest.mark.parametrize("size", ["n", "m"])
def test_c2_c3_loops_without_common_data_stay_apart(size: str) -> None:
    s = Sketch()
    s.use("xs")
    s.use("ys", size)
    s.map("a", "xs")
    s.map("b", "ys")
    assert solve(s, DEFAULT)[1] == ["a", "b"]


def test_c4_c5_sums_of_an_array_and_of_what_is_filtered_from_it_meet_in_the_filter() -> None:
    """The concestor of [Rob section 1.3.6]: both sums fuse if the filter is with them, not otherwise."""
    for force, clusters in ((False, ["gts sum1 sum2"]), (True, ["gts sum1", "sum2"])):
        s = Sketch()
        s.use("xs")
        s.fold("sum1", "xs")
        s.filter("gts", "f", "xs", force=force)
        s.fold("sum2", "gts.0")
        assert solve(s, DEFAULT)[1] == clusters


def test_c5_a_sum_of_both_sums_does_not_bring_them_together_without_the_filter() -> None:
    """A scalar reads both sums: but their loops are different ones unless the filter is there."""
    s = Sketch()
    s.use("xs")
    s.use("zs")
    s.fold("sum1", "xs")
    s.filter("gts", "f", "xs", force=True)
    s.fold("sum2", "gts.0")
    s.map("both", "sum1 sum2")
    cost, clusters = solve(s, DEFAULT)
    assert "both gts sum1" in clusters or "both sum2" in clusters
    assert cost[2] == 2


def test_c6_a_gather_by_filtered_indices_fuses_with_filter_and_source() -> None:
    s = Sketch()
    s.use("xs")
    s.use("zs")
    s.map("m", "zs")
    s.filter("f", "k", "xs")
    s.gather("b", "f.0", "m")
    assert solve(s) == ((3,), ["b f m"])


def test_c7_a_filter_is_not_pushed() -> None:
    s = Sketch()
    s.use("xs")
    s.use("is", "m")
    s.filter("f", "k", "xs")
    s.gather("b", "is", "f.0")
    assert solve(s) == ((5,), ["b", "f"])


def test_c9_of_two_crossing_reads_one_is_shared() -> None:
    """a1, a2 read u; b1, b2 read v; b1 needs a1, a2 needs b2: two shared reads would be a circle of clusters."""
    s = Sketch()
    s.use("u")
    s.use("v")
    s.map("a1", "u")
    s.map("b1", "v", index="a1")
    s.map("b2", "v")
    s.map("a2", "u", index="b2")
    cost, clusters = solve(s)
    assert cost == (3 + 4,)
    assert len(clusters) == 3


def test_c10_a_map_fuses_with_one_of_two_scans_in_opposite_directions() -> None:
    s = Sketch()
    s.use("u")
    s.map("m", "u")
    s.scan("l", "m")
    s.scan("r", "m", backward=True)
    assert solve(s)[0] == (5,)


def test_c11_a_stored_gather_is_not_pushed() -> None:
    s = Sketch()
    s.use("i1")
    s.use("i2")
    s.use("xs")
    s.map("m", "xs")
    s.gather("a", "i1", "m", result=True)
    s.gather("b", "i2", "a")
    assert solve(s)[0] == (6,)


def test_c12_sources_of_one_gather_are_read_together() -> None:
    s = Sketch()
    s.use("is")
    s.use("xs")
    s.map("m", "xs")
    s.gather("b", "is", "m xs")
    s.map("out", "b")
    assert solve(s) == ((3,), ["b m out"])


# ---- one nest


def test_rows_minus_their_maxima_are_two_loops() -> None:
    """xs - replicate(rowmax): pushing the fold into the replicated shape would compute it once per element."""
    s = Sketch()
    s.use("xs", "n m")
    s.fold("max", "xs", exact=True)
    s.backpermute("wide", "n m", "max")
    s.map("out", "xs wide")
    assert solve(s, DEFAULT)[1] == ["max", "out wide"]


def test_row_softmax_is_linear() -> None:
    """Three loops, each over the elements; no fold is repeated per element, whatever is cheap is recomputed at most once."""
    s = Sketch()
    s.use("xs", "n m")
    s.fold("max", "xs", exact=True)
    s.backpermute("wide", "n m", "max")
    s.map("exp", "xs wide")
    s.fold("sum", "exp")
    s.backpermute("wide_sum", "n m", "sum")
    s.map("out", "exp wide_sum")
    assert solve(s, DEFAULT)[1] == ["exp sum wide", "max", "out wide_sum"]


def test_reversed_row_sums_run_at_the_mapped_row() -> None:
    """A fold may be pushed to a gather that is no larger than its source."""
    s = Sketch()
    s.use("xs", "n m")
    s.fold("sums", "xs")
    s.backpermute("first", "k", "sums", shrinking=True)
    s.map("out", "first")
    assert solve(s, DEFAULT)[1] == ["first out sums"]


def test_loops_of_different_extents_do_not_stand_at_one_depth() -> None:
    """Row sums of an n x m and an n x k matrix, added: two inner loops, so one of the sums is stored."""
    s = Sketch()
    s.use("a", "n m")
    s.use("b", "n k")
    s.fold("sum_a", "a")
    s.fold("sum_b", "b")
    s.map("both", "sum_a sum_b")
    assert len(solve(s, DEFAULT)[1]) == 2


def test_loops_of_one_extent_share_a_nest() -> None:
    s = Sketch()
    s.use("a", "n m")
    s.use("b", "n m")
    s.fold("sum_a", "a")
    s.fold("sum_b", "b")
    s.map("both", "sum_a sum_b")
    s.fold("all", "both")
    assert solve(s, DEFAULT)[1] == ["all both sum_a sum_b"]


def test_no_loop_stands_under_the_guard_of_an_exclusive_scan() -> None:
    """The scan of row sums has n+1 results: in its last iteration there is no row."""
    s = Sketch()
    s.use("a", "n m")
    s.fold("sums", "a")
    s.scan("offsets", "sums", exclusive=True)
    assert solve(s, DEFAULT)[1] == ["offsets", "sums"]


def test_scans_of_scans_share_a_loop_of_n_plus_2() -> None:
    s = Sketch()
    s.use("a")
    s.scan("once", "a", exclusive=True)
    s.scan("twice", "once", exclusive=True)
    s.fold("total", "twice")
    s.fold("plain", "a")
    assert solve(s, DEFAULT)[1] == ["once plain total twice"]


def test_an_exclusive_scan_of_filtered_elements_is_a_loop_of_its_own() -> None:
    s = Sketch()
    s.use("a")
    s.filter("f", "k", "a")
    s.scan("scan", "f.0", exclusive=True)
    assert solve(s, DEFAULT)[1] == ["f", "scan"]


def test_inexact_folds_are_not_read_backward() -> None:
    """A right scan and a sum of one map: in one loop only if the sum may be taken in any order."""
    for exact, clusters in ((True, ["m right sum"]), (False, ["m sum", "right"])):
        s = Sketch()
        s.use("a")
        s.map("m", "a", element=s.read("a")[0].element)
        s.scan("right", "m", backward=True)
        s.fold("sum", "m", exact=exact)
        found = solve(s, DEFAULT)[1]
        assert found == clusters or (not exact and found == ["m right", "sum"])


def test_totals_of_backward_scans_of_matrices_come_from_an_earlier_loop() -> None:
    s = Sketch()
    s.use("a", "n m")
    s.scan("scan", "a", backward=True, total=True)
    s.map("out", "scan.1")
    s.map("same", "scan.0")
    assert solve(s, DEFAULT)[1] == ["out", "same scan"]


def test_work_that_is_done_again_is_cheap() -> None:
    """A replicated chain of maps is recomputed up to 32 operations, stored beyond."""
    for operations, clusters in ((16, ["a b wide"]), (17, ["a b", "wide"])):
        s = Sketch()
        s.use("x")
        s.map("a", "x", operations=operations)
        s.map("b", "a", operations=operations)
        s.backpermute("wide", "n m", "b")
        s.use("unrelated", "n m")
        found = solve(s, DEFAULT)[1]
        assert found == clusters or (operations == 17 and found == ["a", "b wide"])


def test_a_maker_is_pushed_only_with_its_reader() -> None:
    """Both are too much for a gather that may grow; the first alone would read only what is gathered, but feeds the second."""
    s = Sketch()
    s.use("x")
    s.map("a", "x", operations=20)
    s.map("b", "a", operations=20)
    s.backpermute("few", "16", "b")
    assert solve(s, DEFAULT)[0][0] == 4 * (1024 + 1024 + 16 + 16)


def test_duplicate_false_never_repeats_work() -> None:
    s = Sketch()
    s.use("x")
    s.map("a", "x")
    s.backpermute("wide", "n m", "a")
    assert solve(s, Options(duplicate=False))[1] == ["a", "wide"]


def test_a_pushed_fold_waits_for_no_other_fold() -> None:
    """Rows are chosen by a fold over rows: {is, g, sums} would need two loops over m, one after the other."""
    s = Sketch()
    s.use("choice", "n m")
    s.use("rows", "n m")
    s.fold("is", "choice", exact=True)
    s.fold("sums", "rows")
    s.gather("g", "is", "sums")
    cost, clusters = solve(s)
    assert len(clusters) == 2
    assert cost == (2 + 1 + 1 + 1,)


def test_sums_over_two_sizes_do_not_meet_where_the_filter_runs_the_other_way() -> None:
    """Right scans draw both sums backward, where the filter between their sizes cannot be."""
    s = Sketch()
    s.use("xs")
    s.filter("f", "k", "xs")
    s.scan("right_f", "f.0", backward=True)
    s.fold("sum_f", "f.0", exact=True)
    s.scan("right", "xs", backward=True)
    s.fold("sum", "xs", exact=True)
    s.map("both", "sum_f sum")
    clusters = solve(s, DEFAULT)[1]
    assert not any({"sum", "sum_f"} <= set(cluster.split()) and "f" not in cluster.split() for cluster in clusters)
    for model in ("clusters", "intermediates", "reads_writes", "robinson"):
        solve(s, Options(cost=model, duplicate="gathers"))
