"""The sign of the negated least integer is -1 on every backend: negation wraps.

Once: Intel's OpenCL compiler took `(-x > 0) - (-x < 0)` for the sign of `x` the other way round, although the negation is
one of unsigned integers, which wraps. Found by the random programs.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests import untyped


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_sign_of_a_negated_minimum(backend: str, kind: type[np.signedinteger]) -> None:
    least = np.iinfo(kind).min
    xs = A.use(np.array([least, 5, -5, 0] * 5, kind))
    assert untyped.run(A.map(lambda x: A.signum(-x), xs), backend=backend).tolist() == [-1, -1, 1, 0] * 5
