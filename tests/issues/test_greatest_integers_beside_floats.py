"""Intel's OpenCL runtime (2026.2) ended the process: a fold to a least float and a greatest integer, beside a scan."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from tests.opencl.platforms import backend, each_platform


@pytest.mark.opencl
@each_platform
def test_a_fold_of_triples_beside_a_scan(platform: str) -> None:
    bits = A.use(np.array(3))

    def element(ix: A.Exp[tuple[int]]) -> A.Exp[tuple[np.float32, np.int64, np.float32]]:
        (i,) = A.unindex(ix)
        position = A.bitcast(A.setBit(A.cast(i, np.uint64), A.the(bits)), np.int64)
        return A.lift(A.cast(i, np.float32), position, A.constant(0.0, np.float32))

    triples = A.generate((1,), element)
    extremes = A.fold1All(lambda a, b: A.lift(A.min(a[0], b[0]), A.max(a[1], b[1]), a[2] + b[2]), triples)
    start = A.lift(A.constant(0.0, np.float32), A.constant(1, np.int64), A.constant(0.0, np.float32))
    last = A.postscanl(lambda a, b: A.lift(b[0], b[1], b[2]), start, triples)
    found = A.run((extremes, last), backend=backend(platform).name)
    assert [np.asarray(leaf).tolist() for leaf in (*found[0], *found[1])] == [0.0, 8, 0.0, [0.0], [8], [0.0]]
