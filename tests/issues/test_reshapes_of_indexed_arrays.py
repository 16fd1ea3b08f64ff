"""An array was given another shape by the reshape of a map of it that also indexes it: `ValueError` while compiling."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_an_array_is_read_and_indexed(backend: str) -> None:
    def program(m: A.Acc[A.Matrix[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        doubled = A.map(lambda x: x * 2, m)
        return A.scanl1(A.add, A.flatten(A.map(lambda x: x + doubled[0, 1], doubled)))

    m = np.arange(6.0).reshape(2, 3)
    assert A.runN(program, backend=backend)(m).tolist() == np.cumsum(m * 2 + 2).tolist()
