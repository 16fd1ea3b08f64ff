"""A merge that fails returns to a loop that goes on, to merges that fail as well: none of them may load what it was refused.

Once: on `llvm`, the run that finds out what failed left a function at the first failing check only. Whatever failed after it
read outside of its array: `fold1(lambda x, y: table[y * 2 - x], xs)` of four elements ended the process.
"""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests import untyped

BACKENDS = ["interpreter", "llvm", "opencl"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 9, 100])
@pytest.mark.parametrize("scan", [False, True])
def test_the_first_merge_that_fails_is_told(size: int, scan: bool, backend: str) -> None:
    table = A.use(np.zeros(3, np.int64))
    reduce = A.scanl1 if scan else A.fold1
    # Each merge asks for an index of its own, further and further outside.
    program = reduce(lambda x, y: table[y * 2 - x], A.use(np.arange(size) * 100_000 + 7))
    with pytest.raises(A.AccelIndexError, match=r"index \(200007,\) is out of bounds for an array of shape \(3,\)"):
        A.run(program, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_merges_of_rows_that_fail_in_every_row(backend: str) -> None:
    table = A.use(np.zeros(3, np.int64))
    rows = A.use(np.arange(70).reshape(7, 10) * 100_000 - 1)
    with pytest.raises(A.AccelIndexError, match=r"is out of bounds for an array of shape \(3,\)"):
        untyped.run(A.fold(lambda x, y: table[y - x], 0, rows), backend=backend)
