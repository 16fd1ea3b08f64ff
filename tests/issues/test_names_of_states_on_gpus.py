"""Programs of many kinds of states: variables of GPUs' scans had the names of types of states, so they did not build.

An H200 showed it, in random programs that were joined into one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.protocol import HostArray, compiled
from tests.opencl.check import loops, same
from tests.opencl.platforms import as_gpu, each_platform

KINDS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


@each_platform
def test_scans_beside_folds_of_many_types(platform: str) -> None:
    """Each loop has a scan that is asked for what stands before an element, and a fold; each type has states of its own."""
    results: list[A.Acc[Any]] = []  # Any: ranks and types differ
    expected: list[HostArray] = []
    for number, kind in enumerate(KINDS):
        data = np.arange(1, 20 + number).astype(kind)
        numbers = A.map(lambda x: x * 3, use(data))
        results += [A.map(lambda x: x + 1, A.prescanl(A.add, 1, numbers)), A.fold(A.max, 0, numbers)]
        ends = np.concatenate([[1], 1 + np.add.accumulate(data * kind(3), dtype=kind)]).astype(kind)
        expected += [ends[:-1] + kind(1), (data * kind(3)).max()]
    planned, arguments = loops("greedy", results)
    same(compiled(as_gpu(platform), planned)(arguments), expected)
