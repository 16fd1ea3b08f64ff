"""Programs of a device: built from OpenCL C, or from the binary that an earlier process kept.

In: a text and options. Out: a built program. A compiler takes a tenth of a second for a program, and some milliseconds to load
a binary. Entries are private to the user, as all that accel keeps (`accel/support/disk.py`); one counts only for the same text,
options, driver, device and, where the device is a processor, the same instructions of it. PoCL compiles when kernels are
launched, and keeps that itself.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Final

from accel.errors import AccelDeviceError
from accel.support.disk import Store

if TYPE_CHECKING:
    import pyopencl

BINARIES: Final = Store("binaries", entries=2048, size=1 << 26)

POCL = "Portable Computing Language"
"""How PoCL calls its platform."""


def built(context: pyopencl.Context, device: pyopencl.Device, text: str, options: list[str]) -> pyopencl.Program:
    """The program, ready for kernels. Raises `AccelDeviceError` with what the device's compiler says."""
    key = None if device.platform.name == POCL else _key(device, text, options)
    kept = None if key is None else BINARIES.get(key)
    found = None if kept is None else _loaded(context, device, kept, options)
    if found is not None:
        return found
    import pyopencl

    try:
        program = pyopencl.Program(context, text).build(options, cache_dir=False)
    except pyopencl.Error as error:
        raise AccelDeviceError(f"{device.name} refused the program: {error}") from error
    if key is not None:
        BINARIES.put(key, _binary(program))
    return program


def _loaded(
    context: pyopencl.Context, device: pyopencl.Device, binary: bytes, options: list[str]
) -> pyopencl.Program | None:
    """The program of a binary; None if the driver does not take it any more."""
    import pyopencl

    try:
        return pyopencl.Program(context, [device], [binary]).build(options, cache_dir=False)
    except pyopencl.Error:
        return None


def _binary(program: pyopencl.Program) -> bytes:
    import pyopencl

    found = program.get_info(pyopencl.program_info.BINARIES)[0]
    assert isinstance(found, bytes), "the program has one device"
    return found


def _key(device: pyopencl.Device, text: str, options: list[str]) -> bytes:
    """What a binary depends on."""
    import pyopencl

    is_processor = bool(device.type & pyopencl.device_type.CPU)
    where = device.platform
    parts = [where.name, where.version, device.vendor, device.name, device.version, device.driver_version]
    return "\0".join([*parts, _instructions() if is_processor else "", *options, text]).encode()


def _instructions() -> str:
    """What this processor can do: names of devices do not tell, and home directories are shared among machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
