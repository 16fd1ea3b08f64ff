"""Intel's OpenCL runtime (2026.2) ended the process: a greatest common divisor of constants, in vectors of work-items."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.opencl.platforms import backend, each_platform


@pytest.mark.opencl
@each_platform
def test_a_divisor_where_a_gather_runs(platform: str) -> None:
    values = A.use(np.arange(7.0))
    large = A.constant(9223372036854775806, np.int64)

    def rotated(ix: A.Exp[tuple[int]]) -> A.Exp[tuple[int]]:
        (i,) = A.unindex(ix)
        start = A.lift(A.constant(0, np.int64), i)
        looped = A.while_(lambda w: w[0] < 1, lambda w: A.lift(w[0] + 1, A.truncate(A.cast(i, np.float64))), start)
        return A.index((looped[1] + i) % A.unlift(values.shape)[0])

    def divided(ix: A.Exp[tuple[int, int]]) -> A.Exp[tuple[int]]:
        i, _ = A.unindex(ix)
        return A.index(A.gcd(-A.pow(A.constant(3, np.int64), large), -A.quot(i, i)) % 7)

    def shifted(ix: A.Exp[tuple[int, int]]) -> A.Exp[tuple[int, int]]:
        i, j = A.unindex(ix)
        row = A.div(A.shiftL(A.round(A.constant(float("inf"), np.float64)), j), A.shiftR(A.constant(3, np.int64), i))
        zeros = A.countTrailingZeros(A.signum(A.countLeadingZeros(i)))
        return A.index(row % 7, A.ceiling(A.toFloating(zeros, np.float64)) % 7)

    moved = A.compute(A.backpermute((7,), rotated, values))
    found = A.backpermute((7, 7), shifted, A.backpermute((7, 7), divided, moved))
    expected = untyped.run((moved, found), backend="interpreter")
    actual = untyped.run((moved, found), backend=backend(platform).name)
    assert [each.tolist() for each in actual] == [each.tolist() for each in expected]
