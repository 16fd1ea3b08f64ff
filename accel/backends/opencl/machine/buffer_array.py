"""An array of scalars in a buffer: what stays on the device between programs. See `accel.ast.tree.leaves.Resident`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from accel.ast.tree.host_functions import HostArray
from accel.ast.tree.leaves import capsule_of
from accel.ast.tree.types import ScalarType
from accel.backends.opencl.machine.dlpack import CPU, OPENCL, Exports
from accel.backends.opencl.machine.mapping import mapped
from accel.backends.opencl.machine.memory import Held, Memory
from accel.support.forks import Once

if TYPE_CHECKING:
    import pyopencl

_exports = Once(Exports)


class BufferArray:
    """The first elements of a buffer, which nobody writes to any more."""

    __slots__ = ("_memory", "_shape", "element", "held")

    def __init__(self, memory: Memory, held: Held, element: ScalarType, shape: tuple[int, ...]) -> None:
        self._memory = memory
        self._shape = shape
        self.held = held
        self.element = element

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self._shape)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """NumPy's type of the elements."""
        return self.element.dtype

    @property
    def place(self) -> str:
        """The backend's name."""
        return self._memory.place

    def lies_in(self, memory: Memory) -> bool:
        """Whether programs that use this memory can read it."""
        return self._memory is memory

    def fetched(self) -> HostArray:
        """A copy."""
        return self._memory.download(self.held, self.element, self._shape)

    def shared(self) -> HostArray | None:
        """A read-only view, on devices whose memory is the host's."""
        return mapped(self._memory, self.held, self.element, self._shape) if self._memory.unified else None

    def buffer(self) -> pyopencl.Buffer:
        """The buffer, which may have more bytes than the array."""
        self._memory.finish()
        return self.held.buffer

    def device(self) -> tuple[int, int]:
        """OpenCL's, unless the host can read the memory."""
        return (CPU, 0) if self._memory.unified else (OPENCL, self._memory.number)

    def capsule(self, options: Mapping[str, Any]) -> object:  # Any: each option of `__dlpack__` has its own type
        """The host's memory as NumPy shows it, or the buffer's handle."""
        shared = self.shared()
        if shared is not None:
            return capsule_of(shared, options)
        self._memory.finish()
        return _exports().capsule(self.held.buffer.int_ptr, self._memory.number, self.element, self._shape, self.held)
