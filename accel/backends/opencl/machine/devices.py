"""The OpenCL devices of this machine: finding them, describing them, choosing one.

In: a device number from `opencl:1`, or none. Out: pyopencl devices, GPUs first. Raises `AccelDeviceError` that says how to
get a device. pyopencl is imported here, when a device is first asked for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from accel.backends.opencl.machine.vendors import INTEL_PLATFORM, visible
from accel.errors import AccelDeviceError, here
from accel.support.dataclass import dataclass
from accel.support.distribution import pip_install
from accel.support.forks import FORKS, Once

if TYPE_CHECKING:
    import pyopencl

_HINT = f"python -m {pip_install('opencl')} brings a CPU device; a GPU's driver brings the GPU"


GROUP_ITEMS = 256
"""Work-items of a group at most."""

LOCAL_BYTES = 32 * 1024
"""Of local memory that a group takes at most: OpenCL promises so much of every device that is not for embedded systems."""


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One OpenCL device as `accel.devices()` shows it; `backend` is what to write after `backend=`."""

    backend: str
    name: str
    platform: str
    version: str
    kind: str
    fp64: bool
    compute_units: int


def devices() -> tuple[DeviceRow, ...]:
    """The devices that `opencl:0`, `opencl:1`, … mean, in this order; none at all when pyopencl is missing."""
    try:
        found = _all().devices
    except AccelDeviceError:
        return ()
    return tuple(_row(number, device) for number, device in enumerate(found))


def device(number: int = 0) -> pyopencl.Device:
    """The device with that number. Raises `AccelDeviceError` when there is none, and in some forked children."""
    every = _all()
    check_process(every.generation)
    found = every.devices
    if number < len(found):
        return found[number]
    if found:
        known = ", ".join(f"opencl:{k} is {row.name}" for k, row in enumerate(devices()))
        raise AccelDeviceError(f"there is no OpenCL device number {number}", hint=known)
    raise AccelDeviceError("there is no OpenCL device on this machine", hint=_HINT)


def check_process(generation: int) -> None:
    """Raises `AccelDeviceError` in a forked child of the process that has used OpenCL, which was of that generation.

    A driver's threads and connections do not come along: calls would wait for them for ever.
    """
    if FORKS.generation != generation:
        raise AccelDeviceError(
            "this process was forked from one that had used OpenCL, and OpenCL's drivers do not survive that",
            here(),
            hint="start it another way, by multiprocessing.get_context('spawn') for instance, or use backend='llvm'",
        )


def require_groups(device: pyopencl.Device) -> None:
    """Raises `AccelDeviceError` for a device with less room for groups of work-items than kernels take."""
    size, memory = int(device.max_work_group_size), int(device.local_mem_size)
    if size < GROUP_ITEMS or memory < LOCAL_BYTES:
        raise AccelDeviceError(
            f"{device.name.strip()} has groups of {size} work-items and {memory} bytes of local memory for each, and accel "
            f"takes up to {GROUP_ITEMS} and {LOCAL_BYTES}",
            hint="use another device or backend: accel.devices() lists them",
        )


def has_fp64(device: pyopencl.Device) -> bool:
    """Whether the device computes with 64-bit floats."""
    return bool(device.double_fp_config)


@dataclass(frozen=True, slots=True)
class _Found:
    """What there is, and the generation of the process that asked the drivers."""

    devices: tuple[pyopencl.Device, ...]
    generation: int


def _search() -> _Found:
    """All devices, GPUs before others; each kind in the order in which the loader gives platforms, the wheel's last.

    Found once per process: the loader never looks again either. Raises `AccelDeviceError` without pyopencl.
    """
    early = "pyopencl" in sys.modules
    with visible() as from_wheel:
        try:
            import pyopencl
        except ImportError as error:
            raise AccelDeviceError(f"pyopencl cannot be imported: {error}", hint=_HINT) from error
        try:
            platforms = pyopencl.get_platforms()
        except pyopencl.Error:  # the loader's way to say that there are none
            platforms = []
        found = [device for platform in platforms for device in _of(platform)]
    if not found and early:
        raise AccelDeviceError(
            "there is no OpenCL device: pyopencl was used before accel, and its loader looks for devices only once",
            hint="call accel.devices() before anything that uses pyopencl; or " + _HINT,
        )
    wheel = INTEL_PLATFORM if from_wheel else None
    ordered = sorted(found, key=lambda device: (not _is_gpu(device), device.platform.name == wheel))
    return _Found(tuple(ordered), FORKS.generation)


_all = Once(_search)


def _of(platform: pyopencl.Platform) -> list[pyopencl.Device]:
    """The platform's devices that can compile and run; a platform without any raises in OpenCL."""
    import pyopencl

    try:
        found = platform.get_devices()
    except pyopencl.Error:
        return []
    return [device for device in found if device.available and device.compiler_available]


def _is_gpu(device: pyopencl.Device) -> bool:
    import pyopencl

    return bool(device.type & pyopencl.device_type.GPU)


def _row(number: int, device: pyopencl.Device) -> DeviceRow:
    import pyopencl

    kinds = {pyopencl.device_type.GPU: "gpu", pyopencl.device_type.CPU: "cpu"}
    kind = next((name for bit, name in kinds.items() if device.type & bit), "accelerator")
    return DeviceRow(
        backend=f"opencl:{number}",
        name=device.name.strip(),
        platform=device.platform.name.strip(),
        version=device.version.strip(),
        kind=kind,
        fp64=has_fp64(device),
        compute_units=device.max_compute_units,
    )
