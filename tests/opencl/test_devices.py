"""Which devices are found, in which order, and what is said where there is none."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from accel.backends.opencl.machine import devices as module
from accel.backends.opencl.machine import vendors
from accel.backends.opencl.machine.devices import device, devices, require_groups
from accel.commands.doctor import any_opencl_device
from accel.errors import AccelDeviceError
from accel.support.forks import Once
from tests.opencl.platforms import MISSING


def in_a_new_process(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


ASK = """
from accel.backends.opencl.machine.devices import device
from accel.errors import AccelDeviceError
from tests.opencl.platforms import MISSING
try:
    print(device().name)
except AccelDeviceError as error:
    print(error)
"""


def test_gpus_come_first_and_numbers_count_on() -> None:
    rows = devices()
    assert [row.backend for row in rows] == [f"opencl:{number}" for number in range(len(rows))]
    assert sorted(rows, key=lambda row: row.kind != "gpu") == list(rows)
    assert all(row.name and row.platform and row.version.startswith("OpenCL") for row in rows)
    assert all(row.compute_units > 0 for row in rows)


def test_a_number_too_large_names_the_devices() -> None:
    rows = devices()
    if not rows:
        pytest.skip(MISSING)
    with pytest.raises(AccelDeviceError) as error:
        device(99)
    known = ", ".join(f"opencl:{number} is {row.name}" for number, row in enumerate(rows))
    assert str(error.value) == f"there is no OpenCL device number 99\n  hint: {known}"


@pytest.mark.parametrize(("size", "memory"), [(128, 1 << 16), (1024, 1 << 14)])
def test_a_device_with_small_groups_is_refused(size: int, memory: int) -> None:
    small: Any = SimpleNamespace(
        name="toy", max_work_group_size=size, local_mem_size=memory
    )  # Any: stands for a device
    with pytest.raises(AccelDeviceError, match=f"toy has groups of {size} work-items and {memory} bytes"):
        require_groups(small)


def test_without_pyopencl_it_says_what_to_install() -> None:
    said = in_a_new_process("import sys; sys.modules['pyopencl'] = None\n" + ASK)
    assert said.startswith("pyopencl cannot be imported: ")
    assert (
        "hint: python -m pip install 'accel-array[opencl]' brings a CPU device; a GPU's driver brings the GPU" in said
    )


@pytest.mark.slow
def test_without_devices_it_says_how_to_get_one(tmp_path: Path) -> None:
    pytest.importorskip("pyopencl")
    said = in_a_new_process(ASK, OCL_ICD_VENDORS=str(tmp_path))
    assert said.startswith(
        "there is no OpenCL device on this machine\n  hint: python -m pip install 'accel-array[opencl]'"
    )


@pytest.mark.slow
def test_pyopencl_that_looked_first_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyopencl")
    said = in_a_new_process("import pyopencl\n" + ASK, OCL_ICD_VENDORS=str(tmp_path))
    assert "pyopencl was used before accel, and its loader looks for devices only once" in said
    assert "hint: call accel.devices() before anything that uses pyopencl; or " in said


@pytest.mark.slow
def test_importing_pyopencl_first_does_no_harm() -> None:
    if not devices():
        pytest.skip(MISSING)
    assert in_a_new_process("import pyopencl\n" + ASK) == f"{device().name}\n"


def test_the_loader_sees_the_systems_libraries_first_and_the_environment_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.icd").write_text("libsystem.so\n")
    monkeypatch.delenv(vendors.VARIABLE, raising=False)
    monkeypatch.setattr(vendors, "SYSTEM", tmp_path)
    monkeypatch.setattr(vendors, "_intel_wheel", lambda: "/wheel/libintelocl.so")
    monkeypatch.setattr(vendors, "_loads", lambda library: True)
    with vendors.visible() as from_wheel:
        directory = Path(os.environ[vendors.VARIABLE])
        texts = [file.read_text() for file in sorted(directory.glob("*.icd"))]
    assert from_wheel
    assert texts == ["libsystem.so\n", "libnvidia-opencl.so.1\n", "/wheel/libintelocl.so\n"]
    assert vendors.VARIABLE not in os.environ
    assert not directory.exists()


def full(*given: object, **others: object) -> str:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("what", [(tempfile, "mkdtemp"), (Path, "write_text")])
def test_without_room_for_the_files_of_the_loader_there_are_no_devices(
    what: tuple[object, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """That is said, nothing is left behind, and who asks again once there is room is told what there is."""
    monkeypatch.delenv(vendors.VARIABLE, raising=False)
    monkeypatch.setattr(vendors, "_intel_wheel", lambda: "/wheel/libintelocl.so")
    monkeypatch.setattr(vendors, "_loads", lambda library: True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(module, "_all", Once(module._search))
    with monkeypatch.context() as without:
        without.setattr(*what, full)
        assert devices() == ()
        with pytest.raises(AccelDeviceError, match=r"cannot be written.*No space left"):
            module.device()
        any_opencl_device()
        said = capsys.readouterr().out
        assert re.search(r"^none  OpenCL's loader.*TMPDIR", said, re.MULTILINE)
        assert "pip install" not in said
    assert list(tmp_path.iterdir()) == []
    assert vendors.VARIABLE not in os.environ
    with vendors.visible() as from_wheel:
        assert from_wheel


def test_what_the_system_registers_is_not_added_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia.icd").write_text("libnvidia-opencl.so.1\n")
    (tmp_path / "intel.icd").write_text("/opt/intel/libintelocl.so\n")
    monkeypatch.delenv(vendors.VARIABLE, raising=False)
    monkeypatch.setattr(vendors, "SYSTEM", tmp_path)
    monkeypatch.setattr(vendors, "_loads", lambda library: True)
    with vendors.visible() as from_wheel:
        assert not from_wheel
        assert vendors.VARIABLE not in os.environ


def test_a_user_who_names_a_directory_is_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(vendors.VARIABLE, str(tmp_path))
    with vendors.visible() as from_wheel:
        assert not from_wheel
        assert os.environ[vendors.VARIABLE] == str(tmp_path)


def test_no_device_means_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> tuple[()]:
        raise AccelDeviceError("there is none")

    monkeypatch.setattr(module, "_all", none)
    assert devices() == ()
