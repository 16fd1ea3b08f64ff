"""`A.flatten(m[:, :1])`: NumPy reshapes such a column without a copy, and its elements stay apart. On `llvm` kernels read what
lay beside them, in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.protocol import HostArray
from tests import untyped

MATRIX = np.random.default_rng(3).integers(-50, 50, (40, 3))
CUBE = MATRIX.reshape(8, 5, 3)

COLUMNS = {
    "the first": MATRIX[:, :1],
    "one from the end": MATRIX[::-1, 1:2],
    "every second row": MATRIX[::2, 2:],
    "of a cube": CUBE[:, :, 1:2],
    "with another dimension": MATRIX[:, :1].reshape(40, 1, 1),
    "a part of complex numbers": np.ascontiguousarray((MATRIX + 1j).T)[0].real.reshape(40, 1),
    "one that repeats a row": np.broadcast_to(MATRIX[:1, :1], (40, 1)),
    "adjacent elements": np.ascontiguousarray(MATRIX[:, :1]),
}

PROGRAMS: dict[str, tuple[Callable[[Any], Any], Callable[[HostArray], HostArray]]] = {
    "a map": (lambda m: A.map(lambda x: x + 1, A.flatten(m)), lambda m: m.ravel() + 1),
    "itself": (A.flatten, np.ravel),
    "a scan": (lambda m: A.scanl1(A.add, A.flatten(m)), lambda m: np.cumsum(m.ravel())),
    "a fold": (lambda m: A.sum(A.flatten(m)), lambda m: np.asarray(m.sum())),
    "a sort": (lambda m: A.sort(A.flatten(m)), lambda m: np.sort(m.ravel())),
    "rows": (
        lambda m: A.fold(A.add, 0, A.reshape((4, A.size(m) // 4), m)),
        lambda m: m.reshape(4, m.size // 4).sum(1),
    ),
    "several": (
        lambda m: A.zipWith(A.sub, A.map(lambda x: x * 2, A.flatten(m)), A.flatten(A.map(lambda x: -x, m))),
        lambda m: 3 * m.ravel(),
    ),
}


@pytest.mark.parametrize("backend", ["llvm", pytest.param("opencl", marks=pytest.mark.opencl), "interpreter"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_reshapes_of_columns(program: str, backend: Any) -> None:
    function, expected = PROGRAMS[program]
    run = untyped.runN(function, backend=backend)
    for name, column in COLUMNS.items():
        for _ in range(3):  # the first call, and those by other ways
            np.testing.assert_array_equal(run(column), expected(column), err_msg=name)
