"""[vB20]: Fig. 12 in both versions and all columns, Fig. 10, Listing 2, and the examples of chapters 1 to 5."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import accel as A
from accel.ilp.legality.checker import refusal
from accel.ilp.problem.clustering import Clustering
from accel.ilp.problem.decode import clustering
from accel.ilp.problem.graph import Graph
from tests.papers import graphs, programs
from tests.papers.fusion_models import Partition, accesses, partitions, stream_fusion, unfused
from tests.papers.graphs import Draw, drawn, groups, planned
from tests.papers.reading import fused, kept, passes, trees

XS = np.arange(1, 9)


def explained(program: object, strategy: str = "ilp") -> A.Explanation:
    """Nothing is computed twice."""
    return A.explain(program, duplicate=False, strategy="none" if strategy == "none" else "ilp")


def in_n(counts: Mapping[str, int]) -> tuple[int, int]:
    """`a n + b` as (a, b): the thesis counts the n+1 elements of a scan as n."""
    return sum(count for size, count in counts.items() if size != "1"), counts.get("1", 0)


def row(graph: Graph, partition: Partition) -> tuple[int, tuple[int, int], tuple[int, int]]:
    """A column of Fig. 12: loops, reads and writes."""
    reads, writes = accesses(graph, partition)
    return len(partition), (reads[1], reads[0]), (writes[1], writes[0])


SYSTEMS = (unfused, stream_fusion)

# Fig. 12 as printed: loops, reads (a n + b), writes.
FIG_12 = [
    (graphs.normalise2, programs.normalise2, (5, (5, 2), (3, 2)), (4, (4, 2), (2, 2)), (2, (2, 2), (2, 2))),
    (graphs.expanded_normalise2, programs.expanded_normalise2, (6, (6, 2), (4, 2)), (5, (5, 2), (3, 2)), (2, (2, 2), (3, 2))),
]  # fmt: skip


@pytest.mark.parametrize("case", FIG_12, ids=["normalise2", "expanded normalise2"])
def test_fig_12(case: tuple[Draw, programs.OfInts, object, object, object]) -> None:
    draw, program, printed_unfused, printed_stream, printed_optimal = case
    _, graph = drawn(draw)
    assert row(graph, unfused(graph)) == printed_unfused
    assert row(graph, stream_fusion(graph)) == printed_stream
    for strategy, printed in (("none", printed_unfused), ("ilp", printed_optimal)):
        found = explained(program(A.use(XS)), strategy)
        assert (found.loops, in_n(found.reads), in_n(found.writes)) == printed
    assert explained(program(A.use(XS))).proved


def test_fig_12_with_work_done_again() -> None:
    """What no system of the thesis does: both loops compute xs, so that it is not written. normalise2 has nothing to copy."""
    for program in (programs.normalise2, programs.expanded_normalise2):
        found = A.explain(program(A.use(XS)), duplicate=True)
        assert (found.loops, in_n(found.reads), in_n(found.writes)) == (2, (2, 2), (2, 2))
        assert found.proved
        assert [copy.original for copy in found.copies] == (
            ["map %1"] if program is programs.expanded_normalise2 else []
        )


def test_fig_4_and_9_clusters() -> None:
    """{sum1, scn, sum2}, {ys1, ys2}; in the extended version with xs."""
    assert planned(*drawn(graphs.normalise2), graphs.OWN_RULE)[1] == groups("sum1 scn sum2", "ys1 ys2")
    expanded = planned(*drawn(graphs.expanded_normalise2), graphs.OWN_RULE)
    assert expanded[1] == groups("xs sum1 scn sum2", "ys1 ys2")


def test_fig_5_and_listing_2_trees() -> None:
    """scn fuses vertically with sum2, sum1 horizontally beside them, xs diagonally before: word for word Listing 2."""
    plain, expanded = explained(programs.normalise2(A.use(XS))), explained(programs.expanded_normalise2(A.use(XS)))
    assert trees(plain)[0] == "Horizontal(fold, Vertical(scanl, fold))"
    assert trees(expanded)[0] == "Diagonal(map, Horizontal(fold, Vertical(scanl, fold)))"
    assert trees(plain)[1] == trees(expanded)[1] == "Horizontal(map, map)"
    assert (fused(expanded), kept(expanded)) == (["scanl"], ["map"])


def locally_optimal() -> list[str]:
    """The clusterings of normalise2 of which no two clusters can be fused any more."""
    sketch, graph = drawn(graphs.normalise2)
    legal = [each for each in partitions([node.label for node in graph.operations]) if _is_legal(graph, each)]
    local = [each for each in legal if not any(_merges(each, other) for other in legal)]
    names = {label: name for name, label in sketch.labels.items()}
    return sorted(graphs.words({frozenset(names[k] for k in block) for block in each}) for each in local)


def test_fig_10_three_locally_optimal_clusterings() -> None:
    """The optimum, and two from which no single fusion leads on."""
    assert locally_optimal() == [
        "scn sum1 sum2 | ys1 ys2",
        "scn sum2 ys1 | sum1 | ys2",
        "scn sum2 | sum1 ys2 | ys1",
    ]


def _is_legal(graph: Graph, partition: Partition) -> bool:
    made: Clustering | None = clustering(graph, partition)
    return made is not None and len(made.clusters) == len(partition) + 1 and refusal(graph, made, False) is None


def _merges(partition: Partition, other: Partition) -> bool:
    """Whether the second is the first with two blocks merged."""
    return len(other) == len(partition) - 1 and all(any(block <= large for large in other) for block in partition)


# ---- chapters 1 to 3


def test_introduction_h_is_one_pass() -> None:
    """h xs = (map g ys, ys): diagonal, no work done twice; inlining would read twice, or compute f twice."""
    ys = A.map(programs.f, A.use(XS))
    found = explained((A.map(programs.g, ys), ys))
    assert trees(found) == ["Diagonal(map, map)"]
    assert passes(found) == (1, {"n0": 1}, {"n0": 2})


def test_section_2_1_map_fusion_removes_the_array_between() -> None:
    """Two reads and two writes per element become one of each."""
    program = A.map(programs.f, A.map(programs.g, A.use(XS)))
    assert passes(explained(program, "none")) == (2, {"n0": 2}, {"n0": 2})
    assert passes(explained(program)) == (1, {"n0": 1}, {"n0": 1})


def test_section_2_1_1_horizontal_fusion_reads_once() -> None:
    xs = A.use(XS)
    found = explained((A.map(programs.f, xs), A.map(programs.g, xs)))
    assert trees(found) == ["Horizontal(map, map)"]
    assert passes(found) == (1, {"n0": 1}, {"n0": 2})


def test_section_2_2_both_inputs_of_a_zip_fuse() -> None:
    """Of the systems of Fig. 2, foldr/build fuses one input of a zip only."""
    xs, ys = A.use(XS), A.use(XS + 1)
    found = explained(A.zipWith(A.add, A.map(programs.f, xs), A.map(programs.g, ys)))
    assert trees(found) == ["Vertical(map, Vertical(map, zipWith))"]
    assert fused(found) == ["map", "map"]


def test_section_3_1_dot_product() -> None:
    found = explained(A.fold(A.add, 0, A.zipWith(A.mul, A.use(XS), A.use(XS + 1))))
    assert trees(found) == ["Vertical(zipWith, fold)"]
    assert passes(found) == (1, {"n0": 2}, {"1": 1})


def test_section_3_1_nested_parallelism_is_rejected() -> None:
    """`matvecmul` by a dot product within `generate`."""
    matrix, vector = A.use(np.ones((3, 4))), A.use(np.ones(4))

    def entry(ix: A.Exp[tuple[int]]) -> A.Exp[np.float64]:
        row = A.backpermute((4,), lambda k: A.index(A.unindex(ix)[0], A.unindex(k)[0]), matrix)
        return A.the(A.fold(A.add, 0, A.zipWith(A.mul, vector, row)))

    with pytest.raises(A.AccelStagingError, match="nested parallelism"):
        A.generate(A.index(3), entry)


def test_section_3_1_1_seven() -> None:
    """The array of 0 to 11 in four rows of three, at (2, 1)."""
    assert A.run(A.unit(A.use(np.arange(12).reshape(4, 3))[2, 1])) == 7


def test_section_3_2_footnote_an_expensive_map_before_a_large_backpermute_is_done_once() -> None:
    """Delayed arrays would repeat it once per element of the large array."""

    def slow(x: A.Exp[np.int64]) -> A.Exp[np.int64]:
        return A.while_(lambda v: v < 1000, lambda v: v * 2 + 1, x)

    program = A.replicate((1000, A.All), A.map(slow, A.use(XS)))
    assert trees(explained(program)) == ["map", "replicate"]
    assert trees(A.explain(program, duplicate=True)) == ["map", "replicate"]
    assert trees(A.explain(program, duplicate="published")) == ["Vertical(map:l, replicate)"]


# ---- chapters 4 and 5


def test_section_4_3_which_pairs_fuse_vertically() -> None:
    """`scanl . scanl` and `permute . backpermute` do; `scanr . scanl` and `backpermute . permute` do not."""
    xs, zeros = A.use(XS), A.fill((8,), A.constant(0, np.int64))

    def permuted(array: programs.Ints) -> programs.Ints:
        return A.permute(A.add, zeros, A.just, array)

    assert trees(explained(A.scanl1(A.add, A.scanl1(A.add, xs)))) == ["Vertical(scanl1, scanl1)"]
    assert trees(explained(A.scanl(A.add, 0, A.scanl(A.add, 0, xs)))) == ["Vertical(scanl, scanl)"]
    assert trees(explained(A.scanr1(A.add, A.scanl1(A.add, xs)))) == ["scanl1", "scanr1:1"]
    assert trees(explained(permuted(A.reverse(xs))))[1] == "Vertical(reverse, Vertical(permute, scatter))"
    assert trees(explained(A.reverse(permuted(xs))))[1:] == ["Vertical(permute, scatter)", "reverse"]


def test_section_5_2_1_examples_of_folds() -> None:
    """`fold` over a matrix, and a fold of a fold: one nest each, of which only the result is written."""
    one = explained(A.fold(A.add, 0, A.use(np.ones((3, 4)))))
    two = explained(A.fold(A.mul, 1, A.fold(A.add, 0, A.use(np.ones((2, 3, 4))))))
    assert passes(one) == (1, {"n0*n1": 1}, {"n0": 1})
    assert (trees(two), passes(two)) == (["Vertical(fold, fold)"], (1, {"n0*n1*n2": 1}, {"n0": 1}))
