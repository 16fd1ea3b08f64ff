"""Kernels that take too long for a device which draws a screen as well, launched piece by piece: the bits of the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.code.kernel import GROUP_NUMBER, LAUNCHED_END, divisible
from accel.backends.opencl.machine.features import NARROW_POSITIONS, most_operations
from accel.backends.opencl.work import UNKNOWN, work
from accel.backends.protocol import compiled
from accel.ir.meaning.interpret import interpret
from tests.marks import one_in
from tests.opencl.check import loops, on_device, same
from tests.opencl.platforms import each_platform, fresh
from tests.opencl.programs import ALL


def in_pieces(platform: str, most: int, *, gpu: bool) -> OpenCLBackend:
    """A device whose launches do no more operations than that, as far as they can be divided."""
    on = fresh(platform)
    narrow = NARROW_POSITIONS if gpu else None
    on.features = replace(on.features, gpu=gpu, most=most, look_back=False, narrow_positions=narrow)
    return on


@each_platform
@pytest.mark.parametrize("name", one_in(12, ALL, kept=3))
@pytest.mark.parametrize("gpu", [False, True])
def test_bits_are_the_references(platform: str, gpu: bool, name: str) -> None:
    on_device(in_pieces(platform, 1000, gpu=gpu), name)


@each_platform
@pytest.mark.parametrize(
    "function", [A.transpose, lambda xs: A.stencil(lambda n: n(1, 0) - n(0, 1), A.boundary.wrap, xs)]
)
def test_groups_are_counted_through_all_pieces(platform: str, function: Any) -> None:
    """Those that turn blocks, and those of patches, of which two begin each row."""
    data = np.random.default_rng(1).normal(size=(70, 300)).astype(np.float32)
    planned, arguments = loops("greedy", [A.compute(function(A.use(data)))])
    same(compiled(in_pieces(platform, 1000, gpu=True), planned)(arguments), interpret(planned, arguments))


@each_platform
def test_pieces_are_all_work_items_once(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pyopencl = pytest.importorskip("pyopencl")
    seen: list[tuple[int, int]] = []
    original = pyopencl.Kernel.__call__

    def launching(kernel: Any, queue: Any, count: Any, group: Any, *given: Any, **named: Any) -> Any:
        seen.append((named.get("global_offset", (0,))[0], count[0]))
        return original(kernel, queue, count, group, *given, **named)

    monkeypatch.setattr(pyopencl.Kernel, "__call__", launching)
    data = np.arange(10_000, dtype=np.float32)
    planned, arguments = loops("greedy", [A.map(lambda x: x * 2 + 1, A.use(data))])
    same(compiled(in_pieces(platform, 8000, gpu=True), planned)(arguments), [data * 2 + 1])
    assert len(seen) > 3
    ends = [start + count for start, count in seen]
    assert [start for start, _ in seen] == [0, *ends[:-1]]
    assert ends[-1] == 2_560, "groups of 256, each of four elements"
    seen.clear()
    same(compiled(fresh(platform), planned)(arguments), [data * 2 + 1])
    assert len(seen) == 1, "neither a CPU is in a hurry, nor a GPU because of so few"


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many launches there were of each purpose of kernels."""
    pyopencl = pytest.importorskip("pyopencl")
    seen: Counter[str] = Counter()
    original, again = pyopencl.Kernel.__call__, pyopencl.enqueue_nd_range_kernel

    def launching(kernel: Any, *given: Any, **named: Any) -> Any:
        seen[kernel.function_name.rpartition("_")[2]] += 1
        return original(kernel, *given, **named)

    def launching_again(queue: Any, kernel: Any, *given: Any, **named: Any) -> Any:
        seen[kernel.function_name.rpartition("_")[2]] += 1
        return again(queue, kernel, *given, **named)

    monkeypatch.setattr(pyopencl.Kernel, "__call__", launching)
    monkeypatch.setattr(pyopencl, "enqueue_nd_range_kernel", launching_again)
    return seen


@each_platform
@pytest.mark.parametrize("together", [False, True])
def test_scans_and_filters_are_launched_in_pieces(platform: str, together: bool, launches: Counter[str]) -> None:
    """Both kernels that read elements; a block knows its number among those of all launches."""
    on = in_pieces(platform, 8000, gpu=True)
    on.features = replace(on.features, together=together)
    data = np.random.default_rng(1).random((2, 15_000)).astype(np.float32)
    functions: tuple[Callable[[Any], Any], ...] = (
        lambda xs: A.scanl1(A.add, xs),
        lambda xs: A.filter(lambda x: x > 0.5, A.flatten(xs))[0],
    )
    for function in functions:
        launches.clear()
        planned, arguments = loops("greedy", [function(A.use(data))])
        same(compiled(on, planned)(arguments), interpret(planned, arguments))
        assert launches["totals0"] > 2
        assert launches["blocks"] > 2


def scattered(combine: Callable[[Any, Any], Any], kind: type[np.generic], keys: A.Acc[Any]) -> A.Acc[Any]:
    """Elements 0, 1.25, 2.5, … of that type, at these keys of seven places."""
    start = A.fill((7,), A.constant(0, kind))
    values = A.imap(lambda index, _: A.cast(A.cast(A.unindex(index)[0], np.float64) * 1.25, kind), keys)
    return A.scatterWith(combine, start, A.zip(keys, values))


@each_platform
@pytest.mark.parametrize(
    ("combine", "kind", "kernels"),
    [(A.add, np.int32, ["copies"]), (A.max, np.float32, ["copies"]), (A.add, np.float32, ["digits", "move", "runs"])],
)
def test_scatters_are_launched_in_pieces(
    platform: str,
    combine: Callable[[Any, Any], Any],
    kind: type[np.generic],
    kernels: list[str],
    launches: Counter[str],
) -> None:
    """Into copies in local memory, and sorted by their targets: a run of equal ones goes on in the next piece."""
    on, run = in_pieces(platform, 100_000, gpu=True), None
    for where in (np.random.default_rng(1).integers(0, 7, 20_000), np.full(20_000, 3), np.arange(20_000) // 9000):
        launches.clear()
        planned, arguments = loops("greedy", [scattered(combine, kind, A.use(where))])
        run = run or compiled(on, planned)
        same(run(arguments), interpret(planned, arguments))
        assert all(launches[kernel] > 2 for kernel in kernels), launches
        assert launches["runs"] in (0, 20), "four groups each, of whose elements one work-item may go through all"


def test_work_is_counted_with_the_extents_of_a_call() -> None:
    """A loop whose length nobody knows is some iterations."""

    def program(xs: A.Acc[Any]) -> A.Acc[Any]:
        return A.map(lambda x: A.while_(lambda y: y < 1000, lambda y: y * 2 + 1, x), xs)

    planned, _ = loops("greedy", [program(A.use(np.arange(1.0, 9.0)))])
    (nest,) = (step.nest for step in planned.steps if hasattr(step, "nest"))
    found = work([nest])
    few, many = (found.value(lambda _, count=count: count) for count in (10, 1000))  # type: ignore[misc]  # a default
    assert few >= 10 * UNKNOWN
    assert 90 * few < many <= 100 * few


def test_elementary_functions_are_many_operations() -> None:
    def counted(function: Any) -> int:
        planned, _ = loops("greedy", [A.map(function, A.use(np.arange(1.0, 9.0)))])
        (nest,) = (step.nest for step in planned.steps if hasattr(step, "nest"))
        return work([nest]).value(lambda _: 1000)

    assert counted(A.exp) - counted(lambda x: x + 1) >= 10_000


def test_kernels_that_know_their_group_are_not_divided() -> None:
    assert divisible("const long item = get_global_id(0);")
    assert not divisible("const long place = get_group_id(0);")
    assert divisible(f"const long patch = {GROUP_NUMBER};")
    assert divisible(f"const long stop = {LAUNCHED_END};")
    assert not divisible("for (long item = get_global_id(0); item < n; item += get_global_size(0))")


@pytest.mark.parametrize(
    ("vendor", "units", "most"),
    [
        ("NVIDIA Corporation", 132, 132 << 30),
        ("Advanced Micro Devices, Inc.", 1, 1 << 31),
        ("Intel(R) Corporation", 96, 1 << 31),
    ],
)
def test_large_gpus_are_given_larger_pieces(vendor: str, units: int, most: int) -> None:
    """Where compute units are whole processors; nobody is given less than a slow GPU."""
    device: Any = SimpleNamespace(vendor=vendor, max_compute_units=units)  # Any: what is asked of a device
    assert most_operations(device) == most
