"""A NumPy bool of any byte but 0 (a view of other data) is true, on every backend.

Once: OpenCL computed with the byte itself.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests.run.test_run import BACKENDS


@pytest.mark.parametrize("backend", BACKENDS)
def test_bytes_above_one_are_true(backend: str) -> None:
    """Negation, conversion, counting and comparison see True, not 2 or 255."""
    flags = np.array([0, 1, 2, 255, 128, 0, 64], np.uint8).view(np.bool_)

    def program(xs: A.Acc[A.Vector[np.bool_]]) -> tuple[A.Acc[A.Vector[np.int64]], A.Acc[A.Vector[np.bool_]]]:
        return A.map(lambda x: A.boolToInt(x) * 2 + A.boolToInt(~x), xs), A.zipWith(A.eq, xs, A.reverse(xs))

    numbers, same = A.run(program(A.use(flags)), backend=backend)
    assert numbers.tolist() == [1, 2, 2, 2, 2, 1, 2]
    assert same.tolist() == [False, False, True, True, True, False, False]
