"""The papers' programs as dependency graphs: what fuses, and what it costs, as the papers print it.

[vB24]'s examples are planned under its free rule for pushing (`duplicate="published"`) and with its reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accel.ilp.brute import brute
from accel.ilp.cost import Weights
from accel.ilp.graph import Graph
from accel.ilp.options import Options
from accel.ilp.plan import plan_graph
from tests.ilp.sketch import Sketch

PUBLISHED = Options(cost="reads_writes", duplicate="published")


def _groups(*names: str) -> set[frozenset[str]]:
    return {frozenset(group.split()) for group in names}


def _plan(sketch: Sketch, graph: Graph, options: Options = PUBLISHED) -> tuple[tuple[int, ...], set[frozenset[str]]]:
    answer = plan_graph(graph, options)
    assert answer.proved
    sizes = {} if options.sizes == "nominal" else options.sizes
    best, _ = brute(graph, options.what_costs, Weights(graph, sizes), options.duplicate)
    assert answer.cost == best
    return answer.cost, sketch.sets(answer.clustering)


def single_loop(s: Sketch) -> None:
    s.use("as")
    s.generate("inds")
    s.gather("bs", "inds", "as")
    s.map("cs", "as")
    s.map("ds", "cs")
    s.map("result", "bs cs ds")


def simple1(s: Sketch) -> None:
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
    s.use("xs")
    s.map("as", "xs")
    s.map("bs", "xs")
    s.scatter("result", "as", "bs")


# name, clusters, reads and writes
VAN_BALEN_2024: list[tuple[Callable[[Sketch], None], set[frozenset[str]], int]] = [
    (single_loop, _groups("inds bs cs ds result"), 3),
    (simple1, _groups("as bs"), 3),
    (simple2, _groups("as bs"), 4),
    (simple3, _groups("as", "bs"), 5),
    (simple4, _groups("as bs"), 3),
    (simple5, _groups("as bs cs"), 4),
    (scatter_example, _groups("bs", "as result"), 4),
]


@pytest.mark.parametrize(("draw", "clusters", "cost"), VAN_BALEN_2024, ids=lambda value: getattr(value, "__name__", ""))
def test_van_balen_2024(draw: Callable[[Sketch], None], clusters: set[frozenset[str]], cost: int) -> None:
    sketch = Sketch()
    draw(sketch)
    assert _plan(sketch, sketch.finish()) == ((cost,), clusters)


def test_the_two_readers_of_simple5_are_pushed_with_its_producer() -> None:
    """C8 of our notes: they cannot both be fused with the producer of xs."""
    sketch = Sketch()
    sketch.use("is")
    sketch.use("us")
    sketch.map("xs", "us")
    sketch.map("as", "xs")
    sketch.gather("bs", "is", "xs")
    sketch.map("cs", "as bs")
    assert _plan(sketch, sketch.finish())[0] == (6,)


def _greedy_bottom_up_bad() -> tuple[Sketch, Graph]:
    s = Sketch()
    s.use("xs")
    s.generate("is", "n m")
    s.gather("large", "is", "xs")
    s.fold("ys", "large")
    s.fold("zs", "large")
    s.map("result", "ys", index="zs")
    return s, s.finish()


def test_greedy_bottom_up_bad_by_bytes() -> None:
    """Fusing `result` into `ys` would force the large gathered array to be stored [vB24 section 5]."""
    s, graph = _greedy_bottom_up_bad()
    actual = {s.extent("n").variable: 20, s.extent("m").variable: 1_000_000}
    sizes = {size: extent for size, extent in actual.items() if size is not None}
    options = Options(cost="bytes", duplicate="published", sizes=sizes)
    cost, clusters = _plan(s, graph, options)
    assert clusters == _groups("is large ys zs", "result")
    assert cost == (4 * (20 * 1_000_000 + 20 + 20 + 20 + 20),)


def test_greedy_bottom_up_bad_is_a_tie_when_all_arrays_count_the_same() -> None:
    s, graph = _greedy_bottom_up_bad()
    assert _plan(s, graph)[0] == (5,)


def test_greedy_top_down_bad() -> None:
    """`cs` is fused away with its reader, not kept beside its maker [vB24 section 5]."""
    s = Sketch()
    s.use("as")
    s.map("bs", "as")
    s.map("cs", "bs")
    s.generate("ds", index="bs")
    s.map("es", "cs ds")
    s.fold("result", "es")
    cost, clusters = _plan(s, s.finish())
    assert clusters == _groups("bs", "cs ds es result")
    assert cost == (4,)


def test_normalize2_with_filters_needs_two_loops() -> None:
    """[Rob section 1.1]: the filter and both sums in one loop, both divisions in another."""
    s = Sketch()
    s.use("xs")
    s.fold("sum1", "xs")
    s.filter("gts", "f", "xs")
    s.fold("sum2", "gts.0")
    s.map("ys1", "xs", index="sum1")
    s.map("ys2", "xs", index="sum2")
    graph = s.finish()
    for options in (Options(), Options(cost="robinson"), PUBLISHED):
        assert _plan(s, graph, options)[1] == _groups("sum1 gts sum2", "ys1 ys2")


def test_thesis_normalise2_with_a_scan_needs_two_loops() -> None:
    """[vB20 Fig. 12]: the scan has n+1 results; it is the transducer between the two sizes. 2n+2 reads, 2n+2 writes."""
    s = Sketch()
    s.use("xs")
    s.fold("sum1", "xs")
    s.scan("scn", "xs", exclusive=True)
    s.fold("sum2", "scn")
    s.map("ys1", "xs", index="sum1")
    s.map("ys2", "xs", index="sum2")
    cost, clusters = _plan(s, s.finish(), Options())
    assert clusters == _groups("sum1 scn sum2", "ys1 ys2")
    n = 1024 * 4
    assert cost == (2 * n + 2 * n + 2 * 4, 2, 2)  # the two reads of sums are by index and do not count


def test_expanded_thesis_normalise2_keeps_what_it_fuses() -> None:
    """[vB20 Fig. 9, 12]: xs is made by a map, kept for the second loop (diagonal): 3n+2 writes."""
    s = Sketch()
    s.use("zs")
    s.map("xs", "zs")
    s.fold("sum1", "xs")
    s.scan("scn", "xs", exclusive=True)
    s.fold("sum2", "scn")
    s.map("ys1", "xs", index="sum1")
    s.map("ys2", "xs", index="sum2")
    cost, clusters = _plan(s, s.finish(), Options())
    assert clusters == _groups("xs sum1 scn sum2", "ys1 ys2")
    assert cost == (2 * 4096 + 3 * 4096 + 2 * 4, 3, 2)


def test_normalize_inc_accesses_arrays_three_times() -> None:
    """[Rob section 1.2]: two reads and the result; `incs` is computed where it is divided, never stored."""
    s = Sketch()
    s.use("xs")
    s.map("incs", "xs")
    s.fold("sum1", "xs")
    s.map("ys", "incs", index="sum1")
    cost, clusters = _plan(s, s.finish(), Options(cost="bytes"))
    assert clusters == _groups("sum1", "incs ys")
    assert cost == (3 * 4096 + 4,)


def test_quickhull_filter_max_is_one_loop() -> None:
    s = Sketch()
    s.use("pts")
    s.map("ann", "pts")
    s.fold("max", "ann", result=True)
    s.filter("above", "f", "ann")
    s.map("points", "above.0", result=True)
    assert _plan(s, s.finish(), Options())[1] == _groups("ann max above points")


def test_quadtree_bounds_and_boxes() -> None:
    """[Rob section 1.6]: four folds of two maps of one array, and four filters of one array, are one loop each."""
    bounds = Sketch()
    bounds.use("pts")
    for axis in ("xs", "ys"):
        bounds.map(axis, "pts")
        for end in "12":
            bounds.fold(axis + end, axis)
    cost, clusters = _plan(bounds, bounds.finish())
    assert (cost, len(clusters)) == ((5,), 1)
    boxes = Sketch()
    boxes.use("ins")
    for k in range(4):
        boxes.filter(f"p{k}", f"f{k}", "ins", result=True)
    assert len(_plan(boxes, boxes.finish())[1]) == 1


def test_closest_points() -> None:
    """[Rob section 1.6]: `aboves` with `belows`, and the two border filters, share a loop each; externals are barriers."""
    s = Sketch()
    s.use("pts")
    s.fold("midy", "pts")
    s.filter("aboves", "f1", "pts", index="midy")
    s.filter("belows", "f2", "pts", index="midy")
    s.generate("external", "", index="aboves belows", force=True)
    s.filter("aboveB", "f3", "pts", index="midy external")
    s.filter("belowB", "f4", "pts", index="midy external")
    s.generate("merged", "f3 f4", index="aboveB belowB")  # the cross product
    s.map("dists", "merged")
    s.fold("mins", "dists", index="external")
    clusters = _plan(s, s.finish(), Options())[1]
    assert frozenset({"aboves", "belows"}) in clusters
    assert frozenset({"merged", "dists", "mins"}) in clusters
    assert frozenset({"aboveB", "belowB"}) in clusters
