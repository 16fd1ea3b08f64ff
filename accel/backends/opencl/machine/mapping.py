"""Buffers of devices whose memory is the host's, as NumPy arrays: mapped rather than copied.

A mapping ends when its array is gone; the buffer is held as long.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from accel.ast.tree.leaves import read_only
from accel.ast.tree.types import ScalarType
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.protocol import HostArray
from accel.support.forks import FORKS


class _Mapping:
    """What the array's base is, by NumPy's interface of arrays."""

    def __init__(self, mapped: HostArray, element: ScalarType, memory: Memory, held: Held) -> None:
        self.__array_interface__: dict[str, Any] = {  # Any: its entries have different types
            "version": 3,
            "shape": mapped.shape,
            "typestr": element.dtype.str,
            "data": (mapped.ctypes.data, True),
        }
        self._mapped = [mapped]
        self._memory = memory
        self._held = held
        self._forks = FORKS  # whose name is None when the last arrays go, as Python ends

    def __del__(self) -> None:
        # In a forked child the driver must not be asked for anything: what is mapped there stays so.
        if self._forks.generation != self._memory.generation:
            self._memory.abandoned.append((self._mapped, self._held))


def mapped(memory: Memory, held: Held, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
    """The first elements of a buffer that nobody writes to, to be read only. Waits for all that was enqueued before."""
    import pyopencl

    if not prod(shape):
        return read_only(np.empty(shape, element.dtype))

    def enqueue() -> HostArray:
        flags = pyopencl.map_flags.READ
        array, _ = pyopencl.enqueue_map_buffer(memory.queue, held.buffer, flags, 0, shape, element.dtype)
        return array

    return np.asarray(_Mapping(memory.enqueued("a mapping", enqueue), element, memory, held))
