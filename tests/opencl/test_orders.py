"""What GPUs are given, on a device that runs work-items in other orders and whose memory holds nothing: the bits of the
reference. And that this device sees where a barrier is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.loops.gpu import segments
from accel.backends.opencl.loops.gpu.chains import look_back
from accel.backends.opencl.machine.vendors import INTEL_PLATFORM
from accel.backends.protocol import HostArray, compiled
from accel.ir.meaning.interpret import interpret
from tests.marks import one_in
from tests.opencl.check import loops, on_device, same
from tests.opencl.platforms import each_platform
from tests.opencl.programs import ALL, halving
from tests.opencl.test_gpu_series import PROGRAMS

pyopencl = pytest.importorskip("pyopencl")
orders = pytest.importorskip("tests.opencl.orders")

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time
Case: TypeAlias = tuple[Callable[..., Any], tuple[HostArray, ...]]

BARRIER = re.compile(r"barrier\([^)]*\);")


def floats(*shape: int) -> HostArray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def integers(limit: int, count: int) -> HostArray:
    return np.random.default_rng(count).integers(0, limit, count)


def counts(places: Handle) -> Handle:
    return A.scatterWith(
        A.add, A.fill((256,), A.constant(0, np.int64)), A.map(lambda k: A.lift(k, A.constant(1, np.int64)), places)
    )


def sums(places: Handle, xs: Handle) -> Handle:
    """Whose order shows."""
    return A.scatterWith(A.add, A.fill((50,), A.constant(0, np.float32)), A.zip(places, xs))


def turned(*each: Handle) -> Handle:
    """Of so many arrays that local memory has no room for blocks of all."""
    first, *others = map(A.transpose, each)
    for other in others:
        first = A.zipWith(lambda x, y: x * y + 1, first, other)
    return A.compute(first)


def four_at_once(xs: Handle) -> Handle:
    """A state of 32 bytes that any order serves."""

    def both(a: Any, b: Any) -> Any:  # Any: expressions of tuples
        return A.lift(a[0] + b[0], A.max(a[1], b[1]), a[2] + b[2], A.min(a[3], b[3]))

    return A.scanl1(both, A.map(lambda x: A.lift(x, x + 1, x * 2, x - 3), xs))


def three_in_segments(xs: Handle, at: Handle) -> Handle:
    """A state of 24 bytes, as large as segments may have in local memory."""

    def all_three(a: Any, b: Any) -> Any:  # Any: expressions of tuples
        return A.lift(a[0] + b[0], A.max(a[1], b[1]), a[2] + b[2])

    made = A.map(lambda x: A.lift(x, x * 2, A.cast(x, np.float32) / 8), xs)
    return A.foldSegOffsets(all_three, A.lift(A.constant(0), A.constant(0), A.constant(0.0, np.float32)), made, at)


CASES: dict[str, Case] = {
    "filter": (lambda xs: A.filter(lambda x: x > 0, xs)[0], (floats(30_000),)),
    "fold": (A.sum, (floats(4096 * 16 * 3 + 777),)),
    "fold in runs": (lambda xs: A.fold1(halving, xs), (floats(4096 * 16 * 2 + 9),)),
    "short rows": (A.sum, (floats(50, 32),)),
    "middle rows": (A.sum, (floats(40, 100),)),
    "short rows in order": (lambda xs: A.fold1(halving, xs), (floats(50, 30),)),
    "long rows": (A.sum, (floats(3, 70_000),)),
    "columns": (lambda xs: A.sum(A.transpose(xs)), (floats(20_000, 40),)),
    "softmax": (PROGRAMS["softmax"], (floats(9, 300),)),
    "transpose": (turned, (floats(100, 70),)),
    "stencil": (
        lambda xs: A.stencil(lambda n: n(0, 0) - n(-1, 1) + n(1, 0), A.boundary.clamp, xs),
        (floats(9, 600),),
    ),
    "transposes": (turned, tuple(floats(64, 50 + n).astype(np.float64)[:, :50] for n in range(7))),
    "scan": (lambda xs: A.scanl1(A.add, xs), (floats(30_000),)),
    "scan of integers": (lambda xs: A.scanl1(A.add, xs), (integers(9, 30_000),)),
    "scan of four": (four_at_once, (integers(9, 20_000),)),
    "product": (A.matmul, (floats(40, 20), floats(20, 35))),
    "scan behind a filter": (
        lambda xs: A.scanl1(A.add, A.filter(lambda x: x > 0, xs)[0]),
        (floats(30_001),),
    ),
    "histogram": (counts, (integers(256, 20_000),)),
    "sums by place": (sums, (integers(50, 20_000), floats(20_000))),
    "normalised": (PROGRAMS["normalised"], (floats(9, 40),)),
    "segments": (
        lambda xs, at: A.foldSegOffsets(A.add, 0, xs, at),
        (floats(64_230), np.cumsum([0, *[k % 5 for k in range(3000)], 40_000, *([60] * 300), 200, 30, 0])),
    ),
    "segments of three": (three_in_segments, (integers(9, 20_000), np.cumsum([0, *([30] * 400), 5000, *([1] * 3000)]))),
    "series in runs": (PROGRAMS["in_runs"], (floats(4, 1000),)),
}


@pytest.fixture(autouse=True)
def _groups_have_several_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "GROUPS", 13)


def runs(name: str, on: Iterable[Any]) -> None:  # Any: `Strict`, which is there where pyopencl is
    """Twice on each device, so that memory is used again."""
    function, data = CASES[name]
    made = function(*map(use, data))
    planned, arguments = loops("greedy", made if isinstance(made, tuple) and not isinstance(made, A.Acc) else (made,))
    wanted = interpret(planned, arguments)
    for each in on:
        run = compiled(each, planned)
        for _ in range(2):
            same(run(arguments), wanted)


@each_platform
@pytest.mark.parametrize("name", one_in(6, CASES))
@pytest.mark.parametrize("order", ["forwards", "backwards", "shuffled"])
def test_any_order_of_work_items_gives_the_bits(platform: str, order: str, name: str) -> None:
    runs(name, [orders.Strict(platform, order)])


@each_platform
@pytest.mark.parametrize("order", ["backwards", "shuffled"])
@pytest.mark.parametrize("name", ["filter", "scan of four"])
def test_work_items_that_have_what_lies_together(platform: str, name: str, order: str) -> None:
    runs(name, [orders.Strict(platform, order, together=True)])


@each_platform
@pytest.mark.parametrize("order", ["forwards", "backwards", "shuffled"])
@pytest.mark.parametrize("spins", one_in(3, [1, 0, look_back.SPINS]))
def test_filters_that_look_back(platform: str, spins: int, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several groups at once, which find words of some blocks, or count them."""
    monkeypatch.setattr(look_back, "SPINS", spins)
    on = orders.Strict(platform, order)
    on.features = replace(on.features, look_back=True)
    runs("filter", [on])


@pytest.mark.slow
@each_platform
@pytest.mark.parametrize("order", ["backwards", "shuffled"])
@pytest.mark.parametrize("name", list(ALL))
def test_all_programs_in_other_orders(platform: str, order: str, name: str) -> None:
    on_device(orders.Strict(platform, order), name)


@each_platform
@pytest.mark.parametrize("name", one_in(3, ["histogram", "transpose", "short rows", "middle rows"]))
def test_a_missing_barrier_shows(platform: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all kernels that run: without any one of their barriers some order gives other bits."""
    if platform != INTEL_PLATFORM:
        pytest.skip("only Intel's compiler can be told to run one work-item at a time")
    launched: set[str] = set()
    original: Callable[..., Any] = pyopencl.Kernel.__call__  # Any: passed on

    def launching(kernel: Any, *given: Any) -> Any:
        launched.add(kernel.function_name)
        return original(kernel, *given)

    monkeypatch.setattr(pyopencl.Kernel, "__call__", launching)
    texts: list[str] = []

    def seen(text: str) -> str:
        texts.append(text)
        return text

    runs(name, [orders.Strict(platform, "forwards", seen)])
    text, ran = texts[0], set(launched)
    kernels = [re.findall(r"__kernel .*?(\w+)\(\n", text[: found.start()])[-1] for found in BARRIER.finditer(text)]
    assert ran.intersection(kernels)
    for number in [number for number, kernel in enumerate(kernels) if kernel in ran]:

        def without(text: str, number: int = number) -> str:
            found = list(BARRIER.finditer(text))[number]
            return text[: found.start()] + text[found.end() :]

        devices = [orders.Strict(platform, order, without) for order in orders.ORDERS]
        with pytest.raises(AssertionError, match="not equal"):
            runs(name, devices)
