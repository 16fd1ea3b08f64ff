"""The papers' programs as a user writes them: loops, array passes and what is fused, from expression to nest."""

from __future__ import annotations

from typing import Any

import numpy as np

import accel as A
from examples.normalise import normalise2, normalise2_filter

# The programs of this file are typed by tests/typing; here they meet arrays of any element.
AnyAcc = A.Acc[Any]

XS = np.arange(1, 9, dtype=np.float64)
IS = np.array([3, 1, 4], np.int64)


def fused(explanation: A.Explanation) -> list[str]:
    """The producers of arrays that are never written."""
    return [array.producer.split()[0] for array in explanation.arrays if array.status == "fused"]


def test_thesis_normalise2() -> None:
    """[vB20 Fig. 12]: 2 loops, 2n+2 reads, 2n+2 writes."""
    found = A.explain(normalise2(A.use(XS)))
    assert (found.loops, dict(found.reads), dict(found.writes)) == (2, {"n0": 2, "1": 2}, {"n0": 2, "1": 2})
    assert found.proved


def test_thesis_normalise2_expanded() -> None:
    """[vB20 Fig. 12]: with a map before it, 2 loops, 2n+2 reads, 3n+2 writes."""
    found = A.explain(normalise2(A.map(lambda x: x * 2, A.use(XS))))
    assert (found.loops, dict(found.reads), dict(found.writes)) == (2, {"n0": 2, "1": 2}, {"n0": 3, "1": 2})


def test_robinson_normalize2_by_a_filter() -> None:
    found = A.explain(normalise2_filter(A.use(XS)))
    assert found.loops == 2
    assert "filter" in fused(found)


def test_robinson_normalize_inc_accesses_three_arrays() -> None:
    """[Rob section 1.2]: xs twice and the result; `incs` is computed where it is divided."""
    xs = A.use(XS)
    incs = A.map(lambda x: x + 1, xs)
    total = A.the(A.fold(A.add, 0, xs))
    found = A.explain(A.map(lambda x: x / total, incs))
    assert found.loops == 2
    assert found.reads["n0"] + found.writes["n0"] == 3


def test_quickhull_filter_max_is_one_loop() -> None:
    points = A.zip(A.use(XS), A.use(XS[::-1]))
    annotated = A.map(lambda p: A.lift(p, A.fst(p) * 2 - A.snd(p)), points)
    farthest = A.fold1(lambda p, q: A.cond(A.snd(p) > A.snd(q), p, q), annotated)
    above, _ = A.filter(lambda p: A.snd(p) > 0, annotated)
    found = A.explain((A.map(A.fst, farthest), A.map(A.fst, above)))
    assert found.loops == 1


# ---- [vB24], under its free rule for pushing


def published(program: object) -> A.Explanation:
    """Planned by the paper's rule and its cost (e)."""
    return A.explain(program, duplicate="published", cost="reads_writes")


def test_single_loop_has_no_intermediate_array() -> None:
    xs = A.use(XS)
    cs = A.map(lambda x: x + 1, xs)
    ds = A.map(lambda x: x * 2, cs)
    found = published(A.zipWith3(lambda b, c, d: b + c + d, A.reverse(xs), cs, ds))
    assert (found.loops, dict(found.reads), dict(found.writes)) == (1, {"n0": 2}, {"n0": 1})


def test_simple1_pushes_the_index_through_the_map() -> None:
    found = published(A.gather(A.use(IS), A.map(lambda x: x + 1, A.use(XS))))
    assert found.loops == 1
    assert fused(found) == ["map"]


def test_simple2_fuses_two_gathers() -> None:
    found = published(A.gather(A.use(IS - 1), A.gather(A.use(IS), A.use(XS))))
    assert found.loops == 1


def test_simple3_stores_what_is_a_result_in_a_loop_of_its_own() -> None:
    mapped = A.map(lambda x: x + 1, A.use(XS))
    assert published((mapped, A.gather(A.use(IS), mapped))).loops == 2


def test_simple4_pushes_the_index_through_a_fold() -> None:
    rows = A.use(np.arange(20.0).reshape(5, 4))
    found = published(A.gather(A.use(IS), A.fold(A.add, 0, rows)))
    assert found.loops == 1
    assert fused(found) == ["fold"]


def test_simple5_reads_one_array_in_two_orders() -> None:
    xs = A.use(XS)
    gathered = A.gather(A.use(np.arange(8)[::-1].copy()), xs)
    found = published(A.zipWith(A.add, A.map(lambda x: x * 2, xs), gathered))
    assert (found.loops, dict(found.writes)) == (1, {"n0": 1})


def test_scatter_example_fuses_the_source_into_the_scatter() -> None:
    xs = A.use(np.arange(8))
    pairs = A.map(lambda x: A.lift((x * 3) % 8, x), xs)
    defaults = A.map(lambda x: x + 1, xs)
    found = published(A.scatterWith(A.add, defaults, pairs))
    assert found.loops == 2
    assert [array.status for array in found.arrays if array.producer.startswith("map")].count("fused") >= 1


def test_greedy_bottom_up_bad_stores_no_large_array() -> None:
    """[vB24 section 5]: fusing `result` into `ys` would force the gathered n x m array into memory."""
    xs = A.use(XS)
    large = A.gather(A.generate((A.size(xs), 1_000_000), lambda ix: A.unlift(ix)[0]), xs)
    ys, zs = A.fold(A.add, 0, large), A.fold(A.mul, 1, large)
    found = A.explain(A.map(lambda y: y + zs[0], ys), duplicate="published", cost="bytes", sizes="actual")
    assert found.loops == 2
    assert "gather" in fused(found) or "backpermute" in fused(found)
    assert found.bytes_written == 3 * 8 * len(XS)
    assert found.proved


def test_greedy_top_down_bad_fuses_with_the_reader() -> None:
    """[vB24 section 5]: `cs` goes to `es`, where it is not stored, and not to its maker `bs`, where it is."""
    xs = A.use(XS)
    bs = A.map(lambda a: a * 2, xs)
    cs = A.map(lambda b: b + 1, bs)
    ds = A.generate(A.shape(xs), lambda i: A.toFloating(A.unlift(i)[0], np.float64) + bs[0])
    found = published(A.fold(A.add, 0, A.zipWith(A.add, cs, ds)))
    assert (found.loops, dict(found.writes)) == (2, {"n0": 1, "1": 1})


# ---- work that must not be multiplied


def _softmax(xs: AnyAcc) -> AnyAcc:
    _, m = A.unlift(xs.shape)
    largest = A.replicate((A.All, m), A.fold1(A.max, xs))
    exponentials = A.zipWith(lambda x, y: A.exp(x - y), xs, largest)
    return A.zipWith(A.div, exponentials, A.replicate((A.All, m), A.fold(A.add, 0, exponentials)))


def test_row_softmax_passes_over_each_element_a_fixed_number_of_times() -> None:
    found = A.explain(_softmax(A.use(np.ones((3, 5)))))
    assert found.loops == 3
    assert set(found.reads) | set(found.writes) <= {"n0*n1", "n0"}
    assert not {"fold", "fold1"} & set(fused(found))


def test_a_cheap_map_is_recomputed_rather_than_stored_and_an_expensive_one_is_not() -> None:
    row = A.use(XS)
    cheap = A.replicate((100, A.All), A.map(lambda x: x + 1, row))
    dear = A.replicate((100, A.All), A.map(lambda x: A.while_(lambda v: v < 100, lambda v: v * 2, x), row))
    assert A.explain(cheap).loops == 1
    assert A.explain(dear).loops == 2
    assert A.explain(cheap, duplicate=False).loops == 2


def test_heuristics_plan_the_same_programs() -> None:
    """Greedy may pair a sum with the other half's division: not as bad as nothing, not as good as the ILP."""
    assert A.explain(normalise2(A.use(XS)), strategy="none").loops == 5
    greedy = A.explain(normalise2(A.use(XS)), strategy="greedy")
    assert 2 <= greedy.loops < 5
    assert greedy.cost >= A.explain(normalise2(A.use(XS))).cost
