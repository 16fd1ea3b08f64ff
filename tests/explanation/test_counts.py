"""What an explanation counts: elements and bytes of arrays whose extents have offsets, or that only the host reads."""

from __future__ import annotations

import numpy as np

import accel as A

Floats = A.Acc[A.Vector[np.float64]]


def sums(xs: Floats) -> Floats:
    return A.scanl(A.add, 0, xs)


def kept(xs: Floats) -> Floats:
    return A.filter(lambda x: x > 0, xs)[0]


def rest(xs: Floats) -> Floats:
    """A program that asks how many elements were kept."""
    few = kept(xs)
    return A.generate((A.length(few) + 1,), lambda ix: A.toFloating(ix[0], np.float64))


def test_one_more_result_is_counted() -> None:
    explanation = A.explain(sums, np.ones(1000))
    assert (explanation.bytes_read, explanation.bytes_written) == (8000, 8008)


def test_the_number_of_what_is_kept_is_stored() -> None:
    explanation = A.explain(rest, np.ones(1000))
    (counts,) = [array for array in explanation.arrays if array.producer.startswith("filter") and array.type == "i64"]
    assert counts.status == "stored"
