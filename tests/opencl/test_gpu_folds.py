"""Folds as GPUs run them, forced on every platform: around the edges of lanes, blocks, groups and strips, against NumPy in the
order of docs/order.md, written down once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.loops.gpu import block_groups
from accel.backends.protocol import HostArray, compiled
from accel.labelled.meaning.order import fold
from tests.marks import one_in
from tests.opencl.check import compiled_on, loops, on_device, same
from tests.opencl.platforms import each_platform, fresh, gpu_features

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time
Floats: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.floating[Any]]]"  # Any: NumPy's precision


def gpu(platform: str) -> OpenCLBackend:
    """A device that is taken for a GPU."""
    on = fresh(platform)
    on.features = replace(gpu_features(on), together=on.features.together)
    return on


def folded(rows: Floats, seed: float = 0) -> Floats:
    """Sums of the last dimension: lanes, blocks, and pairs of these."""
    width = 32 if rows.itemsize == 8 else 64
    blocks = [_block(rows[..., at : at + 4096], width) for at in range(0, rows.shape[-1], 4096)]
    while len(blocks) > 1:
        pairs = [blocks[at] + blocks[at + 1] for at in range(0, len(blocks) - 1, 2)]
        blocks = pairs + blocks[len(blocks) - len(blocks) % 2 :]
    start = np.full(rows.shape[:-1], seed, rows.dtype)
    return start + blocks[0] if blocks else start


def _block(elements: Floats, width: int) -> Floats:
    lanes = [elements[..., lane::width] for lane in range(min(width, elements.shape[-1]))]
    sums = [np.add.accumulate(lane, axis=-1)[..., -1] for lane in lanes]
    while width > 1:
        width //= 2
        for lane in range(max(0, min(width, len(sums) - width))):
            sums[lane] = sums[lane] + sums[lane + width]
    return sums[0]


def numbers(shape: tuple[int, ...], kind: type[np.floating[Any]]) -> Floats:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(kind)


def check(platform: str, function: Callable[[Handle], Handle], data: HostArray, expected: HostArray) -> None:
    run = compiled_on(gpu(platform), function, data)
    same(run([data]), [expected])


FLOATS = (np.float32, np.float64)


@each_platform
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    "size", one_in(4, [4096 * 16 + 1, 0, 1, 4096 * 16, 4096 * 19 + 777, 4096 * 48, 4096 * 16 * 5 - 1])
)
@pytest.mark.parametrize("chunk", [2, 1024])
def test_folds_of_all(
    platform: str, chunk: int, size: int, kind: type[np.floating[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several levels of joins, too: of two groups' values at a time."""
    monkeypatch.setattr(block_groups, "CHUNK", chunk)
    data = numbers((size,), kind)
    check(platform, lambda xs: A.fold(A.add, 3, xs), data, folded(data, 3))


ROWS = [(65, 3), (2500, 3), (3, 0), (0, 3), (7, 1), (129, 2), (5, 31), (5, 32), (9, 33), (5, 64), (130, 64), (5, 65),
        (300, 255), (35, 511), (33, 512), (3, 1024), (2, 4095), (2, 4096), (3, 4097), (2, 65536), (3, 65537),
        (2, 200_000)]  # fmt: skip


@each_platform
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(("count", "size"), one_in(6, ROWS))
def test_folds_of_rows(platform: str, count: int, size: int, kind: type[np.floating[Any]]) -> None:
    data = numbers((count, size), kind)
    check(platform, lambda xs: A.fold(A.add, 0, xs), data, folded(data))


@each_platform
@pytest.mark.parametrize(("count", "size"), [(2500, 3), (33, 100)])
def test_rows_that_are_written_on_the_way(platform: str, count: int, size: int) -> None:
    """No row that a group has room for, and that is not there, is written in place of another."""
    data = numbers((count, size), np.float32)

    def program(xs: Handle) -> tuple[Handle, Handle]:
        doubled = A.map(lambda x: x + x, xs)
        return doubled, A.sum(doubled)

    planned, arguments = loops("greedy", program(A.use(data)))
    assert len(planned.steps) == 1
    same(compiled(gpu(platform), planned)(arguments), [data + data, folded(data + data)])


@each_platform
@pytest.mark.parametrize(("count", "size"), [(2500, 3), (33, 100)])
def test_rows_that_are_scattered_on_the_way(platform: str, count: int, size: int) -> None:
    """Each element once, though lanes and rows that are not there take others where nothing shows it."""
    data = np.random.default_rng(size).integers(0, 50, (count, size))

    def program(xs: Handle) -> tuple[Handle, Handle]:
        counts = A.permute(A.add, A.fill((100,), A.constant(0, np.int64)), lambda ix: A.just(A.index(xs[ix])), xs)
        return counts, A.sum(xs)

    planned, arguments = loops("greedy", program(A.use(data)))
    assert len(planned.steps) == 2
    run = compiled(gpu(platform), planned)
    counts = np.bincount(data.ravel(), data.ravel(), 100).astype(np.int64)
    same(run(arguments), [counts, data.sum(1)])


COLUMNS = [(65, 33), (0, 3), (3, 0), (1, 1), (70, 2), (63, 5), (64, 31), (65, 32), (300, 100), (4095, 3), (4096, 9),
           (4097, 40), (20_000, 3), (270_000, 2)]  # fmt: skip


@each_platform
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(("size", "count"), one_in(6, COLUMNS))
def test_folds_of_columns(platform: str, size: int, count: int, kind: type[np.floating[Any]]) -> None:
    data = numbers((size, count), kind)
    check(platform, lambda xs: A.fold(A.add, 0, A.transpose(xs)), data, folded(data.T))


@each_platform
@pytest.mark.parametrize("shape", [(3, 70, 5), (2, 65, 40), (40, 3, 33), (2, 5000, 3)])
def test_folds_of_the_middle(platform: str, shape: tuple[int, int, int]) -> None:
    data = numbers(shape, np.float32)
    check(platform, lambda xs: A.fold(A.add, 0, A.transposeOn(1, 2, xs)), data, folded(np.swapaxes(data, 1, 2)))


@each_platform
@pytest.mark.parametrize(
    "name", ["fold_rows", "fold_long_rows", "fold_columns", "fold_of_rows_indexed", "several_per_row"]
)
def test_rows_of_all_kinds(platform: str, name: str) -> None:
    """Folds that do not commute, several in one loop, with maps beside and behind them."""
    on_device(gpu(platform), f"map-{name}")


@each_platform
@pytest.mark.parametrize("size", [1, 129, 4096 * 16 + 1])
def test_folds_that_do_not_commute(platform: str, size: int) -> None:
    """Of all, of rows and of columns, against the reference of the order."""

    def halving(a: Any, b: Any) -> Any:  # Any: numbers, and expressions
        return a * 0.5 + b

    data = numbers((2, size), np.float64)
    expected = np.array([fold(list(row), halving, commutes=False, width=32) for row in data])
    check(platform, lambda xs: A.fold1(halving, xs), data, expected)
    check(platform, lambda xs: A.fold1(halving, A.transpose(xs)), data.T.copy(), expected)
    check(platform, lambda xs: A.fold1(halving, xs), data[0], np.array(expected[0]))


@each_platform
@pytest.mark.parametrize("shape", [(3, 9000), (300, 70), (1000, 3)])
def test_where_the_greatest_stands(platform: str, shape: tuple[int, int]) -> None:
    """Pairs of an element and its place join in any order; of the NaNs in the second row the first is found."""
    data = np.random.default_rng(7).integers(0, 50, shape).astype(np.float32)
    data[1, 2::5] = np.nan
    check(platform, A.argmax, data, data.argmax(-1))
    check(platform, lambda xs: A.argmin(A.transpose(xs)), data, data.argmin(0))
    check(platform, A.argmin, data.reshape(-1)[: shape[1]], data[0].argmin(keepdims=True)[0])
