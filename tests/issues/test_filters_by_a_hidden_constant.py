"""LLVM 22 loses all elements of a `vector.compress` whose mask turns out to be constant while it selects instructions."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests import untyped


@pytest.mark.parametrize(("limit", "kept"), [(32, 46), (-32, 0)])
def test_a_filter_that_keeps_all_or_nothing_without_saying_so(limit: int, kept: int) -> None:
    values = np.arange(16 * 46, dtype=np.int32).reshape(16, 46)

    def program(xs: A.Acc[A.Matrix[np.int32]]) -> tuple[A.Acc[A.Vector[np.int32]], A.Acc[A.Vector[np.int64]]]:
        return A.filter(lambda x: A.cast(x, np.int64) - A.cast(x, np.int64) < A.constant(limit, np.int64), xs)

    found, counts = untyped.runN(program, backend="llvm")(values)
    np.testing.assert_array_equal(found, values[:, :kept].ravel())
    np.testing.assert_array_equal(counts, np.full(16, kept))


def test_a_filter_by_a_lane_number_that_cancels_out() -> None:
    values = np.arange(46, dtype=np.int64)
    found, count = untyped.run(A.filter(lambda x: x - x + 3 < A.constant(4, np.int64), A.use(values)))
    np.testing.assert_array_equal(found, values)
    assert count == 46
