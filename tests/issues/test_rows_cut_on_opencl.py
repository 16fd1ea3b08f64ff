"""What reads only the first elements of rows finds each row where it begins, though loops and indices are the same.

Random programs found it on OpenCL (seeds 10004 and 12013): there the loops of a map counted positions as one where indices
stood in order, and also where rows were longer than the loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from tests.opencl.check import compiled_on, same
from tests.opencl.platforms import each_platform, fresh
from tests.opencl.test_gpu_folds import gpu

COLUMN = np.arange(-3, 9)
BYTES = COLUMN.astype(np.int8)


def table(xs: A.Acc[Any]) -> A.Acc[Any]:
    """Five columns, the first of them other than the rest, in memory of their own; extents are in the program."""
    columns: A.Acc[Any] = A.replicate((A.All, 5), xs)
    return A.compute(A.imap(lambda ix, x: A.cond(ix[1] == 0, x, x + x), columns))


def cut(xs: A.Acc[Any]) -> A.Acc[Any]:
    return A.takeOn(1, 2, table(xs))


def largest(xs: A.Acc[Any]) -> A.Acc[Any]:
    """Where they are."""
    return A.topK(2, table(xs))[1]


@each_platform
@pytest.mark.parametrize("data", [COLUMN, BYTES], ids=["int64", "int8"])
@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_first_columns(platform: str, on_gpu: bool, data: np.ndarray[Any, Any]) -> None:
    machine = gpu(platform) if on_gpu else fresh(platform)
    same(compiled_on(machine, cut, data)((data,)), [np.stack([data, data + data], 1)])


@each_platform
@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_largest(platform: str, on_gpu: bool) -> None:
    machine = gpu(platform) if on_gpu else fresh(platform)
    whole = np.stack([COLUMN, *[COLUMN * 2] * 4], 1)
    places = np.argsort(-whole, axis=1, kind="stable")[:, :2]
    same(compiled_on(machine, largest, COLUMN)((COLUMN,)), [places])
