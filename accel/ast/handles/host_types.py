"""What stands on the host for an array of a program, for mypy: what is passed for it, and what it gives when it is run.

Nothing here exists for the run time.
"""

from __future__ import annotations

import ctypes
from array import array
from mmap import mmap
from typing import Any, Protocol, TypeAlias, TypeVar, Union

import numpy as np

Element: TypeAlias = Union[np.bool_, np.integer[Any], np.float16, np.float32, np.float64, np.complex64, np.complex128]
"""NumPy's scalar types that are element types."""

K = TypeVar("K", bound=Element)
KR = TypeVar("KR", covariant=True, bound=Element)
R = TypeVar("R", covariant=True)
D = TypeVar("D", covariant=True)
S = TypeVar("S", covariant=True, bound=tuple[Any, ...])
G = TypeVar("G", covariant=True, bound=np.generic)


class Runs(Protocol[R, D]):
    """An array computation that gives an `R` of the host when it is run, or a `D` that stays on the device."""

    def _evaluated(self) -> R: ...

    def _kept(self) -> D: ...


class Placed(Protocol[S, G]):
    """An array of shape `S` and element `G`, of NumPy or on a device."""

    @property
    def shape(self) -> S:
        """The extents."""

    @property
    def dtype(self) -> np.dtype[G]:
        """The element type."""


class Host(Placed[S, G], Protocol[S, G]):
    """What NumPy has for an array of shape `S` and element `G`: an `ndarray`, and for rank 0 a scalar, too."""

    @property
    def strides(self) -> tuple[int, ...]:
        """What arrays on a device do not have."""


class AnotherRankOrElement:
    """Stands in `Acc[AnotherRankOrElement]` for what `use` makes of an array where another is due: it fits nowhere."""


class SupportsArray(Protocol[KR]):
    """What NumPy can see as an array: a table's column, an image. NumPy's own arrays only if their elements fit."""

    def __array__(self) -> np.ndarray[Any, np.dtype[KR]]:
        """The array."""


class SupportsArrayInterface(Protocol):
    """An array's memory, described by a dictionary. `__hash__` keeps NumPy's arrays out, which have none."""

    @property
    def __array_interface__(self) -> dict[str, Any]:  # Any: its entries have different types
        """Shape, type, address."""

    def __hash__(self) -> int: ...


class SupportsDLPack(Protocol):
    """An array of another library. `__hash__` keeps NumPy's arrays out, which have none."""

    def __dlpack__(self) -> object:
        """The capsule."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where it lies."""

    def __hash__(self) -> int: ...


Memory: TypeAlias = Union[bytes, bytearray, memoryview, "array[Any]", mmap, "ctypes.Array[Any]"]
"""What has the buffer protocol; NumPy's arrays have it, too."""

Foreign: TypeAlias = Union[SupportsArray[Element], SupportsArrayInterface, SupportsDLPack, Memory]
"""What NumPy can see as an array, but for its own arrays of elements that accel lacks."""
