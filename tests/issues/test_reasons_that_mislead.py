"""What `explain` says of arrays that were not fused holds, and every array that a loop writes counts as stored.

Once: the exponentials of a softmax and their quotients were kept apart because "their loops run in different orders", though
both run forward; a scan ran "in order 1"; and what a filter counts was `fused` and written by the same loop.
"""

from __future__ import annotations

import numpy as np

import accel as A

Vector = A.Acc[A.Vector[np.float64]]
Matrix = A.Acc[A.Matrix[np.float64]]


def softmax(rows: Matrix) -> Matrix:
    _, columns = A.unlift(rows.shape)
    largest = A.replicate((A.All, columns), A.fold1(A.max, rows))
    powers = A.zipWith(lambda x, y: A.exp(x - y), rows, largest)
    return A.zipWith(A.div, powers, A.replicate((A.All, columns), A.fold(A.add, 0, powers)))


def both_ways(xs: Vector) -> tuple[Vector, Vector]:
    more = A.map(lambda x: x + 1, xs)
    return A.scanl1(A.add, more), A.scanr1(A.add, more)


def positive(xs: Vector) -> Vector:
    return A.map(lambda x: x * 3, A.filter(lambda x: x > 0, xs)[0])


def test_a_sum_that_would_run_again() -> None:
    reasons = [(line.rule, line.reason) for array in A.explain(softmax).arrays for line in array.why_not]
    again = "replicate %5 may be larger than its source: the loop of fold %4 would be recomputed"
    assert ("W1", f"their loops cannot become one: replicate %5 reads fold %4, and {again}") in reasons
    assert not any("different orders" in reason for _, reason in reasons)


def test_directions_have_names() -> None:
    (line,) = [line for array in A.explain(both_ways, duplicate=False).arrays for line in array.why_not]
    assert line.reason.endswith(": scanl1 %2 runs forward only")


def test_what_a_loop_writes_is_not_fused() -> None:
    found = A.explain(positive)
    (cluster,) = found.clusters
    written = {each.array for each in cluster.written_arrays}
    assert {array.name for array in found.arrays if array.status in ("kept", "stored")} == written == {"%1.1", "%2"}
    assert not written & set(cluster.fused)


def test_a_right_scan_runs_backward() -> None:
    def reader(xs: Vector) -> Vector:
        return A.filter(lambda x: x > 0, A.scanr1(A.add, xs))[0]

    (line,) = [line for array in A.explain(reader).arrays for line in array.why_not]
    assert (line.rule, line.reason) == ("D5", "it is read forward only, and scanr1 %1 runs backward")
