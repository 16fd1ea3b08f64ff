"""`devices()`: everything that programs can run on here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel.support.dataclass import dataclass
from accel.support.forks import load

if TYPE_CHECKING:
    from accel.backends.residence import DeviceMemory


@dataclass(frozen=True, slots=True)
class Device:
    """Something that programs can run on; `backend` is what to write after `backend=`."""

    backend: str
    name: str
    detail: str

    @property
    def memory(self) -> DeviceMemory | None:
        """What arrays take there, and what is kept to be used again; None where that is the host's memory."""
        kind, _, number = self.backend.partition(":")
        if kind != "opencl":
            return None
        load("accel.backends.opencl.backend")
        from accel.backends.opencl.backend import memory

        return memory(int(number)).use

    def free(self) -> None:
        """Give memory that is kept to be used again back to the device, or to the system.

        >>> for device in A.devices():
        ...     device.free()
        """
        kind, _, number = self.backend.partition(":")
        if kind == "opencl":
            load("accel.backends.opencl.backend")
            from accel.backends.opencl.backend import memory

            memory(int(number)).empty()
        elif kind == "llvm":
            load("accel.backends.llvm.machine.buffers")
            from accel.backends.llvm.machine.buffers import buffers

            buffers().clear()

    def __str__(self) -> str:
        return f"{self.backend:<12} {self.name} ({self.detail})"


def devices() -> tuple[Device, ...]:
    """The reference interpreter, the CPU, and the OpenCL devices that were found, GPUs first.

    Without pyopencl or a device there are only the first two; asking for `backend="opencl"` then says how to get one.

    >>> A.devices()[0].name
    'reference interpreter'
    """
    load("accel.backends.llvm.threads.pool")
    load("accel.backends.opencl.machine.devices")
    from accel.backends.llvm.machine.target import cpu_name
    from accel.backends.llvm.threads.pool import participants
    from accel.backends.opencl.machine.devices import devices as opencl_devices

    threads = participants(0)
    rows = [
        Device("interpreter", "reference interpreter", "slow, sequential, defines every result"),
        Device("llvm", cpu_name(), f"{threads} thread{'s' * (threads != 1)}"),
    ]
    for row in opencl_devices():
        precision = "64-bit floats" if row.fp64 else "no 64-bit floats"
        detail = f"{row.platform}, {row.version}, {row.compute_units} compute units, {precision}"
        rows.append(Device(row.backend, row.name, detail))
    return tuple(rows)
