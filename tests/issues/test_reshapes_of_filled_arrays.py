"""A filled array of four elements became five in another shape, without an error: the reshape that checks it was left out."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.errors import AccelShapeError

Ints = A.Acc[A.Vector[np.int64]]


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_the_size_is_checked(backend: str) -> None:
    def program(xs: Ints) -> Ints:
        return A.map(lambda x: x + 1, A.reshape((5,), A.fill((A.length(xs),), 0)))

    run = A.runN(program, backend=backend)
    assert run(np.arange(5)).tolist() == [1] * 5
    with pytest.raises(AccelShapeError, match=r"shape \(4,\) cannot be reshaped to \(5,\)"):
        run(np.arange(4))
