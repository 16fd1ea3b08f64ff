"""The legality checker: one clustering for every rule of docs/ilp.md that it breaks, with the reason that is given."""

from __future__ import annotations

import pytest

from accel.ilp.legality.checker import Signature, cluster_refusal, refusal
from accel.ilp.legality.refusal import Refusal
from accel.ilp.problem.clustering import BACKWARD, FORWARD, Cluster, Clustering, Traversal
from accel.labelled.array import Array
from accel.support.choices import Duplicate
from tests.ilp.rules import merge
from tests.ilp.sketch import Sketch


def why(sketch: Sketch, cluster: str, duplicate: Duplicate = True) -> Refusal | None:
    """Why the cluster `"a:0 b:1 c:g"` (operation, its order: 0, 1 or a gather) is refused."""
    orders: dict[int, Traversal] = {}
    for part in cluster.split():
        name, _, order = part.partition(":")
        given = {"0": FORWARD, "1": BACKWARD}.get(order)
        orders[sketch.labels[name]] = given or Traversal(sketch.labels[order], False)
    labels = tuple(sorted(orders))
    return cluster_refusal(sketch.finish(), Cluster(labels, tuple(orders[label] for label in labels)), duplicate)


def chain() -> Sketch:
    s = Sketch()
    s.use("xs")
    s.use("is", "m")
    s.map("a", "xs")
    s.map("b", "a")
    s.gather("g", "is", "b")
    return s


def test_legal_clusters() -> None:
    for cluster in ("a:0 b:0", "a:1 b:1", "a:g b:g g:0", "b:g g:1", "g:0"):
        assert why(chain(), cluster) is None


@pytest.mark.parametrize(
    ("cluster", "reason"),
    [
        ("a:0 b:1", "no rule fuses %3"),  # one order for maker and reader
        ("b:0 g:0", "no rule fuses %4"),  # the source of a gather is read in the gather's order
        ("a:g b:g", "which is in another cluster"),
        ("a:0 g:0", "nothing connects"),
    ],
)
def test_dataflow(cluster: str, reason: str) -> None:
    assert reason in str(why(chain(), cluster))


def test_what_is_stored_is_visited_whole() -> None:
    s = chain()
    s.map("other", "b")
    assert "reads it otherwise" in str(why(s, "b:g g:0"))
    s = chain()
    s.results |= set(s.read("b"))
    assert "is stored, but made in the order of" in str(why(s, "b:g g:0"))


def test_orders_of_operations() -> None:
    s = Sketch()
    s.use("xs")
    s.use("m", "n k")
    s.scan("left", "xs")
    s.scan("right", "xs", backward=True)
    s.filter("f", "k1", "xs")
    s.fold("exact", "xs", exact=True)
    s.fold("inexact", "xs")
    s.fold("rows", "m", exact=True)
    s.fold("whole", "m", exact=True, dimensions=2)
    s.scatter("scatter", "xs", "xs")
    assert why(s, "exact:1") is None
    assert why(s, "whole:1") is None
    for cluster in ("left:1", "right:0", "f:1", "inexact:1", "rows:1", "scatter:1"):
        assert str(why(s, cluster)).endswith(("runs forward only", "runs backward only"))


def test_what_cannot_be_pushed() -> None:
    for make in (Sketch.scan, Sketch.filter, Sketch.scatter):
        s = Sketch()
        s.use("xs")
        s.use("is", "m")
        match make:
            case Sketch.scan:
                s.scan("made", "xs")
            case Sketch.filter:
                s.filter("made", "k", "xs")
            case _:
                s.scatter("made", "xs", "xs")
        s.gather("g", "is", "made.0")
        assert str(why(s, "made:g g:0")) == "D5: %2 cannot be pushed to a gather"


def test_what_is_read_by_index_comes_from_an_earlier_cluster() -> None:
    s = Sketch()
    s.use("xs")
    s.map("a", "xs")
    s.map("b", "xs", index="a")
    assert "no rule fuses" in str(why(s, "a:0 b:0"))


def test_a_scatter_shares_no_loop_with_its_destination_nor_with_readers_of_its_result() -> None:
    s = Sketch()
    s.use("xs")
    s.map("d", "xs")
    s.scatter("s", "xs", "d")
    s.map("after", "s")
    for cluster in ("d:0 s:0", "s:0 after:0"):
        assert "no rule fuses" in str(why(s, cluster))


def test_loops() -> None:
    s = Sketch()
    s.use("a", "n m")
    s.use("b", "n k")
    s.fold("sum_a", "a")
    s.fold("sum_b", "b")
    s.map("both", "sum_a sum_b")
    s.scan("offsets", "both", exclusive=True)
    assert why(s, "sum_a:0 both:0") is None
    assert "two loops at one depth" in str(why(s, "sum_a:0 sum_b:0 both:0"))
    assert "two loops at one depth" in str(why(s, "sum_a:0 both:0 offsets:0"))
    assert why(s, "both:0 offsets:0") is None


def test_no_loop_and_no_longer_array_under_the_guard_of_a_filter() -> None:
    s = Sketch()
    s.use("xs")
    s.use("rows", "n m")
    s.filter("f", "k", "xs")
    s.scan("inclusive", "f.0")
    s.scan("exclusive", "f.0", exclusive=True)
    s.fold("sums", "rows")
    s.gather("g", "f.0", "sums", shrinking=True)
    assert why(s, "f:0 inclusive:0") is None
    assert "under the guard of a filter" in str(why(s, "f:0 exclusive:0"))
    assert why(s, "sums:g g:0") is None
    assert "under the guard of a filter" in str(why(s, "f:0 sums:g g:0"))


def test_sums_over_different_sizes_meet_only_with_the_filter() -> None:
    s = Sketch()
    s.use("xs")
    s.fold("all", "xs")
    s.filter("f", "k", "xs")
    s.fold("some", "f.0")
    s.map("both", "all some")
    assert why(s, "all:0 f:0 some:0 both:0") is None
    assert "two loops at one depth" in str(why(s, "all:0 some:0 both:0"))


def test_what_a_pushed_loop_needs_does_not_come_out_of_a_loop_at_its_depth() -> None:
    """Rows are chosen by a fold over rows: its loop ends before the pushed fold's can begin."""
    s = Sketch()
    s.use("choice", "n m")
    s.use("rows", "n m")
    s.fold("is", "choice", exact=True)
    s.fold("sums", "rows")
    s.gather("g", "is", "sums")
    assert why(s, "sums:g g:0") is None
    assert why(s, "is:0 g:0") is None
    assert "needs at its start" in str(why(s, "is:0 sums:g g:0"))


def test_segments() -> None:
    """What is read there is pushed to them; they share a loop by one descriptor, and of scans with exact ones before them."""
    s = Sketch()
    s.use("xs")
    s.use("ys")
    s.use("starts", "m")
    s.use("ends", "m")
    s.scan("earlier", "starts", exact=True)
    s.scan("rounded", "starts")
    s.map("doubled", "xs")
    s.segments("sums", "starts", "ends", "doubled")
    s.segments("others", "starts", "ends", "ys")
    s.segments("shifted", "ends", "starts", "ys")
    s.scan("scanned", "starts", exact=True)
    s.map("least", ["sums", "others"])
    s.segments("running", "starts", "ends", "ys", placed=True)
    s.map("shares", "running")
    assert why(s, "doubled:sums sums:0 others:0 least:0") is None
    assert "no rule fuses" in str(why(s, "doubled:0 sums:0"))
    assert "runs forward only" in str(why(s, "sums:1"))
    assert "two loops at one depth" in str(why(s, "others:0 shifted:0"))
    assert why(s, "others:0 running:0") is None
    assert "no rule fuses" in str(why(s, "running:0 shares:0"))
    assert why(s, "earlier:0 sums:0") is None
    for scan in ("scanned", "rounded"):
        assert "would wait in turn" in str(why(s, f"sums:0 {scan}:0"))


def test_what_follows_a_scan_of_segments() -> None:
    """It is stored in that order, which visits all; fused arrays lead there, of the shape of what is scanned or made."""
    s = Sketch()
    s.use("xs")
    s.use("ys")
    s.use("starts", "m")
    s.use("ends", "m")
    s.use("counts")
    s.use("turned")
    s.map("made", "xs")
    s.segments("running", "starts", "ends", "made", placed=True)
    s.map("shares", ["running", "ys"])
    s.map("again", ["shares", "made"])
    s.map("alone", "ys")
    s.gather("picked", "shares", "xs")
    s.fold("whole", "running", exact=True)
    s.generate("short", "m")
    s.scatter("counted", "shares", "counts")
    s.segments("down", "starts", "ends", "ys", placed=True, backward=True)
    s.map("after", "down")
    s.scatter("mixed", "after", "turned")
    s.map("before", "ys")
    s.segments("longer", "starts", "ends", "before", placed=True, longer="k")
    s.map("later", "longer")
    s.map("beside", ["later", "longer"])
    s.map("own", "before")
    s.map("other", "ys")
    for legal in (
        "running:0 shares:running",
        "made:running running:0",
        "made:running running:0 shares:running again:running",
        "running:0 shares:running picked:running",
        "running:0 shares:running counted:running",
        "running:0 shares:running alone:running picked:running",
        "down:0 after:down",
        "before:longer longer:0 later:longer beside:longer",
        "before:longer longer:0 later:longer own:longer",
    ):
        assert (why(s, legal) is None) == ("alone" not in legal)
    assert "no fused array leads" in str(why(s, "running:0 shares:running alone:running"))
    assert "no rule fuses" in str(why(s, "running:0 shares:0"))
    assert "makes other elements" in str(why(s, "running:0 whole:running"))
    assert "makes other elements" in str(why(s, "running:0 short:running"))
    assert "cannot be pushed" in str(why(s, "down:0 after:down mixed:down"))
    assert "another cluster" in str(why(s, "shares:running again:running"))
    assert "makes other elements" in str(why(s, "longer:0 later:longer short:longer"))
    assert "no fused array leads" in str(why(s, "before:longer longer:0 other:longer"))
    assert "no rule fuses" in str(why(s, "longer:0 later:0"))


def test_work() -> None:
    s = Sketch()
    s.use("x")
    s.use("m", "n k")
    s.map("cheap", "x", operations=20)
    s.map("also", "cheap", operations=20)
    s.backpermute("wide", "n k", "also")
    s.fold("sum", "m")
    s.backpermute("rows", "n k", "sum")
    s.map("looped", "x", loops=True)
    s.backpermute("again", "n k", "looped")
    s.backpermute("part", "h", "x", operations=20)
    s.backpermute("of_it", "h k", "part", operations=20)
    s.backpermute("beyond", "h k h", "of_it")
    assert why(s, "also:wide wide:0") is None
    together = ("cheap:wide also:wide wide:0", "part:of_it of_it:beyond beyond:0")
    assert all("over 32 scalar operations" in str(why(s, cluster)) for cluster in together)
    assert "the loop of %5 would be recomputed" in str(why(s, "sum:rows rows:0"))
    assert "the loop of %7 would be recomputed" in str(why(s, "looped:again again:0"))
    assert "would be recomputed" in str(why(s, "also:wide wide:0", False))
    for cluster in (*together, "sum:rows rows:0", "looped:again again:0"):
        assert why(s, cluster, "published") is None


def test_what_must_be_done_before_is_in_an_earlier_cluster() -> None:
    """D4: another reader of a scatter's destination, which shares a read with the scatter."""
    s = Sketch()
    s.use("values")
    s.use("d")
    s.map("reader", "values d")
    s.scatter("s", "values", "d")
    assert why(s, "reader:0") is why(s, "s:0") is None
    graph = s.finish()
    *uses, reader, scatter = (Cluster((label,), (FORWARD,)) for label in range(4))
    one = Clustering((*uses, Cluster((2, 3), (FORWARD, FORWARD))))
    assert str(refusal(graph, one, True)) == "D4: %2 must be done before %3 begins"
    assert refusal(graph, Clustering((*uses, reader, scatter)), True) is None
    assert str(refusal(graph, Clustering((*uses, scatter, reader)), True)).startswith("D4: ")


def test_no_pushed_loop_under_the_guard_of_a_filter() -> None:
    """E3: at the indices that a filter kept, and as long as what a filter keeps."""
    s = Sketch()
    s.use("xs")
    s.use("rows", "n m")
    s.filter("f", "k", "xs")
    s.fold("sums", "rows")
    s.gather("g", "f.0", "sums", shrinking=True)
    s.map("is", "xs")
    s.use("kept", "m k")
    s.fold("lengths", "kept")
    s.gather("h", "is", "lengths", shrinking=True)
    assert str(why(s, "f:0 sums:g g:0")).startswith("E3: a loop of %3 ")
    assert str(why(s, "f:0 is:0 lengths:h h:0")).startswith("E3: a loop of %7 ")
    for cluster in ("sums:g g:0", "is:0 lengths:h h:0", "f:0 is:0", "f:0 g:0"):
        assert why(s, cluster) is None


def test_the_rule_that_is_broken_is_named_first() -> None:
    """One illegal cluster for each rule of docs/ilp.md that speaks of one."""
    s = chain()
    s.use("m", "n k")
    s.use("other", "n j")
    s.fold("sums", "m")
    s.fold("others", "other")
    s.map("both", "sums others")
    s.filter("f", "l", "xs")
    s.scan("late", "f.0", exclusive=True)
    s.backpermute("wide", "n k", "sums")
    s.fold("starts", "m", exact=True)
    s.gather("h", "starts", "sums", result=True)
    s.results |= set(s.read("sums"))
    named = {
        "D1": "a:0 b:1", "D2": "b:g g:0", "D3": "a:0 g:0", "D5": "f:1", "E2": "f:0 late:0", "E4": "sums:0 others:0 both:0",
    }  # fmt: skip
    s.results |= set(s.read("b"))
    for rule, cluster in named.items():
        assert str(why(s, cluster)).startswith(f"{rule}: "), (rule, why(s, cluster))


def test_whole_clusterings() -> None:
    s = Sketch()
    s.use("xs")
    s.map("a", "xs")
    s.map("b", "xs", index="a")
    s.map("c", "xs")
    graph = s.finish()
    use, a, b, c = (Cluster((label,), (FORWARD,)) for label in range(4))
    both = Cluster((1, 3), (FORWARD, FORWARD))

    def judged(*clusters: Cluster) -> str:
        return str(refusal(graph, Clustering(clusters), True))

    assert judged(use, both, b) == "None"
    assert "is in no cluster" in judged(use, a, b)
    assert "in two clusters" in judged(use, a, b, c, c)
    assert "which comes after it" in judged(use, b, a, c)
    assert "never shares a loop" in judged(Cluster((0, 1), (FORWARD, FORWARD)), b, c)


def test_the_rules_of_figure_2() -> None:
    s = Sketch()
    s.use("xs")
    s.map("ys", "xs")
    (x,), (y,) = s.read("xs"), s.read("ys")

    def signature(
        inputs: list[tuple[Array, Traversal | None]], outputs: list[tuple[Array, Traversal | None]]
    ) -> Signature:
        return Signature(frozenset(inputs), frozenset(outputs))

    maker, reader = signature([(x, FORWARD)], [(y, FORWARD)]), signature([(y, FORWARD), (x, FORWARD)], [])
    assert merge(maker, reader, []) == signature([(x, FORWARD)], [])  # VERTICAL, HORIZONTAL
    assert merge(maker, reader, [y]) == signature([(x, FORWARD)], [(y, FORWARD)])  # DIAGONAL
    assert merge(reader, maker, []) is None  # the second half makes what the first reads
    assert merge(maker, signature([(y, BACKWARD)], []), []) is None
    assert merge(maker, signature([(y, FORWARD), (y, BACKWARD)], []), []) is None
    assert merge(signature([], [(y, None)]), signature([(y, None)], []), []) is None


def test_folds_of_several_dimensions() -> None:
    """What is made of a fold of a matrix stands outside of both loops; a fold of rows and one of what it gives share them."""
    s = Sketch()
    s.use("m", "n k")
    s.use("v", "n")
    s.map("a", "m")
    s.fold("whole", "a", dimensions=2)
    s.map("after", "whole")
    s.fold("sums", "a")
    s.fold("total", "sums")
    s.fold("other", "v")
    assert why(s, "a:0 whole:0 after:0") is None
    assert why(s, "a:0 whole:0 after:0 sums:0 total:0") is None
    assert "nothing connects" in str(why(s, "whole:0 other:0"))


def test_a_fold_of_several_dimensions_is_pushed_with_its_loops() -> None:
    s = Sketch()
    s.use("cubes", "n k m")
    s.use("is", "l")
    s.fold("sums", "cubes", dimensions=2)
    s.gather("g", "is", "sums", shrinking=True)
    s.fold("rows", "cubes")
    assert why(s, "sums:g g:0") is None
    assert "would be recomputed" in str(why(_growing(), "sums:g g:0"))


def _growing() -> Sketch:
    s = Sketch()
    s.use("m", "n k")
    s.use("is", "l")
    s.fold("sums", "m", dimensions=2)
    s.backpermute("g", "l", "sums")
    return s
