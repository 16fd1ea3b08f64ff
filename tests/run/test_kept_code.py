"""Compiled programs are found again only for what they were compiled for: settings, ranks, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.errors import AccelDeviceError
from tests import untyped

MISSING = "opencl:999"
"""A device that nobody has: what asks for it cannot have used other code."""


def doubled(xs: A.Acc[Any]) -> A.Acc[Any]:  # Any: of every rank and dtype
    return A.map(lambda x: x + x, xs)


@pytest.mark.opencl
def test_a_program_under_other_settings() -> None:
    xs = A.use(np.arange(3.0))
    assert A.run(doubled(xs), backend="llvm").tolist() == [0, 2, 4]
    with pytest.raises(AccelDeviceError):
        A.run(doubled(xs), backend=MISSING)


@pytest.mark.opencl
def test_a_compiled_function_under_other_settings() -> None:
    fast = untyped.runN(doubled)
    for _ in range(2):  # the second call takes the short way
        assert fast(np.arange(3.0)).tolist() == [0, 2, 4]
    with A.using(backend=MISSING), pytest.raises(AccelDeviceError):
        fast(np.arange(3.0))
    assert fast(np.arange(3.0)).tolist() == [0, 2, 4]


def test_a_compiled_function_for_another_rank_or_dtype() -> None:
    fast = untyped.runN(doubled)
    for _ in range(2):
        assert fast(np.arange(3.0)).tolist() == [0, 2, 4]
        assert fast(np.arange(6.0).reshape(2, 3)).tolist() == [[0, 2, 4], [6, 8, 10]]
        assert fast(np.array(5.0)).tolist() == 10
        assert fast(np.arange(3)).dtype == np.int64
        assert fast(np.arange(3, dtype=np.float32)).tolist() == [0, 2, 4]
