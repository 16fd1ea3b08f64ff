"""Products as GPUs run them, in tiles, forced on every platform: the bits of the processor's tiles and of the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.loops.gpu.products.product_tiles import ENOUGH, MOST_BLOCKS
from accel.backends.opencl.machine.features import NARROW_POSITIONS
from accel.backends.opencl.program import PLAIN, translate
from accel.backends.protocol import HostArray, compiled
from accel.ir.meaning.interpret import interpret
from accel.labelled.meaning.order import BLOCK
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Template
from accel.schedule.templates.choose import program_schedules
from accel.schedule.verify import verify
from tests.marks import long, one_in
from tests.opencl.check import loops, same
from tests.opencl.platforms import as_gpu, each_platform, fresh

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time

GPU = WorkItems(gpu=True)


def numbers(shape: tuple[int, ...], kind: type[np.number[Any]]) -> HostArray:
    return (np.random.default_rng(sum(shape)).standard_normal(shape) * 9).astype(kind)


def agrees(platform: str, function: Callable[..., Handle], *data: HostArray) -> None:
    planned, arguments = loops("greedy", [function(*map(use, data))])
    on = as_gpu(platform)
    assert "_tiles(" in translate(program_schedules(planned, on.machine), on.features).text
    same(compiled(on, planned)(arguments), interpret(planned, arguments))


SHAPES = [
    (33, 40, 70),
    (64, 32, 1),
    (65, 129, 33),
    (32, 32, 0),
    (40, 70, 64),
    (31, 40, 9),
    (34, 33, 200),
    (128, 64, 65),
]


@each_platform
@pytest.mark.parametrize("kind", one_in(3, (np.float32, np.float64, np.int32)))
@pytest.mark.parametrize("shape", one_in(4, map(pytest.param, SHAPES)))
def test_products(platform: str, shape: tuple[int, int, int], kind: type[np.number[Any]]) -> None:
    """Around the edges of tiles and of lanes; too few rows run another way."""
    rows, columns, shared = shape
    agrees(platform, A.matmul, numbers((rows, shared), kind), numbers((shared, columns), kind))


@each_platform
@pytest.mark.parametrize("kind", one_in(2, (np.float32, np.float64)))
@pytest.mark.parametrize("shared", one_in(5, (5 * BLOCK + 77, BLOCK, BLOCK + 1, 2 * BLOCK, 7 * BLOCK + 4095), kept=2))
def test_sums_of_several_blocks(platform: str, shared: int, kind: type[np.number[Any]]) -> None:
    """Their values join in pairs, as where a work-item has all of a row."""
    data = numbers((33, shared), kind), numbers((shared, 34), kind)
    planned, arguments = loops("greedy", [A.matmul(*map(use, data))])
    on = fresh(platform)  # which optimises: there are many sums
    on.features = replace(on.features, gpu=True, narrow_positions=NARROW_POSITIONS)
    same(compiled(on, planned)(arguments), compiled(fresh(platform), planned)(arguments))


@long
def distances(xs: Handle, ys: Handle, zs: Handle) -> Handle:
    """With what comes before and after in the same loop."""
    n, _ = A.unlift(xs.shape)
    m, _ = A.unlift(ys.shape)
    left, right = A.replicate((A.All, m, A.All), xs), A.replicate((n, A.All, A.All), ys)
    sums = A.fold(A.add, 3, A.zipWith(lambda x, y: A.max(x - y, y * 0.5), left, right))
    return A.zipWith(lambda s, z: s * z + 1, sums, A.replicate((n, A.All), zs))


@each_platform
def test_more_than_products(platform: str) -> None:
    """Distances with what comes before and after in the same loop; and a batch, of transposed factors."""

    agrees(
        platform, distances, numbers((40, 19), np.float32), numbers((35, 19), np.float32), numbers((35,), np.float32)
    )
    agrees(platform, lambda xs, ys: A.matmul(A.transpose(xs), A.transpose(ys)),
           numbers((19, 40), np.float32), numbers((35, 19), np.float32))  # fmt: skip
    agrees(platform, A.matmul, numbers((2, 33, 10), np.float32), numbers((2, 10, 40), np.float32))


def test_tiles_run_where_they_serve() -> None:
    """For enough rows and columns, and folds of no more blocks than work-items have room for."""
    planned, _ = loops("greedy", [A.matmul(use(numbers((3, 4), np.float32)), use(numbers((4, 5), np.float32)))])
    scheduled = program_schedules(planned, GPU)
    (nest,) = (each for each in scheduled.nests if each.by(Template.ITEM_TILES) is not None)
    for schedule in nest.schedules:
        verify(schedule)
    on = translate(scheduled, replace(PLAIN, gpu=True))
    (made,) = (each for each in on.nests if any(kernel.name.endswith("_tiles") for kernel in each.kernels))
    sizes = {variable: number for number, variable in enumerate(made.parameters.sizes)}

    def launched(*extents: int) -> bool:
        ran = {kernel.name for kernel in made.kernels if kernel.runs(lambda variable: extents[sizes[variable]])}
        assert len(ran) == 1 or not any(name.endswith("_tiles") for name in ran)
        return any(name.endswith("_tiles") for name in ran)

    rows, shared, columns = ENOUGH, MOST_BLOCKS * BLOCK, ENOUGH
    assert launched(rows, shared, columns)
    assert not launched(rows - 1, shared, columns)
    assert not launched(rows, shared + 1, columns)
    assert not launched(rows, shared, columns - 1)
