"""Arrays that lie on a device, and programs that run on another: who may be given what.

An executable takes NumPy arrays, and arrays that lie where it runs. One on a device with memory of its own may leave its
results there; everywhere else that memory is the host's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from accel.ast.tree.host_functions import HostArray
from accel.ast.tree.leaves import Leaf, Resident, read_only
from accel.errors import AccelDeviceError, here
from accel.support.dataclass import dataclass

if TYPE_CHECKING:
    from accel.backends.protocol import Executable


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """Bytes of a device's memory that this process has.

    used: by arrays, and by programs that run now. unused: kept to be used again, which `Device.free` gives back. total: what
    the device has, for all processes.
    """

    used: int
    unused: int
    total: int


@runtime_checkable
class Keeps(Protocol):
    """An executable that can leave its results where it runs."""

    def kept(self, arguments: Sequence[Leaf]) -> list[Leaf]:
        """What a call gives, as arrays that nobody else may write to. It need not wait until they are computed."""
        ...


def fetched_results(executable: Executable, arguments: Sequence[Leaf]) -> list[HostArray]:
    """Run, and bring the results to the host."""
    return executable(arguments)


def kept_results(executable: Executable, arguments: Sequence[Leaf]) -> list[Leaf]:
    """Run, and leave the results where they are: what `Keeps` says."""
    if isinstance(executable, Keeps):
        return executable.kept(arguments)
    return [read_only(result) for result in executable(arguments)]


def on_host(leaf: Leaf, backend: str) -> HostArray:
    """The array, for a backend that computes in the host's memory. Raises `AccelDeviceError` if it does not lie there."""
    if isinstance(leaf, np.ndarray):
        return leaf
    raise elsewhere(leaf, backend)


def elsewhere(leaf: Resident, backend: str) -> AccelDeviceError:
    """What to raise for an array that lies on another device than the backend's."""
    message = (
        f"an array of shape {leaf.shape} and type {leaf.dtype} lies on {leaf.place}, and the program runs on {backend}"
    )
    hint = f"run it there, with `backend={leaf.place!r}`, or bring the array over: `A.put(x, backend={backend!r})`"
    return AccelDeviceError(message, here(), hint=hint)
