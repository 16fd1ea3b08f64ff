"""Sorting on GPUs, by devices that are taken for some: whole rows in local memory, and long ones by radix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.opencl import backend as opencl
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.loops.gpu.radix import CHUNK
from accel.backends.opencl.machine.binaries import POCL
from accel.backends.opencl.sorting import selector
from accel.backends.opencl.sorting.sorter import Sorter
from accel.backends.opencl.sorting.text import ROW
from accel.backends.protocol import HostArray, compiled
from tests.opencl.check import loops, same
from tests.opencl.platforms import as_gpu, backend, each_platform
from tests.run.test_sorting import KINDS, data

SHAPES = [(0,), (1,), (4, 0), (41,), (ROW - 1,), (ROW,), (ROW + 1,), (500, 2), (129, 16), (3, 1000), (2, 3 * CHUNK + 7)]
"""Rows that share a group, fill it, and are more than it holds; of one chunk and of several."""


def taken_for_a_gpu(platform: str) -> OpenCLBackend:
    """A device of the platform. PoCL's compiler (3.1 with LLVM 15) ends the process on the kernel of whole rows."""
    if platform == POCL:
        pytest.skip("PoCL's compiler ends the process, and PoCL sorts on the host")
    return as_gpu(platform)


def sorted_by(on: OpenCLBackend, results: list[A.Acc[Any]]) -> list[HostArray]:
    """What they are on the backend."""
    program, arguments = loops("greedy", results)
    return list(compiled(on, program)(arguments))


def in_order(xs: HostArray) -> list[HostArray]:
    """The rows of an array in order, and where their elements stand; from the greatest on these, too."""
    places = np.argsort(xs, -1, kind="stable")
    last = xs.shape[-1] - 1
    return [
        np.take_along_axis(xs, places, -1),
        places,
        last - np.argsort(xs[..., ::-1], -1, kind="stable")[..., ::-1],
    ]


@each_platform
@pytest.mark.parametrize("kind", ["float32", *[kind for kind in KINDS if kind != "float32"], "float16"])
def test_rows_are_in_order(platform: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few values, so that many are equal, and all that are special. The host has no part in it."""
    monkeypatch.delattr(opencl, "sort_into")
    on = taken_for_a_gpu(platform)
    for seed, shape in enumerate(SHAPES):
        with np.errstate(over="ignore"):
            xs = data("float32" if kind == "float16" else kind, shape, seed).astype(kind)
        given = A.use(xs)
        # `topK` of a whole row is its order from the greatest on.
        descending = [A.topK(shape[-1], given)[1]] if all(shape) else []
        found = sorted_by(on, [A.sort(given), A.argsort(given), *descending])
        same(found, in_order(xs)[: len(found)])


@each_platform
@pytest.mark.parametrize("kind", ["float32", *[kind for kind in KINDS if kind != "float32"], "float16"])
def test_the_first_of_long_rows_are_selected(platform: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the host nor passes over whole rows have a part in it: many are equal, so that places decide as well."""
    monkeypatch.delattr(opencl, "sort_into")
    monkeypatch.delattr(Sorter, "_passes")
    on = taken_for_a_gpu(platform)
    for seed, (shape, first) in enumerate([((ROW + 1,), 1), ((3, ROW + 9), 256), ((2, 5, 3000), 7), ((70_001,), 900)]):
        with np.errstate(over="ignore"):
            xs = data("float32" if kind == "float16" else kind, shape, seed).astype(kind)
        given = A.use(xs)
        values, places = A.topK(first, given)
        _, ascending, descending = in_order(xs)
        wanted = [np.take_along_axis(xs, descending.astype(np.intp), -1), descending, ascending]
        found = sorted_by(on, [values, places, A.take(first, A.argsort(given))])
        same(found, [np.ascontiguousarray(each[..., :first]) for each in wanted])


@each_platform
@pytest.mark.parametrize("kind", ["int32", "float64"])
@pytest.mark.parametrize("what", ["equal", "rising", "random", "two values"])
def test_selection_of_many_and_of_hardly_different_keys(
    platform: str, kind: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is little room, rounds go on through all bits of keys, and of places; or more is kept than a group sorts."""
    monkeypatch.setattr(selector, "LEAST_ROOM", 1)
    n, rng = 30_011, np.random.default_rng(3)
    xs = {
        "equal": np.zeros(n),
        "rising": np.arange(n) + 2.0**30,
        "random": rng.integers(-(2**31), 2**31, n),
        "two values": rng.integers(0, 2, n),
    }[what].astype(kind)
    on = taken_for_a_gpu(platform)
    for first in (1, 300, 3000):
        _, places = A.topK(first, A.use(xs))
        same(sorted_by(on, [places]), [in_order(xs)[2][:first]])


@each_platform
@pytest.mark.parametrize("count", [100, ROW + 100])
def test_tuples_are_compared_from_the_first_item_to_the_last(platform: str, count: int) -> None:
    xs, ys, zs = data("float32", (3, count)), data("int8", (3, count), 1), data("int64", (3, count), 2)
    triples = A.zip3(A.use(xs), A.use(ys), A.use(zs))
    found = sorted_by(taken_for_a_gpu(platform), [A.argsort(triples), A.argsort(A.zip(A.use(ys), A.use(xs)))])
    same(found, [np.lexsort((zs, ys, xs), -1), np.lexsort((xs, ys), -1)])


@each_platform
def test_in_pieces(platform: str) -> None:
    """A device whose kernels must not take long is given a chunk at a time."""
    on = taken_for_a_gpu(platform)
    on.features = replace(on.features, most=1)
    for shape in [(2, 2 * CHUNK + 1), (900, 7)]:
        xs = data("int16", shape)
        if shape[-1] > ROW:
            same(sorted_by(on, [A.topK(9, A.use(xs))[1]]), [np.ascontiguousarray(in_order(xs)[2][..., :9])])
        same(sorted_by(on, [A.sort(A.use(xs)), A.argsort(A.use(xs))]), in_order(xs)[:2])


@each_platform
def test_what_is_sorted_is_a_program_s_own(platform: str) -> None:
    """Keys are made on the device, and what is sorted is read there; the argument stays as it is."""
    xs = np.random.default_rng(0).standard_normal(3 * CHUNK).astype(np.float32)
    given = A.use(xs)
    program, arguments = loops("greedy", [A.sum(A.take(10, A.sort(A.map(lambda x: x * x, given)))), A.sort(given)])
    kept = xs.copy()
    least, ordered = compiled(taken_for_a_gpu(platform), program)(arguments)
    assert float(least[()]) == pytest.approx(np.sort(xs * xs)[:10].sum(), rel=1e-5)
    np.testing.assert_array_equal(ordered, np.sort(xs))
    np.testing.assert_array_equal(xs, kept)


@each_platform
def test_processors_sort_on_the_host(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their memory is the host's, whose sorts are faster there."""
    if backend(platform).features.gpu:
        pytest.skip("it is a GPU")
    monkeypatch.delattr(Sorter, "sort")
    xs = data("int32", (3, 5000))
    same(sorted_by(backend(platform), [A.sort(A.use(xs))]), [np.sort(xs)])


@each_platform
def test_without_room_for_copies_of_keys_the_host_sorts(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Sorter, "_passes", full)
    xs = data("int32", (3, 5000))
    same(sorted_by(as_gpu(platform), [A.sort(A.use(xs))]), [np.sort(xs)])
