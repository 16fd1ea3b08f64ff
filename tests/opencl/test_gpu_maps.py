"""Maps as GPUs run them, forced on every platform, against NumPy: small elements, transposes, indices of several loops."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.code.kernel import Choice
from accel.backends.opencl.loops.gpu.turned_blocks import EDGE
from accel.backends.opencl.program import PLAIN, opencl_text
from accel.backends.protocol import HostArray
from accel.labelled.array import Extent
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Template
from accel.schedule.templates.choose import program_schedules, schedules
from tests.marks import one_in
from tests.opencl.check import compiled_on, same
from tests.opencl.platforms import each_platform
from tests.opencl.test_gpu_folds import gpu
from tests.schedule import programs

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time

GPU = WorkItems(gpu=True)


def templates(function: Callable[..., object], *data: HostArray, machine: WorkItems = GPU) -> list[Template]:
    (nest,) = programs.lowered(function, *data).nests
    return [schedule.template for schedule in schedules(nest, machine).schedules]


def check(platform: str, function: Callable[..., Handle], data: tuple[HostArray, ...], expected: HostArray) -> None:
    same(compiled_on(gpu(platform), function, *data)(data), [expected])


SMALL = [(1003,), (0,), (1,), (3,), (4,), (5,), (63, 5), (2, 3, 7)]


@each_platform
@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.bool_, np.int32, np.int64])
@pytest.mark.parametrize("shape", one_in(3, map(pytest.param, SMALL)))
def test_neighbouring_elements(platform: str, shape: tuple[int, ...], kind: type[np.generic]) -> None:
    data = np.random.default_rng(1).integers(0, 2, shape).astype(kind)

    def function(xs: Handle, ys: Handle) -> Handle:
        return A.zipWith(lambda x, y: x ^ y, xs, ys)

    other = data[::-1].copy()
    assert templates(function, data, other) == [Template.FEW_ITEMS]
    check(platform, function, (data, other), data ^ other)


@each_platform
def test_neighbouring_elements_at_their_index(platform: str) -> None:
    """Of one loop the index may be used; of several it is that of all."""
    data = np.arange(1001, dtype=np.uint8).astype(np.uint8)

    def function(xs: Handle) -> Handle:
        return A.imap(lambda ix, x: x + A.cast(A.unindex(ix)[0], np.uint8), xs)

    assert templates(function, data) == [Template.FEW_ITEMS]
    check(platform, function, (data,), data + np.arange(1001).astype(np.uint8))


@each_platform
def test_neighbouring_elements_beside_others(platform: str) -> None:
    """A single element of another array, and elements of the same in another order."""
    data, scalar = np.arange(9, dtype=np.int8), np.array(3, np.int8)

    def function(xs: Handle, y: Handle) -> Handle:
        return A.imap(lambda ix, x: x + A.the(y) + xs[A.size(xs) - 1 - A.unindex(ix)[0]], xs)

    assert templates(function, data, scalar) == [Template.FEW_ITEMS]
    check(platform, function, (data, scalar), data + 3 + data[::-1])


@each_platform
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_neighbouring_elements_of_two_sizes(platform: str, kind: type[np.floating]) -> None:
    """As many as make a vector of the larger ones, and four at least."""
    data = np.arange(-50, 53, dtype=np.int8)

    def function(xs: Handle) -> Handle:
        return A.map(lambda x: A.toFloating(x, kind) / 8, xs)

    assert templates(function, data) == [Template.FEW_ITEMS]
    check(platform, function, (data,), data.astype(kind) / 8)


@each_platform
@pytest.mark.parametrize("at", [16, 32, 48, 64])
def test_arrays_that_begin_between_vectors(platform: str, at: int) -> None:
    """A device may use an array where it lies, if that is a multiple of 16 bytes, though four of its elements take 32."""
    memory = np.empty(8 * 1027 + 128, np.uint8)
    begin = -memory.ctypes.data % 64 + at
    large = memory[begin : begin + 8 * 1027].view(np.int64)
    large[:] = np.arange(1027)
    small = large.astype(np.int8)

    def function(xs: Handle, ys: Handle) -> Handle:
        return A.zipWith(lambda x, y: x + A.cast(y, np.int64), xs, ys)

    assert templates(function, large, small) == [Template.FEW_ITEMS]
    check(platform, function, (large, small), large + small)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_no_vector_has_more_than_16_bytes(kind: type[np.signedinteger[Any]]) -> None:
    """No GPU fetches more at once, and no array need begin at a multiple of more."""
    data = np.ones(9, kind), np.ones(9, np.int8)

    def function(xs: Handle, ys: Handle) -> Handle:
        return A.zipWith(lambda x, y: x + A.cast(y, kind), xs, ys)

    text = opencl_text(program_schedules(programs.lowered(function, *data).loops, GPU), replace(PLAIN, gpu=True))
    bytes_of = {"char": 1, "short": 2, "int": 4, "long": 8}
    vectors = re.findall(r"\(__global (\w+?)(\d+)\*\)", text)
    assert max(bytes_of[name] * int(count) for name, count in vectors) == 16


def test_loops_are_not_written_out() -> None:
    """What an element may take long for is written once."""

    def function(xs: Handle) -> Handle:
        return A.map(lambda x: A.while_(lambda u: u < 99, lambda u: u * 2 + 1, x), xs)

    assert Template.FEW_ITEMS not in templates(function, np.ones(9, np.int8))


SHAPES = [(33, 65), (0, 40), (40, 0), (1, 1), (16, 16), (15, 300), (300, 15), (32, 32), (64, 31), (100, 17), (257, 130)]


@each_platform
@pytest.mark.parametrize("kind", [np.float32, np.int8, np.float64])
@pytest.mark.parametrize("shape", one_in(4, map(pytest.param, SHAPES)))
def test_transposes(platform: str, shape: tuple[int, int], kind: type[np.generic]) -> None:
    data = np.random.default_rng(2).normal(0, 50, shape).astype(kind)
    assert templates(A.transpose, data) == [Template.TURNED_BLOCKS, Template.ITEMS]
    check(platform, A.transpose, (data,), data.T.copy())


@each_platform
def test_maps_of_transposes(platform: str) -> None:
    """Two arrays across, one along; with the index, and in two of three dimensions."""
    data = np.random.default_rng(3).normal(size=(50, 70)).astype(np.float32)
    along = np.random.default_rng(4).normal(size=(70, 50)).astype(np.float32)

    def sums(xs: Handle, ys: Handle) -> Handle:
        both = A.zipWith3(lambda x, y, z: x * y - z, A.transpose(xs), ys, A.transpose(A.reverse(xs)))
        return A.imap(lambda ix, x: x + A.toFloating(A.unindex(ix)[1], np.float32), both)

    expected = data.T * along - data[:, ::-1].T + np.arange(50, dtype=np.float32)
    check(platform, sums, (data, along), expected)
    cube = np.random.default_rng(5).normal(size=(3, 40, 20)).astype(np.float32)
    check(platform, lambda xs: A.transposeOn(1, 2, xs), (cube,), np.swapaxes(cube, 1, 2).copy())
    check(platform, lambda xs: A.transposeOn(0, 2, xs), (cube,), np.swapaxes(cube, 0, 2).copy())


@each_platform
def test_indices_of_several_loops(platform: str) -> None:
    def places(ix: Any) -> Any:  # Any: an index, a number
        i, j, k = A.unindex(ix)
        return i * 10_000 + j * 100 + k

    expected = np.arange(3)[:, None, None] * 10_000 + np.arange(50)[:, None] * 100 + np.arange(7)
    check(platform, lambda: A.reverseOn(1, A.generate((3, 50, 7), places)), (), expected[:, ::-1].copy())


PATCHES = [
    (5, 64),
    (4, 256),
    (3, 257),
    (9, 600),
    (1, 63),
    (0, 100),
    (100, 0),
    (2, 3, 100),
    (3, 5, 2, 70),
    (0, 3, 64),
    (2, 0, 64),
]


@each_platform
@pytest.mark.parametrize("shape", one_in(4, map(pytest.param, PATCHES), kept=4))
def test_patches(platform: str, shape: tuple[int, ...]) -> None:
    """One number for each row, one for each column, one for each of the outermost dimension."""
    random = np.random.default_rng(6)
    xs, columns, outer = (random.normal(size=n).astype(np.float32) for n in (shape, shape[-1:], shape[:1]))

    def function(xs: Handle, columns: Handle, outer: Handle) -> Handle:
        def mapped(ix: Any, x: Any) -> Any:  # Any: an index, a number
            every = A.unindex(ix)
            return x * columns[every[-1]] + outer[every[0]] * A.toFloating(every[-2], np.float32)

        return A.imap(mapped, xs)

    row = np.arange(shape[-2], dtype=np.float32)[:, None]
    expected = xs * columns + outer.reshape(-1, *[1] * (len(shape) - 1)) * row
    for machine, expected_template in ((GPU, Template.PATCHES), (WorkItems(gpu=False), Template.STRIPS)):
        assert templates(function, xs, columns, outer, machine=machine) == [expected_template, Template.ITEMS]
    check(platform, function, (xs, columns, outer), expected)


@each_platform
def test_patches_of_loops_that_run_downwards(platform: str) -> None:
    data = np.random.default_rng(7).normal(size=(6, 300)).astype(np.float32)

    def function(xs: Handle) -> Handle:
        rows = A.scanl1(A.add, A.reverseOn(0, xs))
        return A.imap(lambda ix, x: x + A.toFloating(A.unindex(ix)[0], np.float32), A.reverseOn(1, rows))

    expected = A.run(function(A.use(data)), backend="interpreter")
    check(platform, function, (data,), expected)


@each_platform
def test_patches_whose_columns_are_several_loops(platform: str) -> None:
    """Two inner dimensions lie as they run, so they are the columns."""
    xs = np.random.default_rng(8).normal(size=(7, 11, 13)).astype(np.float32)
    outer = np.arange(7, dtype=np.float32)

    def function(xs: Handle, outer: Handle) -> Handle:
        return A.zipWith(A.mul, xs, A.replicate((A.All, 11, 13), outer))

    (nest,) = programs.lowered(function, xs, outer).nests
    first, _ = schedules(nest, GPU).schedules
    assert first.template is Template.PATCHES
    assert [len(axis.loops) for axis in first.axes] == [1, 2]
    check(platform, function, (xs, outer), xs * outer[:, None, None])


def test_what_has_no_patches() -> None:
    """Arrays that lie as the loops run; rows with loops inside."""
    data = np.ones((8, 100), np.float32)
    assert templates(lambda xs: A.map(lambda x: x + 1, xs), data) == [Template.FEW_ITEMS]
    assert Template.PATCHES not in templates(lambda xs: A.scanl(A.add, 0, xs), data)


def test_blocks_want_both_sides() -> None:
    sides = Extent(None, EDGE // 2), Extent(None, 1000)
    assert Choice(sides, EDGE // 2, below=False, least=True).holds(lambda _: 0)
    assert not Choice(sides, EDGE // 2 + 1, below=False, least=True).holds(lambda _: 0)
    assert Choice(sides, EDGE // 2 + 1, below=True, least=True).holds(lambda _: 0)


@each_platform
@pytest.mark.parametrize("size", [0, 1, 3, 4, 1003])
def test_neighbouring_elements_of_places(platform: str, size: int) -> None:
    """A gather: places beside each other are fetched together, and each says whether it is in bounds."""
    data, at = np.arange(50, dtype=np.float32), np.random.default_rng(7).integers(0, 50, size)

    def function(at: Handle, xs: Handle) -> Handle:
        return A.gather(at, xs)

    assert templates(function, at, data) == [Template.FEW_ITEMS]
    program = compiled_on(gpu(platform), function, at, data)
    same(program((at, data)), [data[at]])
    for wrong in {0, size - 1} if size else ():
        with pytest.raises(A.AccelIndexError, match="50"):
            program((np.where(np.arange(size) == wrong, 50, at), data))


@each_platform
@pytest.mark.parametrize("shape", [(8, 64), (9, 300), (19, 257), (3, 8, 70)])
def test_stencils_in_patches(platform: str, shape: tuple[int, ...]) -> None:
    """Patches of eight rows and the rest; rows behind other loops."""
    data = np.random.default_rng(8).integers(-99, 99, shape).astype(np.int32)

    def around(n: Any) -> Any:  # Any: a neighbourhood, a number
        before = (0,) * (len(shape) - 2)
        return n(*before, 0, 0) * 5 - n(*before, -1, 0) - n(*before, 1, 0) - n(*before, 0, -1) - n(*before, 0, 1)

    def function(xs: Handle) -> Handle:
        return A.stencil(around, A.boundary.clamp, xs)

    assert templates(function, data)[0] is Template.PATCHES
    edged = np.pad(data, [(0, 0)] * (len(shape) - 2) + [(1, 1), (1, 1)], "edge")
    inner = slice(1, -1)
    sums = edged[..., :-2, inner] + edged[..., 2:, inner] + edged[..., inner, :-2] + edged[..., inner, 2:]
    check(platform, function, (data,), data * 5 - sums)
