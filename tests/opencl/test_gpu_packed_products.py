"""Large products as GPUs run them, packed before: forced on every platform, on small ones; the bits of other schedules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.code.kernel import NestKernels
from accel.backends.opencl.loops.gpu.products import packed_tiles
from accel.backends.opencl.loops.gpu.products.packed_tiles import ENOUGH, MANY, MOST_BLOCKS, MOST_PACKED
from accel.backends.opencl.machine.vendors import INTEL_PLATFORM
from accel.backends.opencl.program import PLAIN, translate
from accel.backends.protocol import HostArray, compiled
from accel.ir.meaning.interpret import interpret
from accel.labelled.meaning.order import BLOCK
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Template
from accel.schedule.templates.choose import program_schedules
from accel.schedule.verify import verify
from benchmarks.convolutions import by_weights, by_weights_of_last, forward
from tests.marks import long, one_in
from tests.opencl.check import loops, same
from tests.opencl.platforms import as_gpu, each_platform, fresh
from tests.opencl.test_gpu_products import distances

orders = pytest.importorskip("tests.opencl.orders")

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time

GPU = WorkItems(gpu=True)

BARRIER = re.compile(r"barrier\([^)]*\);")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small products are packed, too."""
    monkeypatch.setattr(packed_tiles, "ENOUGH", 1)
    monkeypatch.setattr(packed_tiles, "MANY", 1)


def numbers(shape: tuple[int, ...], kind: type[np.number[Any]]) -> HostArray:
    return (np.random.default_rng(sum(shape)).standard_normal(shape) * 9).astype(kind)


def made(function: Callable[..., Handle], *data: HostArray) -> NestKernels:
    """The only nest that is packed."""
    scheduled = program_schedules(loops("greedy", [function(*map(use, data))])[0], GPU)
    for schedule in (each for nest in scheduled.nests for each in nest.schedules):
        verify(schedule)
    nests = translate(scheduled, replace(PLAIN, gpu=True)).nests
    (found,) = (each for each in nests if any(kernel.name.endswith("_packed") for kernel in each.kernels))
    return found


def agrees(platform: str, function: Callable[..., Handle], *data: HostArray) -> None:
    made(function, *data)
    planned, arguments = loops("greedy", [function(*map(use, data))])
    same(compiled(as_gpu(platform), planned)(arguments), interpret(planned, arguments))


@each_platform
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("function", one_in(3, [forward, by_weights, by_weights_of_last]))
def test_sides_that_divide(platform: str, function: Callable[..., Handle]) -> None:
    """Of convolutions rows and columns are several loops that run as one."""
    shapes = {forward: ((2, 3, 9, 7), (5, 3, 3, 2)), by_weights: ((2, 3, 6, 7), (2, 5, 4, 5))}
    left, right = shapes.get(function, ((2, 6, 7, 3), (2, 4, 5, 5)))
    agrees(platform, function, numbers(left, np.float32), numbers(right, np.float32))


SHAPES = [(33, 40, 70), (129, 5, 33), (64, 32, 1), (32, 32, 0), (20, 130, 129), (5, 7, 520)]


@each_platform
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", one_in(3, (np.float32, np.float64, np.int32, np.int64)))
def test_products(platform: str, kind: type[np.number[Any]]) -> None:
    """Around the edges of tiles, lanes and fetches."""
    on, run = as_gpu(platform), None
    for rows, columns, shared in SHAPES:
        data = numbers((rows, shared), kind), numbers((shared, columns), kind)
        planned, arguments = loops("greedy", [A.matmul(*map(use, data))])
        run = run or compiled(on, planned)
        same(run(arguments), compiled(fresh(platform), planned)(arguments))


FEW_BLOCKS = (2 * BLOCK + 1,)
MANY_BLOCKS = (BLOCK, 2 * BLOCK, 5 * BLOCK + 77, BLOCK + 1, 7 * BLOCK + 4095)


@each_platform
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", one_in(2, (np.float32, np.float64)))
@pytest.mark.parametrize("lengths", [FEW_BLOCKS, pytest.param(MANY_BLOCKS, marks=long)], ids=["few", "many"])
def test_sums_of_several_blocks(platform: str, kind: type[np.number[Any]], lengths: tuple[int, ...]) -> None:
    """Their values join in pairs."""
    on, run = as_gpu(platform), None
    for shared in lengths:
        data = numbers((3, shared), kind), numbers((shared, 4), kind)
        planned, arguments = loops("greedy", [A.matmul(*map(use, data))])
        run = run or compiled(on, planned)
        same(run(arguments), compiled(fresh(platform), planned)(arguments))


def paths(xs: Handle, ys: Handle) -> Handle:
    """The least sums of an element of a row and one of a column."""
    n, _ = A.unlift(xs.shape)
    _, m = A.unlift(ys.shape)
    left, right = A.replicate((A.All, m, A.All), xs), A.replicate((n, A.All, A.All), A.transpose(ys))
    return A.fold1(A.min, A.zipWith(A.add, left, right))


def shared_weights(xs: Handle, ys: Handle) -> Handle:
    """A batch whose right factors are the same one."""
    count, _, _ = A.unlift(xs.shape)
    return A.matmul(xs, A.replicate((count, A.All, A.All), ys))


@long
@each_platform
@pytest.mark.usefixtures("small")
def test_more_than_products(platform: str) -> None:
    """Also batches, transposed factors, and what is folded in any order."""
    data = numbers((40, 19), np.float32), numbers((35, 19), np.float32), numbers((35,), np.float32)
    agrees(platform, distances, *data)
    agrees(platform, paths, numbers((40, 19), np.float32), numbers((19, 35), np.float32))
    agrees(platform, lambda xs, ys: A.matmul(A.transpose(xs), A.transpose(ys)),
           numbers((19, 40), np.float32), numbers((35, 19), np.float32))  # fmt: skip
    agrees(platform, A.matmul, numbers((3, 33, 10), np.float32), numbers((3, 10, 40), np.float32))
    agrees(platform, shared_weights, numbers((3, 33, 10), np.float32), numbers((10, 40), np.float32))


def in_order(platform: str, order: str, changed: Callable[[str], str] = str) -> None:
    """A product whose stages end within lanes."""
    data = numbers((140, 70), np.float32), numbers((70, 135), np.float32)
    planned, arguments = loops("greedy", [A.matmul(*map(use, data))])
    wanted = compiled(fresh(platform), planned)(arguments)
    same(compiled(orders.Strict(platform, order, changed), planned)(arguments), wanted)


def in_all_orders(platform: str, changed: Callable[[str], str]) -> None:
    for order in orders.ORDERS:
        in_order(platform, order, changed)


@each_platform
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("order", one_in(3, ["forwards", "backwards", "shuffled"]))
def test_any_order_of_work_items_gives_the_bits(platform: str, order: str) -> None:
    in_order(platform, order)


@long
@each_platform
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_missing_barrier_shows(platform: str, number: int) -> None:
    """In what packs rows, and before and behind each stage of a tile."""
    if platform != INTEL_PLATFORM:
        pytest.skip("only Intel's compiler can be told to run one work-item at a time")

    def without(text: str) -> str:
        kernels = "|".join(("pack_rows", "pack_columns", "packed"))
        last = list(re.finditer(rf"__kernel .*?nest\d+_(?:{kernels})\(", text))[-1]
        end = text.index("\n}", last.start())
        found = list(BARRIER.finditer(text, 0, end))
        assert len(found) == 3
        return text[: found[number].start()] + text[found[number].end() :]

    with pytest.raises(AssertionError, match="not equal"):
        in_all_orders(platform, without)


def test_packing_is_for_large_products() -> None:
    """And for those that leave room; others run as they did, and take no memory."""
    found = made(A.matmul, numbers((3, 4), np.float32), numbers((4, 5), np.float32))
    sizes = {variable: number for number, variable in enumerate(found.parameters.sizes)}

    def launched(*extents: int) -> bool:
        def size(variable: Any) -> int:  # Any: a key of `sizes`
            return extents[sizes[variable]]

        packed = [kernel.runs(size) for kernel in found.kernels if re.search("_pack(ed|_.*)$", kernel.name)]
        others = [kernel.runs(size) for kernel in found.kernels if not re.search("_pack(ed|_.*)$", kernel.name)]
        room = [each.value(size) for each in found.temporaries if each.when]
        assert len(set(packed)) == 1
        assert packed[0] != any(others)
        assert all(room) if packed[0] else not any(room)
        return packed[0]

    rows, columns = MANY // ENOUGH + 1, ENOUGH
    assert launched(rows, 9, columns)
    assert launched(columns, 9, rows)
    assert not launched(MANY // ENOUGH - 1, 9, columns)
    assert not launched(2 * MANY // ENOUGH, 9, ENOUGH - 1)
    assert not launched(ENOUGH - 1, 9, 2 * MANY // ENOUGH)
    assert launched(1 << 12, MOST_BLOCKS * BLOCK, 1 << 10) is (MOST_PACKED >= MOST_BLOCKS * BLOCK << 12)
    assert not launched(1 << 10, MOST_BLOCKS * BLOCK + 1, 1 << 10)
    assert not launched(MOST_PACKED // 2048 + 1, 2048, 1 << 10)
    assert not launched(1 << 10, 2048, MOST_PACKED // 2048 + 1)


def test_a_launch_of_packed_tiles_counts_products() -> None:
    """Not what is read, which is shared by many; and what is computed for each element besides."""

    def work(function: Callable[..., Handle], *data: HostArray) -> int:
        found = made(function, *data)
        (tiles,) = (kernel for kernel in found.kernels if kernel.name.endswith("_packed"))
        assert tiles.work is not None
        return tiles.work.value(lambda _: 10)

    assert work(A.matmul, numbers((3, 4), np.float32), numbers((4, 5), np.float32)) == 10**3
    assert work(A.matmul, numbers((2, 3, 4), np.float32), numbers((2, 4, 5), np.float32)) == 10**4
    assert work(paths, numbers((3, 4), np.float32), numbers((4, 5), np.float32)) == 2 * 10**3


def test_what_several_numbers_are_needed_for_is_not_packed() -> None:
    """Nor where the number of the element matters."""

    def weighted(xs: Handle, ys: Handle) -> Handle:
        n, k = A.unlift(xs.shape)
        _, m = A.unlift(ys.shape)

        def at(place: Any) -> Any:  # Any: expressions of tuples
            return A.max(xs[place[0], place[2]] * ys[place[2], place[1]], A.fromIntegral(place[2], np.float32))

        return A.sum(A.generate((n, m, k), at))

    planned, _ = loops("greedy", [weighted(use(numbers((3, 4), np.float32)), use(numbers((4, 5), np.float32)))])
    (nest,) = program_schedules(planned, GPU).nests
    assert nest.by(Template.PACKED_TILES) is None
