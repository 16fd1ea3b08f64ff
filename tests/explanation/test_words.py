"""Extents, tables, scatters and turns in the user's words, and bodies of loops joined to their node."""

from __future__ import annotations

import numpy as np

import accel as A
from accel.explanation.show.html import page
from accel.explanation.show.report import report
from tests.labelled.programs import AnyAcc

Floats = A.Acc[A.Vector[np.float64]]
Ints = A.Acc[A.Vector[np.int64]]
Count = A.Acc[A.Scalar[np.int64]]


def counted(img: A.Acc[A.Matrix[np.uint8]], n: Count) -> tuple[AnyAcc, AnyAcc, AnyAcc]:
    """Extents of an input, of what a filter keeps, of a view, and one that is computed."""
    kept, _ = A.filter(lambda x: x > 9, img)
    return kept, A.scanl1(A.add, A.flatten(img)), A.fill((A.the(n),), 1.5)


def volume(xs: A.Acc[A.Array[tuple[int, int, int], np.float64]]) -> AnyAcc:
    return A.map(lambda x: x + 1, xs)


def looked_up(places: Ints) -> AnyAcc:
    table = A.scanl1(A.add, A.fill((256,), 1.0))
    return A.map(lambda i: table[i] + table[0], places)


def collected(places: Ints, xs: Floats) -> AnyAcc:
    zeros = A.map(lambda x: x * 0, xs)
    sums = A.scatterWith(A.add, zeros, A.zip(places, xs))
    return A.scanl1(A.add, sums)


def halved(xs: Floats) -> Floats:
    def step(ys: Floats) -> Floats:
        return A.map(lambda y: y / 2, ys)

    return A.iterate(50, step, xs)


def halved_often(xs: Floats, n: Count) -> tuple[AnyAcc, AnyAcc]:
    """Turns that are known at run time; one that is the user's own scalar lies beside the counter."""
    first, _ = A.iterate(A.the(n), lambda s: (A.map(lambda x: x / 2, s[0]), A.map(lambda k: k + 1, s[1])), (xs, n))
    return first, A.iterate(1, lambda ys: A.scanl1(A.add, ys), xs)


def beside(xs: Floats, n: Count) -> tuple[AnyAcc, AnyAcc]:
    """A loop of the user's own reads what the first test of the counter reads."""
    twice = A.map(lambda k: k * 2, n)
    return A.iterate(A.the(n), lambda ys: A.map(lambda y: y / 2, ys), xs), A.map(lambda k: k + 1, twice)


def either(xs: Floats) -> Floats:
    total = A.the(A.fold(A.add, 0, xs))
    chosen = A.acond(total > 1, A.map(lambda x: x / total, xs), A.scanl1(A.mul, xs))
    return A.map(lambda x: x + 1, chosen)


def test_extents_are_what_they_are_extents_of() -> None:
    assert dict(A.explain(counted).extents) == {
        "n0": "rows of img",
        "n1": "columns of img",
        "n2": "length of kept",
        "n3": "size of img",
        "n4": "value of n",
    }
    assert dict(A.explain(volume).extents) == {f"n{d}": f"extent {d} of xs" for d in range(3)}
    found = A.explain(looked_up, np.arange(5))
    text = report(found)
    assert "\nn0 = length of places\n" in text
    assert ", with n0 = 5\n" in text
    assert "<dt>n0</dt><dd>length of places</dd>" in page(found)


def test_a_table_counts_once_however_often_it_is_read() -> None:
    """256 doubles for 1024 lookups, one element of it apart, and all strategies alike."""
    found = A.explain(looked_up)
    (last,) = (cluster for cluster in found.clusters if "n0" in cluster.over)
    assert {each.array: (each.size, each.bytes) for each in last.read_arrays} == {
        "%0": ("n0", 8192),
        "%2": ("n0", 2048),
    }
    assert found.strategies["ilp"].bytes_read == found.bytes_read == 8192 + 2048
    gathered = A.explain(lambda ix: A.gather(ix, A.use(np.ones(256))), np.zeros(9000, np.int64))
    assert gathered.bytes_read == 9000 * 8 + 256 * 8
    assert A.explain(lambda ix: A.gather(ix, A.use(np.ones(9000))), np.zeros(5, np.int64)).bytes_read == 5 * 8 + 5 * 8


def test_a_scatter_says_what_it_updates() -> None:
    found = A.explain(collected, duplicate=False)
    (loop,) = (cluster for cluster in found.clusters if cluster.updates)
    assert [(each.array, each.becomes) for each in loop.updates] == [("%2", "%3")]
    assert "\n  updates zeros %2 in place, which is sums %3 from then on\n" in report(found)
    text = page(found)
    assert "It updates" in text
    assert "updates zeros %2" in found.to_mermaid()
    other = A.explain(lambda ix, xs: A.scatterWith(A.add, A.fill((3,), 0.0), A.zip(ix, xs)), np.arange(3), np.ones(3))
    assert "  updates fill %2 in place, which is scatter %3 from then on\n" in report(other)


def test_turns_of_iterate_are_told_and_their_counter_is_not() -> None:
    found = A.explain(halved)
    assert (found.loops, dict(found.reads), dict(found.writes)) == (1, {"n0": 1}, {"n0": 1})
    (loop, *counting) = found.clusters
    assert (loop.number, loop.part, loop.counter) == (1, ("iterate %3 x 50 turns",), False)
    assert counting
    assert all(each.counter and not each.read_arrays and not each.written_arrays for each in counting)
    assert [each.number for each in found.clusters] == list(range(1, len(found.clusters) + 1))
    text = report(found)
    assert "\nin iterate %3 x 50 turns\n" in text
    for shown in (text, page(found), found.to_dot()):
        assert "step 2" not in shown
        assert "unit %" not in shown
        assert "i64" not in shown.partition("LLVM IR")[0]
    assert found.strategies["ilp"].bytes_read == found.bytes_read == 8192


def test_what_one_loop_makes_with_a_counter_is_told_alone() -> None:
    found = A.explain(beside, duplicate=False)
    (mixed,) = (each for each in found.clusters if not each.counter and "iterate" in " ".join(each.operations))
    text = report(found)
    assert f"\n{mixed.title}: twice (map %13), map %14\n" in text
    assert "LeafOfCluster %2 iterate:0" in mixed.tree
    for line in (*text.splitlines(), *page(found).partition("LLVM IR")[0].splitlines()):
        assert "iterate %2" not in line
    assert found.strategies["ilp"].bytes_read == found.bytes_read
    first = beside.__code__.co_firstlineno
    leaves = [line.partition("test_words.py:")[2] for line in text.splitlines() if "LeafOfCluster" in line]
    assert leaves[: len(mixed.operations)] == [str(first + 3), str(first + 2), str(first + 3)]


def test_turns_that_are_computed_and_states_of_several_arrays() -> None:
    found = A.explain(halved_often)
    parts = {part for cluster in found.clusters if not cluster.counter for part in cluster.part}
    assert sorted(part.partition(" x ")[2] for part in parts) == ["1 turn", "n turns"]
    first = next(array for array in found.arrays if array.variable == "first")
    assert first.producer.startswith("iterate ")
    assert next(array.type for array in found.arrays if array.counter and array.producer == first.producer) == "i64"


def test_bodies_and_branches_are_joined_to_their_node() -> None:
    text = A.explain(halved).to_mermaid()
    assert 'subgraph part0["iterate %3 x 50 turns"]' in text
    assert '-.->|"x 50 turns"| part0\n' in text
    text = A.explain(either).to_mermaid()
    for half in ("then", "else"):
        assert f'chosen (acond %3), {half}"]' in text
        assert f'-.->|"{half}"| part' in text
    drawn = A.explain(either).to_dot()
    assert "compound=true" in drawn
    assert " lhead=cluster_part0 " in drawn
