"""Every kind of nest on every platform, against the reference evaluator of loop programs, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accel.backends.opencl.loops import schedule
from tests.marks import one_in
from tests.opencl.check import on_device
from tests.opencl.platforms import backend, each_platform, fresh
from tests.opencl.programs import ALL


@each_platform
@pytest.mark.parametrize("name", one_in(8, ALL, kept=3))
def test_bits_are_the_references(platform: str, name: str) -> None:
    on_device(backend(platform), name)


@each_platform
@pytest.mark.parametrize("limit", [1, 256])
@pytest.mark.parametrize(
    "name", ["fold_rows", "fold_long_rows", "fold_columns", "fold_of_rows_indexed", "several_per_row"]
)
def test_rows_fold_as_on_a_gpu(platform: str, name: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on = fresh(platform)
    on.features = replace(on.features, gpu=True)
    monkeypatch.setattr(schedule, "LONG_ROW", limit)
    on_device(on, f"map-{name}")
