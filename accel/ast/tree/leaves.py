"""Where the elements of a program's arguments lie: in a NumPy array, or in the memory of a device.

An argument is one such array of scalars, a leaf, for each scalar of its element type. Stages only ask for shapes and types; the
elements are read by the backend that runs the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, Union

import numpy as np

from accel.ast.tree.host_functions import HostArray


class Resident(Protocol):
    """A contiguous array of scalars in a device's memory. Its elements never change; its memory is freed when it is gone."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""

    @property
    def ndim(self) -> int:
        """The rank."""

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the elements."""

    @property
    def place(self) -> str:
        """What to write after `backend=` to run programs where it lies."""

    def fetched(self) -> HostArray:
        """A fresh NumPy array of the elements. Waits until they are computed."""

    def shared(self) -> HostArray | None:
        """The elements where they lie, to be read only; None if the host cannot read that memory. Waits as `fetched` does."""

    def buffer(self) -> object:
        """What the device's own library calls the memory, once the elements are computed."""

    def device(self) -> tuple[int, int]:
        """DLPack's kind and number of the device whose memory this is: the host's, if the host can read it."""

    def capsule(self, options: Mapping[str, Any]) -> object:  # Any: each option of `__dlpack__` has its own type
        """The memory as DLPack's capsule."""


Leaf: TypeAlias = Union[HostArray, Resident]
"""One array of scalars that a program is given, or gives."""


def to_host(leaf: Leaf) -> HostArray:
    """The array, or a copy of what lies on a device. Waits until it is computed."""
    return leaf if isinstance(leaf, np.ndarray) else leaf.fetched()


def capsule_of(array: HostArray, options: Mapping[str, Any]) -> object:  # Any: each option has its own type
    """DLPack's capsule of an array."""
    export: Callable[..., object] = array.__dlpack__  # type: ignore[misc]  # of a number, says NumPy; of a bool, it knows
    return export(**options)


def read_only(array: HostArray) -> HostArray:
    """A view that cannot be written."""
    view = np.asarray(array).view()  # what stands for an array of rank 0 may be a NumPy scalar
    view.flags.writeable = False
    return view
