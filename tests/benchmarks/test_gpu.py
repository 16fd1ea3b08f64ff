"""The benchmark of OpenCL devices: every program has the interpreter's bits, and without a GPU it says so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from accel.backends.opencl.machine.devices import devices
from benchmarks.gpu import as_gpu
from benchmarks.gpu.__main__ import NO_GPU, main
from benchmarks.gpu.cases import CASES
from tests.marks import long

CPUS = [row.backend for row in devices() if row.kind != "gpu"]


@pytest.mark.opencl
@pytest.mark.solver
@long
@pytest.mark.skipif(not CPUS, reason="no device that is no GPU")
@pytest.mark.parametrize("only", ["scans of", ""], ids=["scans", "all"])
def test_programs_run_and_have_the_right_bits(only: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written, cases = tmp_path / "figures.json", [case for case in CASES if only in case.name and not case.sorts]
    chosen = ["--only", only] if only else []
    assert main(["--device", CPUS[0], "--any", "--mb", "0.1", "--rounds", "1", "--json", str(written), *chosen]) == 0
    assert cases
    figures = json.loads(written.read_text())
    assert figures["copy"] > 0
    assert [row["name"] for row in figures["programs"]] == [case.name for case in cases]
    for row, case in zip(figures["programs"], cases, strict=True):
        assert row["bits"] == "same" or (row["bits"] == "close" and not case.exact)
        assert row["kernels"] >= 1
        assert row["percent"] > 0
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(cases)


@pytest.mark.opencl
@long
@pytest.mark.skipif(not CPUS, reason="no device that is no GPU")
def test_schedules_of_gpus_beside_those_of_a_processor_have_its_bits(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_gpu.main(["--elements", "9000", "--rounds", "1"]) == 0
    head, _, *lines = capsys.readouterr().out.splitlines()
    assert "milliseconds" in head
    assert len(lines) == len(as_gpu.CASES)
    for line, case in zip(lines, as_gpu.CASES, strict=True):
        own, on_gpu, ratio, wanted = map(float, line.removeprefix(case.name).split())
        assert ratio == pytest.approx(own / on_gpu, rel=0.1)
        assert wanted == case.wanted


@pytest.mark.opencl
def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    if any(row.kind == "gpu" for row in devices()):
        pytest.skip("there is a GPU")
    assert main([]) == 1
    assert capsys.readouterr().out == NO_GPU + "\n"


def test_bytes_are_those_of_arguments_and_results() -> None:
    counted = {case.name: case.bytes(case.arguments(1 << 16)) for case in CASES}
    word = np.dtype(np.float32).itemsize << 16
    assert counted["map"] == 2 * word
    assert counted["sum"] == word
    assert counted["sums of rows of 32"] == word + word // 32
    assert counted["gather in order"] == 4 * word
    assert counted["filter of half"] == word + word // 2
