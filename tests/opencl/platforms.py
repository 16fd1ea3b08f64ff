"""The OpenCL devices that tests run on: one of each platform that is present."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from functools import cache

import pytest

from accel.backends.opencl.backend import OpenCLBackend
from accel.backends.opencl.machine.binaries import POCL
from accel.backends.opencl.machine.devices import devices
from accel.backends.opencl.machine.features import NARROW_POSITIONS, Features
from accel.support.distribution import pip_install
from tests import built_before

ROWS = {row.platform: number for number, row in reversed(list(enumerate(devices())))}
"""The number of each platform's first device."""

MISSING = f"no OpenCL device: python -m {pip_install('opencl')} brings one"

each_platform = pytest.mark.parametrize(
    "platform",
    sorted(ROWS) or [pytest.param("none", marks=pytest.mark.skip(reason=MISSING))],
)
"""Runs a test once for every platform; with none, it is skipped and says so."""


@cache
def backend(platform: str) -> OpenCLBackend:
    """The backend on the platform's first device."""
    return OpenCLBackend(ROWS[platform])


def fresh(platform: str) -> OpenCLBackend:
    """A backend of its own on that device, for tests that change it. Its memory is that of all."""
    return OpenCLBackend(ROWS[platform])


def as_gpu(platform: str) -> OpenCLBackend:
    """The same, taken for a GPU."""
    on = fresh(platform)
    on.features = gpu_features(on)
    return on


@dataclass(frozen=True)
class StandIn(Features):
    """Features of a device that stands for a GPU, which is told not to optimise.

    Code for GPUs is no code for it, and it takes eight times as long to optimise as all else. Without it no vectors of
    work-items run in step, either, so that fewer missing barriers go unnoticed.
    """

    @property
    def options(self) -> tuple[str, ...]:
        return built_before.unoptimised(self)


def gpu_features(on: OpenCLBackend) -> Features:
    """Those of a backend's device, were it a GPU whose groups do not wait for each other. It does not optimise where only
    some tests run (`tests/conftest.py`)."""
    as_it_is = replace(
        on.features, gpu=True, look_back=False, together=False, narrow_positions=NARROW_POSITIONS, addresses=False
    )
    # PoCL 3.1's compiler ends the process where it is told so.
    quick = os.environ.get("ACCEL_TESTS") == "some" and on.device.platform.name != POCL
    return StandIn(**asdict(as_it_is)) if quick else as_it_is
