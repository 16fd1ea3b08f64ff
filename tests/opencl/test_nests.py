"""Every kind of nest on every platform, against the reference evaluator of loop programs, bit for bit."""

from __future__ import annotations

import pytest

from tests.marks import one_in
from tests.opencl.check import on_device
from tests.opencl.platforms import backend, each_platform
from tests.opencl.programs import ALL


@each_platform
@pytest.mark.parametrize("name", one_in(8, ALL, kept=3))
def test_bits_are_the_references(platform: str, name: str) -> None:
    on_device(backend(platform), name)
