"""The table of docs/papers.md: every example, what its paper prints, what accel gives, computed anew, and which test holds it.

`python -m tests.papers.table` prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

import accel as A
from accel.ilp.problem.options import Options
from accel.support.choices import Duplicate, Strategy
from tests.papers import berenyi_programs as ber
from tests.papers import (
    bohrium,
    graphs,
    programs,
    robinson_programs,
    test_kristensen,
    test_robinson,
    test_van_balen_2020,
)
from tests.papers.reading import summary, trees

XS = np.arange(1, 9)
FS = np.arange(8.0)
IS = np.array([3, 1, 4])


@dataclass(frozen=True, slots=True)
class Row:
    """One example. test: file and function within tests/papers."""

    figure: str
    program: str
    printed: str
    accel: Callable[[], str]
    test: str


def shown(build: Callable[[], object], duplicate: Duplicate = "published", strategy: str = "ilp") -> str:
    """Loops, passes and fusion trees of a program."""
    chosen: Strategy = "none" if strategy == "none" else "ilp"
    found = A.explain(build(), duplicate=duplicate, strategy=chosen, products="rounded", cost="memory")
    fusions = "" if strategy == "none" else "; " + ", ".join(f"`{tree}`" for tree in trees(found))
    return summary(found) + fusions


def clusters(draw: graphs.Draw, options: Options = graphs.PUBLISHED) -> str:
    """The clusters of a graph."""
    return "`" + graphs.words(graphs.planned(*graphs.drawn(draw), options)[1]) + "`"


def counts(*parts: graphs.Draw) -> str:
    """A row of [Rob] Table 1.1."""
    return ", ".join(map(str, test_robinson.row(*parts)))


def _fig_12(draw: graphs.Draw, program: programs.OfInts) -> str:
    """Loops, reads and writes of the thesis's three columns, the last one by accel."""
    _, graph = graphs.drawn(draw)
    columns = [test_van_balen_2020.row(graph, system(graph)) for system in test_van_balen_2020.SYSTEMS]
    found = A.explain(program(A.use(XS)), duplicate=False)
    ours = found.loops, test_van_balen_2020.in_n(found.reads), test_van_balen_2020.in_n(found.writes)
    return "; ".join(f"{loops}, {r}n+{rs}, {w}n+{ws}" for loops, (r, rs), (w, ws) in [*columns, ours])


def _fig_3() -> str:
    """Costs of the partitions of [Kri] Fig. 3, with and without the deletion of D."""
    return "; ".join(
        f"{bohrium.cost(problem.singleton())}, {bohrium.cost(problem.linear())}, {problem.optimal_cost()}"
        for problem in test_kristensen.python_examples()
    )


def _pair() -> tuple[A.Acc[A.Vector[np.int64]], A.Acc[A.Vector[np.int64]]]:
    ys = A.map(programs.f, A.use(XS))
    return A.map(programs.g, ys), ys


def _matrix(*shape: int) -> ber.Grid:
    return A.use(np.ones((shape[0], shape[1])))


ROBINSON = (
    Row("Table 1.1", "normalize2", "5, 4, 3, 2", partial(counts, graphs.normalize2),
        "test_robinson.py::test_table_1_1_normalize2"),
    Row("Table 1.1", "closest points", "7, 6, 4, 4", partial(counts, graphs.closest_points),
        "test_robinson.py::test_table_1_1_closest_points"),
    Row("Table 1.1", "quadtree, points unzipped", "8, 8, 2, 2",
        partial(counts, graphs.quadtree_bounds_unzipped, graphs.quadtree_boxes),
        "test_robinson.py::test_table_1_1_quadtree"),
    Row("Table 1.1", "quadtree, `xs` and `ys` as maps", "", partial(counts, graphs.quadtree_bounds, graphs.quadtree_boxes),
        "test_robinson.py::test_table_1_1_quadtree"),
    Row("Table 1.1", "quickhull", "4, 3, 2, 1", partial(counts, graphs.filter_max),
        "test_robinson.py::test_table_1_1_quickhull"),
    Row("Fig. 1.1", "normalize2", "two loops", lambda: shown(lambda: programs.normalize2(A.use(XS)), False),
        "test_robinson.py::test_normalize2"),
    Row("Fig. 1.9", "normalizeInc", "xs read twice, ys written", lambda: shown(lambda: programs.normalizeInc(A.use(XS)), False),
        "test_robinson.py::test_normalize_inc"),
    Row("Figs. 1.15, 1.16", "normalize2, objective", "51; streams 102", lambda: "; streams ".join(test_robinson.objectives()),
        "test_robinson.py::test_section_1_5_1_objective_of_normalize2"),
    Row("Listing 1.2", "closest points", "midpoint and clusters 1 to 3", lambda: clusters(graphs.closest_points),
        "test_robinson.py::test_closest_points"),
    Row("Listing 1.3", "quadtree, `go`", "one loop",
        lambda: shown(lambda: robinson_programs.quadrants(A.use(FS), A.use(FS + 1), 4.0, 4.0), False),
        "test_robinson.py::test_quadtree"),
    Row("Listing 1.4", "filterMax", "one loop", lambda: shown(lambda: programs.filterMax(A.use(FS), A.use(FS + 1)), False),
        "test_robinson.py::test_quickhull_filter_max"),
)  # fmt: skip

THESIS = (
    Row("Fig. 12", "normalise2", "5, 5n+2, 3n+2; 4, 4n+2, 2n+2; 2, 2n+2, 2n+2",
        partial(_fig_12, graphs.normalise2, programs.normalise2), "test_van_balen_2020.py::test_fig_12"),
    Row("Fig. 12", "expanded normalise2", "6, 6n+2, 4n+2; 5, 5n+2, 3n+2; 2, 2n+2, 3n+2",
        partial(_fig_12, graphs.expanded_normalise2, programs.expanded_normalise2), "test_van_balen_2020.py::test_fig_12"),
    Row("Listing 2", "expanded normalise2, first loop", "Diagonal(map, Horizontal(fold, Vertical(scanl, fold)))",
        lambda: f"`{trees(A.explain(programs.expanded_normalise2(A.use(XS)), duplicate=False))[0]}`",
        "test_van_balen_2020.py::test_fig_5_and_listing_2_trees"),
    Row("Fig. 10", "normalise2", "three locally optimal clusterings",
        lambda: f"{len(test_van_balen_2020.locally_optimal())}",
        "test_van_balen_2020.py::test_fig_10_three_locally_optimal_clusterings"),
    Row("chapter 1", "h", "one pass", lambda: shown(_pair, False),
        "test_van_balen_2020.py::test_introduction_h_is_one_pass"),
    Row("section 3.1", "dotp", "one loop",
        lambda: shown(lambda: A.fold(A.add, 0, A.zipWith(A.mul, A.use(XS), A.use(XS + 1))), False),
        "test_van_balen_2020.py::test_section_3_1_dot_product"),
    Row("section 4.3", "scanl1 . scanl1", "fuses", lambda: shown(
        lambda: A.scanl1(A.add, A.scanl1(A.add, A.use(XS))), False),
        "test_van_balen_2020.py::test_section_4_3_which_pairs_fuse_vertically"),
    Row("section 4.3", "scanr1 . scanl1", "does not fuse", lambda: shown(
        lambda: A.scanr1(A.add, A.scanl1(A.add, A.use(XS))), False),
        "test_van_balen_2020.py::test_section_4_3_which_pairs_fuse_vertically"),
    Row("section 5.2.1", "fold of a fold", "one nest", lambda: shown(
        lambda: A.fold(A.mul, 1, A.fold(A.add, 0, A.use(np.ones((2, 3, 4))))), False),
        "test_van_balen_2020.py::test_section_5_2_1_examples_of_folds"),
)  # fmt: skip

GATHERS = (
    Row("Fig. 1", "vertical", "one read, one write", lambda: shown(lambda: A.map(programs.f, A.map(programs.g, A.use(XS)))),
        "test_van_balen_2024.py::test_fig_1_vertical_horizontal_diagonal"),
    Row("Fig. 1", "diagonal", "one read, two writes", lambda: shown(_pair),
        "test_van_balen_2024.py::test_fig_1_vertical_horizontal_diagonal"),
    Row("section 1", "singleLoop", "one loop, no intermediate array", lambda: shown(lambda: programs.singleLoop(A.use(XS))),
        "test_van_balen_2024.py::test_programs_as_a_user_writes_them"),
    Row("section 3.3", "simple1", "[is:0, xs:l | bs:0]", lambda: shown(lambda: programs.simple1(A.use(IS), A.use(XS))),
        "test_van_balen_2024.py::test_programs_as_a_user_writes_them"),
    Row("section 3.3", "simple2", "[is2:0, is1:l2, xs:l1 | bs:0]",
        lambda: shown(lambda: programs.simple2(A.use(IS), A.use(IS[1:2]), A.use(XS))),
        "test_van_balen_2024.py::test_programs_as_a_user_writes_them"),
    Row("section 3.3", "simple3", "two loops", lambda: shown(lambda: programs.simple3(A.use(IS), A.use(XS))),
        "test_van_balen_2024.py::test_programs_as_a_user_writes_them"),
    Row("section 3.3", "simple4", "[is:0, xs:l | bs:0]",
        lambda: shown(lambda: programs.simple4(A.use(IS), A.use(np.ones((5, 4), np.int64)))),
        "test_van_balen_2024.py::test_programs_as_a_user_writes_them"),
    Row("section 3.3", "simple5", "[xs:0, xs:l, is:0 | cs:0]",
        lambda: shown(lambda: programs.simple5(A.use(XS - 1), A.use(XS))),
        "test_van_balen_2024.py::test_programs_as_a_user_writes_them"),
    Row("Fig. 3", "scatterExample", "`as` with the scatter", lambda: shown(lambda: programs.scatterExample(A.use(XS))),
        "test_van_balen_2024.py::test_fig_3_two_clusterings"),
    Row("section 5", "greedyBottomUpBad", "`large` is not stored", lambda: clusters(graphs.greedy_bottom_up_bad),
        "test_van_balen_2024.py::test_greedy_bottom_up_bad_stores_no_large_array"),
    Row("section 5", "greedyTopDownBad", "`cs` fuses with `es`", lambda: clusters(graphs.greedy_top_down_bad),
        "test_van_balen_2024.py::test_greedy_top_down_bad_fuses_with_the_reader"),
)  # fmt: skip

KRISTENSEN = (
    Row("Fig. 3", "Python example: ⊥, linear, optimal", "94, 58, 38", _fig_3,
        "test_kristensen.py::test_fig_3_costs_of_partitions"),
    Row("Fig. 2", "accesses of ⊥, (b), (c)", "10, 7, 4", lambda: ", ".join(map(str, test_kristensen.caption_accesses())),
        "test_kristensen.py::test_fig_2_a_cost_of_partitions_sees_reuse_that_pairs_overestimate"),
    Row("Fig. 21", "fragment, by `max_contract`, `bytes`, `robinson`", "the same, contracting most",
        lambda: clusters(graphs.contraction, Options(cost="robinson", duplicate=False)),
        "test_kristensen.py::test_fig_21_max_locality_does_not_see_contraction"),
)  # fmt: skip

BERENYI = (
    Row("eq. 1", "(A + B)(v + u)", "one operation", lambda: shown(
        lambda: ber.eq_1(_matrix(3, 8), _matrix(3, 8), A.use(FS), A.use(FS + 1))),
        "test_berenyi.py::test_equation_1_is_one_loop_without_temporaries"),
    Row("eq. 2", "A diag(g) B", "one operation", lambda: shown(lambda: ber.eq_2(_matrix(3, 8), _matrix(8, 5), A.use(FS))),
        "test_berenyi.py::test_equation_2_is_one_loop_without_temporaries"),
    Row("eqs. 3-5", "layer with batch normalisation", "one operation", lambda: shown(
        lambda: ber.eq_3_to_5(_matrix(8, 8), _matrix(6, 8), A.use(FS)), False),
        "test_berenyi.py::test_equations_3_to_5_store_y_only"),
    Row("eq. 18", "matrix times vector", "one operation", lambda: shown(lambda: ber.eq_18(_matrix(3, 8), A.use(FS)), False),
        "test_berenyi.py::test_rules_that_fuse"),
    Row("eq. 25", "nzip", "one operation", lambda: shown(lambda: ber.eq_25(A.use(FS), A.use(FS + 1)), False),
        "test_berenyi.py::test_rules_that_fuse"),
    Row("eq. 29", "dot product", "one operation", lambda: shown(lambda: ber.eq_29(A.use(FS), A.use(FS + 1)), False),
        "test_berenyi.py::test_rules_that_fuse"),
    Row("eq. 31", "(map f x, map g y)", "one operation", lambda: shown(lambda: ber.eq_31(A.use(FS), A.use(FS + 1)), False),
        "test_berenyi.py::test_equation_31_maps_of_different_arrays_stay_apart"),
    Row("eq. 32", "(map f, map g) x", "one operation", lambda: shown(lambda: ber.eq_32(A.use(FS)), False),
        "test_berenyi.py::test_rules_that_fuse"),
    Row("eq. 34", "(reduce f x, reduce g x)", "one operation", lambda: shown(lambda: ber.eq_34(A.use(FS)), False),
        "test_berenyi.py::test_rules_that_fuse"),
    Row("eq. 40", "matrix times vector, by columns", "one operation",
        lambda: shown(lambda: ber.eq_40(_matrix(3, 8), A.use(FS)), False), "test_berenyi.py::test_rules_that_fuse"),
    Row("eq. 47", "the same, subdivided", "one operation", lambda: shown(lambda: ber.eq_47(_matrix(3, 8), A.use(FS), 4), False),
        "test_berenyi.py::test_rules_that_fuse"),
    Row("eq. 51", "matrix times matrix", "one nest", lambda: shown(lambda: ber.eq_51(_matrix(3, 8), _matrix(8, 5))),
        "test_berenyi.py::test_equation_51_is_one_loop_nest"),
)  # fmt: skip

PAPERS: Mapping[str, tuple[Row, ...]] = MappingProxyType(
    {"[Rob]": ROBINSON, "[vB20]": THESIS, "[vB24]": GATHERS, "[Kri]": KRISTENSEN, "[Ber]": BERENYI}
)


def table(rows: tuple[Row, ...]) -> Iterator[str]:
    """The lines of one paper's table."""
    yield "| where | program | printed | accel | test |"
    yield "| --- | --- | --- | --- | --- |"
    for row in rows:
        file, _, function = row.test.partition("::")
        printed = row.printed.replace("|", "\\|")
        accel = row.accel().replace("|", "\\|")
        yield f"| {row.figure} | {row.program} | {printed} | {accel} | `{file}` `{function}` |"


if __name__ == "__main__":
    for paper, rows in PAPERS.items():
        print(f"{paper}\n", *table(rows), "", sep="\n")
