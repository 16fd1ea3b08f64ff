"""The papers' programs as dependency graphs, and what the planner makes of them.

Names of operations are those of the papers. [vB24]'s examples are planned under its free rule for pushing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from accel.ilp.plan import plan_graph
from accel.ilp.problem.cost import Weights
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.labelled.operations import Kind
from tests.ilp.brute import brute
from tests.ilp.sketch import Sketch

Draw: TypeAlias = Callable[[Sketch], None]
Sets: TypeAlias = set[frozenset[str]]

PUBLISHED = Options(cost="reads_writes", duplicate="published")
OWN_RULE = Options(duplicate=False)
"""accel's costs, and nothing computed twice."""


def drawn(draw: Draw) -> tuple[Sketch, Graph]:
    """A program's sketch and graph."""
    sketch = Sketch()
    draw(sketch)
    return sketch, sketch.finish()


def groups(*names: str) -> Sets:
    """Clusters, written as words."""
    return {frozenset(group.split()) for group in names}


def planned(sketch: Sketch, graph: Graph, options: Options = PUBLISHED) -> tuple[tuple[int, ...], Sets]:
    """The proved cost, which is brute force's, and the clusters."""
    answer = plan_graph(graph, options)
    assert answer.proved
    sizes = {} if options.sizes == "nominal" else options.sizes
    assert isinstance(options.cost, str)
    best, _ = brute(graph, options.what_costs, Weights(graph, sizes), options.duplicate)
    assert answer.cost == best
    return answer.cost, sketch.sets(answer.clustering)


def words(sets: Sets) -> str:
    """Clusters as text, in a fixed order."""
    return " | ".join(sorted(" ".join(sorted(names)) for names in sets))


# ---- [Rob]


def normalize2(s: Sketch) -> None:
    """[Rob section 1.1]."""
    s.use("xs")
    s.fold("sum1", "xs")
    s.filter("gts", "f", "xs")
    s.fold("sum2", "gts.0")
    s.map("ys1", "xs", index="sum1")
    s.map("ys2", "xs", index="sum2")


def normalize_inc(s: Sketch) -> None:
    """[Rob section 1.4, Fig. 1.9]."""
    s.use("xs")
    s.map("incs", "xs")
    s.fold("sum1", "xs")
    s.map("ys", "incs", index="sum1")


def cycle(s: Sketch) -> None:
    """[Rob section 1.4.2]."""
    s.use("xs")
    s.map("ys", "xs")
    s.fold("sum", "ys")
    s.map("zs", "ys", index="sum")


def closest_points(s: Sketch) -> None:
    """[Rob Listing 1.2]: the recursive calls are an external, the cross product reads its inputs whole."""
    s.use("pts")
    s.fold("midy", "pts")
    s.filter("aboves", "f1", "pts", index="midy")
    s.filter("belows", "f2", "pts", index="midy")
    s.add("border", Kind.BARRIER, [()], (), index="aboves belows")
    s.filter("aboveB", "f3", "pts", index="midy border")
    s.filter("belowB", "f4", "pts", index="midy border")
    s.generate("merged", "f3 f4", index="aboveB belowB")
    s.map("dists", "merged")
    s.fold("mins", "dists", index="border")


def closest_points_without_midpoint(s: Sketch) -> None:
    """[Rob Listing 1.2], the fold of `midy` counted as part of an external."""
    s.use("pts")
    s.use("midy", "")
    s.filter("aboves", "f1", "pts", index="midy")
    s.filter("belows", "f2", "pts", index="midy")
    s.add("border", Kind.BARRIER, [()], (), index="aboves belows")
    s.filter("aboveB", "f3", "pts", index="midy border")
    s.filter("belowB", "f4", "pts", index="midy border")
    s.generate("merged", "f3 f4", index="aboveB belowB")
    s.map("dists", "merged")
    s.fold("mins", "dists", index="border")


def quadtree_bounds(s: Sketch) -> None:
    """[Rob Listing 1.3], `initialBounds` with `xs` and `ys` as maps."""
    s.use("pts")
    for axis in ("xs", "ys"):
        s.map(axis, "pts")
        for end in "12":
            s.fold(axis[0] + end, axis)


def quadtree_bounds_unzipped(s: Sketch) -> None:
    """`initialBounds` over points that are two arrays, so that `xs` and `ys` cost nothing."""
    s.use("xs")
    s.use("ys")
    for axis in ("xs", "ys"):
        for end in "12":
            s.fold(axis[0] + end, axis)


def quadtree_boxes(s: Sketch) -> None:
    """[Rob Listing 1.3], the four filters of `go`."""
    s.use("ins")
    for k in "1234":
        s.filter(f"p{k}", f"f{k}", "ins", result=True)


def filter_max(s: Sketch) -> None:
    """[Rob Listing 1.4], the core of quickhull."""
    s.use("pts")
    s.map("ptsAnn", "pts")
    s.fold("maximAnn", "ptsAnn", result=True)
    s.filter("aboveAnn", "f", "ptsAnn")
    s.map("above", "aboveAnn.0", result=True)


# ---- [vB20]


def normalise2(s: Sketch) -> None:
    """[vB20 Fig. 4]: the scan has n+1 results; it is the transducer between the two sizes."""
    s.use("xs")
    _halves(s)


def expanded_normalise2(s: Sketch) -> None:
    """[vB20 Fig. 6]."""
    s.use("ys")
    s.map("xs", "ys")
    _halves(s)


def _halves(s: Sketch) -> None:
    s.fold("sum1", "xs")
    s.scan("scn", "xs", exclusive=True)
    s.fold("sum2", "scn")
    s.map("ys1", "xs", index="sum1")
    s.map("ys2", "xs", index="sum2")


# ---- [vB24]


def single_loop(s: Sketch) -> None:
    """[vB24 section 1], `reverse` as in section 2."""
    s.use("as")
    s.generate("inds")
    s.gather("bs", "inds", "as")
    s.map("cs", "as")
    s.map("ds", "cs")
    s.map("result", "bs cs ds")


def simple1(s: Sketch) -> None:
    """[vB24 section 3.3], like the next four."""
    s.use("is", "m")
    s.use("xs")
    s.map("as", "xs")
    s.gather("bs", "is", "as")


def simple2(s: Sketch) -> None:
    s.use("is1", "m")
    s.use("is2", "k")
    s.use("xs")
    s.gather("as", "is1", "xs")
    s.gather("bs", "is2", "as")


def simple3(s: Sketch) -> None:
    s.use("is", "m")
    s.use("xs")
    s.map("as", "xs", result=True)
    s.gather("bs", "is", "as")


def simple4(s: Sketch) -> None:
    s.use("is", "k")
    s.use("xs", "m n")
    s.fold("as", "xs")
    s.gather("bs", "is", "as")


def simple5(s: Sketch) -> None:
    s.use("is")
    s.use("xs")
    s.map("as", "xs")
    s.gather("bs", "is", "xs")
    s.map("cs", "as bs")


def scatter_example(s: Sketch) -> None:
    """[vB24 section 3.4, Fig. 3]."""
    s.use("xs")
    s.map("as", "xs")
    s.map("bs", "xs")
    s.scatter("result", "as", "bs")


def greedy_bottom_up_bad(s: Sketch) -> None:
    """[vB24 section 5]."""
    s.use("xs")
    s.generate("is", "n m")
    s.gather("large", "is", "xs")
    s.fold("ys", "large")
    s.fold("zs", "large")
    s.map("result", "ys", index="zs")


def greedy_top_down_bad(s: Sketch) -> None:
    """[vB24 section 5]."""
    s.use("as")
    s.map("bs", "as")
    s.map("cs", "bs")
    s.generate("ds", index="bs")
    s.map("es", "cs ds")
    s.fold("result", "es")


# ---- [Kri]


def contraction(s: Sketch) -> None:
    """[Kri Fig. 21], a fragment of Gao et al. 1993 that [Darte and Huard 2002] use; `D` adds `A` and `A` backward.

    Our text of the paper has no pictures: this is the fragment as its sources print it. H reads E shifted by one, so complete.
    """
    s.use("E0")
    s.map("A", "E0")
    s.map("B", "A")
    s.map("C", "B")
    s.backpermute("R", "n", "A")
    s.map("D", "R A")
    s.map("E", "B C D")
    s.map("F", "E")
    s.map("G", "E")
    s.map("H", "F G", index="E")
