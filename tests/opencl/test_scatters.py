"""Scatters by many work-items at once: no update is lost, whatever the width of an element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.machine.features import NARROW_POSITIONS
from accel.backends.protocol import compiled
from accel.ir.meaning.interpret import interpret
from tests.opencl.check import loops, on_device, same
from tests.opencl.platforms import as_gpu, backend, each_platform, fresh

if TYPE_CHECKING:
    import pyopencl

ELEMENTS = 200_003


@each_platform
@pytest.mark.parametrize("slots", [1, 3, 1000])
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_all_are_counted(platform: str, kind: type[np.integer], slots: int) -> None:
    """Sums of integers wrap, and are exact: every element counts once, in words that several share, too."""
    where = np.arange(ELEMENTS) * 7919 % slots
    ones = np.ones(ELEMENTS, kind)
    zeros = A.fill((slots,), A.constant(0, kind))
    counted = A.scatterWith(lambda new, old: new + old, zeros, A.zip(A.use(where), A.use(ones)))
    program, arguments = loops("greedy", [counted])
    expected = np.bincount(where, minlength=slots).astype(kind)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(backend(platform), program)(arguments)[0], expected)


@each_platform
def test_the_greatest_is_found(platform: str) -> None:
    """A word is exchanged until nobody else has written it in between."""
    values = np.random.default_rng(1).standard_normal(ELEMENTS).astype(np.float32)
    where = np.arange(ELEMENTS) % 5
    start = A.fill((5,), A.constant(-1e9, np.float32))
    greatest = A.scatterWith(A.max, start, A.zip(A.use(where), A.use(values)))
    program, arguments = loops("greedy", [greatest])
    expected = [values[slot::5].max() for slot in range(5)]
    for _ in range(3):
        assert compiled(backend(platform), program)(arguments)[0].tolist() == expected


@each_platform
@pytest.mark.parametrize("gpu", [False, True])
def test_devices_without_64_bit_atomics(platform: str, gpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has 8 bytes is scattered by one work-item, or on GPUs sorted by target."""
    texts: list[str] = []
    original = OpenCLBackend.build

    def build(self: OpenCLBackend, text: str) -> pyopencl.Program:
        texts.append(text)
        return original(self, text)

    monkeypatch.setattr(OpenCLBackend, "build", build)
    on = fresh(platform)
    narrow = NARROW_POSITIONS if gpu else None
    on.features = replace(
        on.features, gpu=gpu, together=False, atomics64=False, look_back=False, narrow_positions=narrow
    )
    on_device(on, "scatter-histogram")
    assert texts
    assert not any("atom_" in text or "int64_base_atomics : enable" in text for text in texts)
    assert any("_runs(" in text for text in texts) == gpu


@each_platform
@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_long_runs_have_their_order(platform: str, slots: int, kind: type[np.floating]) -> None:
    """Longer than a group, which fetches their elements together; two numbers each, of which neither is exact."""
    draw = np.random.default_rng(slots)
    for count in (256, 257, 1280, 1281, 6000):
        where, values = draw.integers(0, slots, count), draw.normal(size=count).astype(kind)

        def program(to: A.Acc[A.Vector[np.int64]], xs: A.Acc[A.Vector[Any]]) -> A.Acc[Any]:  # Any: of either kind
            start = A.fill((slots,), A.lift(A.constant(0, kind), A.constant(1, kind)))
            pairs = A.zip(to, A.zip(xs, A.map(lambda x: x - 1, xs)))
            return A.scatterWith(lambda new, old: A.lift(new[0] + old[0], old[1] * new[1] + new[0]), start, pairs)

        planned, arguments = loops("greedy", [program(A.use(where), A.use(values))])
        same(compiled(as_gpu(platform), planned)(arguments), interpret(planned, arguments))


@each_platform
def test_scatters_of_one_loop_have_runs_of_their_own(platform: str) -> None:
    """What they combine by differs, and so does what is known of it when kernels are named."""
    draw = np.random.default_rng(2)
    where, values = draw.integers(0, 5, 700), draw.integers(0, 99, 700)
    functions: list[Callable[[Any, Any], Any]] = [lambda new, old: old - new, lambda new, old: new - old, A.max]

    def program(to: A.Acc[A.Vector[np.int64]], xs: A.Acc[A.Vector[np.int64]]) -> tuple[A.Acc[Any], ...]:
        start = A.fill((5,), A.constant(0, np.int64))
        return tuple(A.scatterWith(each, start, A.zip(to, xs)) for each in functions)

    planned, arguments = loops("greedy", list(program(A.use(where), A.use(values))))
    same(compiled(as_gpu(platform), planned)(arguments), interpret(planned, arguments))
