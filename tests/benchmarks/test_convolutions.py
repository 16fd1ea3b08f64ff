"""What the benchmark of convolutions times gives what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from benchmarks.convolutions import rows

pytestmark = [pytest.mark.llvm, pytest.mark.solver]


def test_all_agree_with_numpy() -> None:
    for row in rows("float64", (2, 3, 5, 2), images=2):
        np.testing.assert_allclose(A.runN(row.own)(*row.arguments), row.numpy(*row.arguments), atol=1e-12)
