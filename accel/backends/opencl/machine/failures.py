"""What a driver refuses, in accel's errors: no memory, a device that is lost, or anything else.

Drivers that hand out memory only when it is used say that there is none when work is launched. What a lost device has done is
unknown, and so are the arrays on it; OpenCL has no way to take it up again within a process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel.errors import AccelDeviceError, here

if TYPE_CHECKING:
    import pyopencl

_LOST_BY_NVIDIA = -9999
"""What NVIDIA's driver gives for a kernel that touched memory which is not its own."""


def failure(error: pyopencl.Error, device: str, what: str) -> Exception:
    """The error to raise for the driver's: `what` could not be done on `device`. A `MemoryError` if that is what it lacks."""
    import pyopencl

    if isinstance(error, pyopencl.MemoryError):
        return MemoryError(f"{device} has no memory left for {what}: {error}")
    if _code(error) in _lost():
        return AccelDeviceError(
            f"{device} was lost during {what}: {error}",
            here(),
            hint="its arrays are gone: start a new process. If a loop took seconds, the driver's watchdog may have ended it: "
            "give it less at once, or take backend='llvm'",
        )
    return AccelDeviceError(f"{device} refused {what}: {error}", here())


def new_buffer(context: pyopencl.Context, flags: int, size: int, device: str) -> pyopencl.Buffer:
    """A new buffer. Whether it is too large the driver says: many give more at once than they promise. Raises `MemoryError`."""
    import pyopencl

    try:
        return pyopencl.Buffer(context, flags, size)
    except pyopencl.Error as error:
        raise MemoryError(f"{device} has no {size} bytes left: {error}") from error


def _code(error: pyopencl.Error) -> int | None:
    """The driver's number for what went wrong; None if it gave none."""
    try:
        found: int = error.code
    except AttributeError:  # an error of pyopencl's own
        return None
    return found


def _lost() -> frozenset[int]:
    import pyopencl

    status = pyopencl.status_code
    return frozenset({
        status.DEVICE_NOT_AVAILABLE,
        status.INVALID_COMMAND_QUEUE,
        status.INVALID_CONTEXT,
        status.INVALID_DEVICE,
        status.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        _LOST_BY_NVIDIA,
    })  # fmt: skip
