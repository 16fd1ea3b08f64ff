"""pyopencl's cache of binaries: one that another processor's compiler made, or a directory that cannot be written, ended in a
`KeyError` ('PYOPENCL_CACHE_FAILURE_FATAL'). The lock of a process that was killed held up every build for a minute."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel.backends.opencl.machine.binaries import binaries
from tests.marks import slow
from tests.opencl.platforms import each_platform, fresh

TEXT = "kernel void one(global float *x) { x[0] = 1; }"


@pytest.mark.opencl
@each_platform
def test_a_binary_that_cannot_be_loaded(platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fresh(platform).build(TEXT)
    binaries = list(tmp_path.rglob("binary"))
    assert binaries
    for binary in binaries:
        binary.write_bytes(bytes(len(binary.read_bytes())))
    assert fresh(platform).build(TEXT).all_kernels()


@pytest.mark.opencl
@each_platform
def test_a_directory_that_cannot_be_made(platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    assert fresh(platform).build(TEXT).all_kernels()


@pytest.mark.opencl
@each_platform
@slow
def test_the_lock_of_a_process_that_was_killed(platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lock = Path(binaries()) / "lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    assert fresh(platform).build(TEXT).all_kernels()
    assert not lock.exists()
    assert list(tmp_path.rglob("binary"))
