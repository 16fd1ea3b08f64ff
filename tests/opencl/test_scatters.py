"""Scatters by many work-items at once: no update is lost, whatever the width of an element."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.protocol import compiled
from tests.opencl.check import loops, on_device
from tests.opencl.platforms import backend, each_platform, fresh

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
    on.features = replace(on.features, gpu=gpu, together=False, atomics64=False)
    on_device(on, "scatter-histogram")
    assert texts
    assert not any("atom_" in text or "int64_base_atomics : enable" in text for text in texts)
    assert any("_runs(" in text for text in texts) == gpu
