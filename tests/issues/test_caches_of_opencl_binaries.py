"""Kept binaries of OpenCL programs: one that another processor's compiler made, or a directory that cannot be written, ended in
a `KeyError` of pyopencl's ('PYOPENCL_CACHE_FAILURE_FATAL'), and the lock of a process that was killed held up every build for a
minute, when pyopencl kept them. It does not keep PoCL's at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from accel.backends.opencl.machine import binaries as module
from accel.backends.opencl.machine.binaries import BINARIES, POCL
from tests.marks import long
from tests.opencl.platforms import ROWS, each_platform, fresh

TEXT = "kernel void one(global float *x) { x[0] = 1; }"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path / "cache"))


def source(platform: str) -> str:
    """What the program of the text was built from: the text, or nothing if it was a binary."""
    import pyopencl

    on = fresh(platform)
    program = on.build(TEXT)
    assert [kernel.function_name for kernel in program.all_kernels()] == ["one"]
    return str(program.get_info(pyopencl.program_info.SOURCE) or "")


@pytest.mark.opencl
@each_platform
def test_a_binary_is_built_once(platform: str) -> None:
    assert "one" in source(platform)
    if platform == POCL:
        assert not BINARIES.size().entries
        return
    assert BINARIES.size().entries == 1
    assert "one" not in source(platform)


@pytest.mark.opencl
@each_platform
def test_a_binary_that_cannot_be_loaded(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_binary", lambda program: bytes(5000))
    for _ in range(2):
        assert "one" in source(platform)


@pytest.mark.opencl
@each_platform
def test_a_processor_of_other_instructions(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source(platform)
    monkeypatch.setattr(module, "_instructions", lambda: "flags: none")
    assert ("one" in source(platform)) == (fresh(platform).device.type != 4)


@pytest.mark.opencl
@each_platform
def test_a_directory_that_cannot_be_made(platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(file))
    assert "one" in source(platform)


@pytest.mark.opencl
@each_platform
@long
def test_another_process_finds_it(platform: str) -> None:
    """Also a program of accel's own, whose text is the same in every process."""
    code = (
        "import numpy as np, accel as A\n"
        "from accel.backends.opencl.machine.binaries import BINARIES\n"
        f"print(A.run(A.sum(A.use(np.arange(10.0))), backend='opencl:{ROWS[platform]}'), BINARIES.size().entries)"
    )
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ})
        for _ in range(2)
    ]
    assert [each.stdout.split() for each in said] == [["45.0", "0" if platform == POCL else "1"]] * 2
