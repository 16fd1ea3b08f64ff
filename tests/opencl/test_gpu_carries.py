"""What stands before each block, as a GPU finds it out: many blocks are a few where little is held at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.loops.gpu.chains import gpu_carries
from accel.backends.opencl.program import PLAIN, translate
from accel.backends.protocol import HostArray, compiled
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR
from accel.schedule.machine import WorkItems
from accel.schedule.templates.choose import program_schedules
from tests.opencl.check import loops
from tests.opencl.platforms import as_gpu, each_platform


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_carries, "STAGED", 16)
    monkeypatch.setattr(gpu_carries, "HELD", 2)


def sums(row: HostArray, seed: float) -> HostArray:
    """The sums of a row in the order of scans; NumPy accumulates from the left."""
    padded = np.concatenate([row, np.full(-len(row) % BLOCK, -0.0, row.dtype)])
    lanes = padded.reshape(-1, BLOCK // SCAN_VECTOR, SCAN_VECTOR).copy()
    for reach in (1, 2, 4):
        lanes[..., reach:] = lanes[..., :-reach] + lanes[..., reach:]
    carried = np.add.accumulate(lanes[..., -1], axis=1)
    lanes[:, 1:] = carried[:, :-1, None] + lanes[:, 1:]
    ends = np.add.accumulate(np.concatenate([[row.dtype.type(seed)], lanes[:, -1, -1]]))
    result: HostArray = (ends[:-1, None, None] + lanes).reshape(-1)[: len(row)]
    return result


def found(platform: str, program: Any, xs: HostArray) -> HostArray:  # Any: of arrays whose types are known at run time
    """The result, as on a GPU."""
    planned, arguments = loops("greedy", (program(use(xs)),))
    (result,) = compiled(as_gpu(platform), planned)(arguments)
    return np.asarray(result)


@each_platform
@pytest.mark.parametrize("blocks", [0, 1, 2, 15, 16, 17, 40])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_one_work_item_adds_in_order(platform: str, kind: Any, blocks: int) -> None:
    xs = np.random.default_rng(blocks).standard_normal(max(BLOCK * blocks - 77, 0)).astype(kind)
    got = found(platform, lambda xs: A.scanl(A.add, A.constant(1.5, kind), xs), xs)
    np.testing.assert_array_equal(got[1:], sums(xs, 1.5))


@each_platform
@pytest.mark.parametrize("columns", [BLOCK, 33 * BLOCK + 1])
def test_rows(platform: str, columns: int) -> None:
    xs = np.random.default_rng(columns).standard_normal((3, columns)).astype(np.float32)
    got = found(platform, lambda xs: A.scanl1(A.add, xs), xs)
    np.testing.assert_array_equal(got, [sums(row, -0.0) for row in xs])


@pytest.mark.parametrize(("program", "asked"), [(lambda xs: A.scanl1(A.add, xs), False), (A.scanlTotal, True)])
def test_blocks_that_are_alone_in_their_rows_come_to_nothing(program: Any, asked: bool) -> None:
    """Unless somebody asks for what rows come to."""
    scanned = program(use(np.zeros((2, 300)))) if not asked else program(A.add, 0.0, use(np.zeros((2, 300))))
    planned, _ = loops("greedy", scanned if asked else (scanned,))
    every = translate(program_schedules(planned, WorkItems(gpu=True)), replace(PLAIN, gpu=True)).nests
    totals = [kernel for made in every for kernel in made.kernels if "totals" in kernel.name]
    assert totals
    assert [kernel.runs(lambda _: BLOCK) for kernel in totals] == [asked] * len(totals)
    assert all(kernel.runs(lambda _: BLOCK + 1) for kernel in totals)


@each_platform
def test_each_row_is_carried_where_any_order_serves(platform: str) -> None:
    xs = np.random.default_rng(5).integers(-9, 99, (2, 258 * BLOCK + 7), np.int32)
    got = found(platform, lambda xs: A.scanl1(A.add, xs), xs)
    np.testing.assert_array_equal(got, np.cumsum(xs, axis=1, dtype=np.int32))


@each_platform
@pytest.mark.parametrize("blocks", [0, 1, 255, 257, 520])
def test_all_work_items_carry_where_any_order_serves(platform: str, blocks: int) -> None:
    xs = np.random.default_rng(blocks).integers(-9, 99, max(BLOCK * blocks - 5, 0), np.int32)
    np.testing.assert_array_equal(found(platform, lambda xs: A.scanl1(A.add, xs), xs), np.cumsum(xs, dtype=np.int32))
    largest = found(platform, lambda xs: A.scanl1(A.max, xs), xs[:: 7 if blocks > 1 else 1])
    np.testing.assert_array_equal(largest, np.maximum.accumulate(xs[:: 7 if blocks > 1 else 1]))
