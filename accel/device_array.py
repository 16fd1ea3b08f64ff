"""What users hold of an array that lies on a device: `put` makes them, and so do programs whose results stay there."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, Generic, Self, TypeVar, assert_never

import numpy as np

from accel.ast.tree.host_functions import HostArray
from accel.ast.tree.leaves import Leaf, capsule_of, read_only
from accel.ast.tree.types import ComplexType, ElementType, MaybeType, RecordType, ScalarType, TupleType
from accel.ast.tree.types import leaves as leaf_types
from accel.errors import AccelTypeError, here
from accel.structure import Nested, element_arrays

S = TypeVar("S", covariant=True, bound=tuple[Any, ...])
G = TypeVar("G", covariant=True, bound=np.generic)


class DeviceArray(Generic[S, G]):
    """An array in the memory of a device, of shape `S` and NumPy's element type `G`. It never changes.

    `put` makes one, and so do calls that leave their results where they are. Programs on that device take it as they take
    NumPy's arrays, and copy nothing. Its memory is used again when nothing refers to it any more. On `llvm` and `interpreter`
    that memory is the host's, so that the same program runs there.

    >>> squares = A.runN(lambda xs: A.map(lambda x: x * x, xs))(A.put(np.arange(4.0)))
    >>> squares
    DeviceArray(shape=(4,), dtype=float64, backend='llvm')
    >>> squares.get()
    array([0., 1., 4., 9.])
    """

    __slots__ = ("__weakref__", "_element", "_leaves", "_place")

    def __init__(self, leaves: tuple[Leaf, ...], element: ElementType, place: str) -> None:
        """`leaves`: one array per scalar of the element, which NumPy has a dtype for. `place`: the backend that made it."""
        self._leaves = leaves
        self._element = element
        self._place = place

    @property
    def element(self) -> ElementType:
        """accel's type of the elements."""
        return self._element

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """What programs are given for it: an array of scalars for a number, two for a complex one, several for a record."""
        return self._leaves

    @property
    def backend(self) -> str:
        """What to write after `backend=` to run programs where the array lies."""
        return self._place

    @property
    def shape(self) -> S:
        """The extents."""
        return self._leaves[0].shape  # type: ignore[return-value]  # S by construction

    @property
    def dtype(self) -> np.dtype[G]:
        """NumPy's type of the elements."""
        parts = iter([np.empty(0, leaf.dtype) for leaf in self._leaves])
        return _whole(self._element, parts).dtype  # type: ignore[return-value]  # G by construction

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._leaves[0].ndim

    @property
    def rank(self) -> int:
        """The number of dimensions, as types of accel call it."""
        return self.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self._leaves[0].shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return sum(leaf.dtype.itemsize for leaf in self._leaves) * self.size

    @property
    def data(self) -> Any:  # Any: pyopencl need not be there
        """The memory as the device's library has it: a `pyopencl.Buffer`, or a `memoryview` of the host's memory.

        Waits until the elements are computed. Do not write to it. Raises `AccelTypeError` for complex numbers and records.
        """
        leaf = self._only("memory")
        return read_only(leaf).data if isinstance(leaf, np.ndarray) else leaf.buffer()

    def get(self) -> np.ndarray[S, np.dtype[G]]:
        """A fresh C-contiguous NumPy array of the elements. Waits until they are computed.

        >>> A.put(np.arange(3)).get()
        array([0, 1, 2])
        """
        parts = iter([leaf.copy() if isinstance(leaf, np.ndarray) else leaf.fetched() for leaf in self._leaves])
        return _whole(self._element, parts)  # type: ignore[return-value]  # S and G by construction

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[S, np.dtype[G]]:
        # Any: whatever NumPy takes for a dtype
        """For `np.asarray`: where the host can read the memory, it is not copied, and the array is read-only."""
        shared = None if copy else self._shared()
        if shared is None:
            if copy is False:
                raise ValueError(f"the elements of {self!r} have to be copied to the host")
            shared = self.get()
        found = shared if dtype is None else shared.astype(dtype, copy=False)
        return found  # type: ignore[return-value]  # S and G by construction

    def __dlpack__(
        self, **options: Any
    ) -> Any:  # Any: each option has its own type, a capsule no name before Python 3.13
        """For other libraries' `from_dlpack`: the memory itself, once its elements are computed. It must not be written to.

        Raises `AccelTypeError` for complex numbers and records.
        """
        leaf = self._only("memory")
        return capsule_of(read_only(leaf), options) if isinstance(leaf, np.ndarray) else leaf.capsule(options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's kind and number of the device: OpenCL's, or the host where that can read the memory."""
        leaf = self._leaves[0]
        return (1, 0) if isinstance(leaf, np.ndarray) else leaf.device()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """As it is, if it lies in the host's memory. Raises `AccelTypeError` otherwise: no other process has the device's."""
        if all(isinstance(leaf, np.ndarray) for leaf in self._leaves):
            return type(self), (self._leaves, self._element, self._place)
        hint = "pickle what it holds, `array.get()`, and `A.put` that where it is needed"
        raise AccelTypeError(f"an array in the memory of {self._place} cannot be pickled", here(), hint=hint)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("an array of rank 0 has no length")
        return int(self._leaves[0].shape[0])

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, backend={self._place!r})"

    def _shared(self) -> HostArray | None:
        if not isinstance(self._element, ScalarType):
            return None
        (leaf,) = self._leaves
        return read_only(leaf) if isinstance(leaf, np.ndarray) else leaf.shared()

    def _only(self, what: str) -> Leaf:
        if len(self._leaves) == 1:
            return self._leaves[0]
        message = f"an array of {self.dtype} has no single {what} on {self._place}: it lies there in {len(self._leaves)} parts"
        raise AccelTypeError(message, here(), hint="take the elements to the host: `x.get()`")


def _whole(element: ElementType, parts: Iterator[HostArray]) -> HostArray:
    found = element_arrays(element, parts)
    assert isinstance(found, np.ndarray), "elements that NumPy has a dtype for"
    return found


def device_arrays(element: ElementType, leaves: Iterator[Leaf], place: str) -> Nested[DeviceArray[Any, Any]]:
    # Any: types known at run time
    """The arrays of one array of elements, as `element_arrays` has them on the host: a tuple for a tuple, (flags, values) for a
    maybe, a named tuple for a record that is made of one; else one array."""
    match element:
        case ScalarType():
            return DeviceArray((next(leaves),), element, place)
        case ComplexType():
            return DeviceArray((next(leaves), next(leaves)), element, place)
        case RecordType(items, record):
            if isinstance(record, type):
                parts = tuple([device_arrays(item, leaves, place) for item in items])
                return tuple.__new__(record, parts)  # type: ignore[return-value]  # a named tuple of arrays
            return DeviceArray(tuple([next(leaves) for _ in leaf_types(element)]), element, place)
        case TupleType(items):
            return tuple([device_arrays(item, leaves, place) for item in items])
        case MaybeType(value):
            return (device_arrays(ScalarType.BOOL, leaves, place), device_arrays(value, leaves, place))
        case _:
            assert_never(element)
