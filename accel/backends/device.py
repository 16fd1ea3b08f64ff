"""What the shared executor asks of a device: memory, and one launcher per nest; and where a call keeps what these find.

`B` is the device's buffer: for the CPU a NumPy array, for OpenCL a handle with its length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from accel.ast.handles.extents import require_extents
from accel.ast.tree.leaves import Leaf
from accel.ast.tree.types import ScalarType
from accel.backends.linear.items import Item
from accel.ir.nodes import HostSizes, Nest, Output
from accel.labelled.array import Array, Shape, SizeVariable
from accel.labelled.meaning.evaluate import HostArray, evaluate
from accel.schedule.nodes import Series

B = TypeVar("B")
B_contra = TypeVar("B_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)

Instruction: TypeAlias = Callable[[list[B | None], list[int]], int | None]
"""Does its work; gives the number of the next instruction if that is not the following one."""

Launcher: TypeAlias = Callable[[list[B | None], list[int]], None]
"""Runs one nest on the buffers and extents of a call; raises what its checks find, `sites.NoSite` if that cannot be said. Or it
does not wait, and leaves at `RECORD` where `Device.look` finds whether one failed; a zero stands for what was not there."""

RECORD = -1
"""The last place in the buffers of a call is the device's own: None, or where to look for failed checks."""


SeriesLauncher: TypeAlias = Callable[[list[B | None], list[int]], bool]
"""Allocates what the nests of a series make, but not what they pass, and runs them; true if that is done. If not, they are to
be launched one after the other: at these extents that is as good, or a check failed, which then is found again."""


class Slots:
    """Where a call keeps its buffers and extents: numbers in two lists, given out on first demand."""

    def __init__(self) -> None:
        self._arrays: dict[Array, int] = {}
        self._sizes: dict[SizeVariable, int] = {}

    def array(self, array: Array) -> int:
        """The array's place in the list of buffers."""
        return self._arrays.setdefault(array, len(self._arrays))

    def size(self, variable: SizeVariable) -> int:
        """The variable's place in the list of extents."""
        return self._sizes.setdefault(variable, len(self._sizes))

    def known(self, sizes: Sequence[int]) -> dict[SizeVariable, int]:
        """The variables with their values in a call's list of extents."""
        return {variable: sizes[place] for variable, place in self._sizes.items() if place < len(sizes)}

    @property
    def counts(self) -> tuple[int, int]:
        """How many buffers a call has, with that at `RECORD`, and how many extents."""
        return len(self._arrays) + 1, len(self._sizes)


ShapeOf: TypeAlias = Callable[[list[int]], tuple[int, ...]]


def shape_of(shape: Shape, slots: Slots) -> ShapeOf:
    """What gives the shape, once its size variables are bound."""
    constant = tuple(extent.offset for extent in shape)
    if all(extent.variable is None for extent in shape):
        return lambda sizes: constant
    pairs = [(None if e.variable is None else slots.size(e.variable), e.offset) for e in shape]
    match pairs:
        case [(int(only), offset)]:
            return lambda sizes: (sizes[only] + offset,)
        case _:
            return lambda sizes: tuple([offset if s is None else sizes[s] + offset for s, offset in pairs])


def computed_extents(
    step: HostSizes, slots: Slots
) -> Callable[[list[int], Mapping[Array, HostArray]], tuple[int, ...]]:
    """What gives the extents that a step computes, from a call's and from arrays that it loads; without these, what it gave
    last from equal ones. It raises `AccelShapeError` for what is no extent."""
    last: tuple[dict[int, int], tuple[int, ...]] = ({}, ())

    def extents(sizes: list[int], arrays: Mapping[Array, HostArray]) -> tuple[int, ...]:
        nonlocal last
        known, found = last  # of another thread, it may be: read once
        if not known or any(sizes[slot] != extent for slot, extent in known.items()):
            known = {}

            def size(variable: SizeVariable) -> int:
                return known.setdefault(slots.size(variable), sizes[slots.size(variable)])

            found = tuple([int(value) for value in evaluate(step.function, (), size, arrays)])
            require_extents(found, step.where, step.name)
            last = ({} if arrays else known), found
        return found

    return extents


def _capacity(output: Output, slots: Slots) -> ShapeOf:
    if all(len(product) == 1 for product in output.capacity):
        return shape_of(tuple(product[0] for product in output.capacity), slots)
    dimensions = [shape_of(product, slots) for product in output.capacity]
    return lambda sizes: tuple([prod(dimension(sizes)) for dimension in dimensions])


Room: TypeAlias = tuple[Sequence[tuple[int, ...]], bool]
"""The shapes of what a nest makes, and whether it has something to do."""


def room_of(nest: Nest, slots: Slots, rows: int) -> Callable[[list[int]], Room]:
    """The room that a nest needs; `rows`: so many without elements it visits. What loops ask for again is computed once."""
    capacities = [_capacity(output, slots) for output in nest.outputs]
    factors = [extent.variable for output in nest.outputs for product in output.capacity for extent in product]
    mentioned = sorted({slots.size(variable) for variable in factors if variable is not None})
    last: tuple[list[int] | None, Room] = None, ((), False)

    def room(sizes: list[int]) -> Room:
        nonlocal last
        own, (known, found) = [sizes[slot] for slot in mentioned], last
        if own != known:
            shapes = [capacity(sizes) for capacity in capacities]
            busy = any(0 not in shape or prod(shape[:-1]) <= rows for shape in shapes)
            last = own, (found := (shapes, bool(nest.in_place) or busy))
        return found

    return room


class Device(Protocol[B]):
    """Memory and kernels of one device. Shapes may hold zeros."""

    def allocate(self, element: ScalarType, shape: tuple[int, ...]) -> B:
        """An uninitialised contiguous buffer; raises `MemoryError`, or `ValueError` for more than an address can count."""
        ...

    def upload(self, leaves: Sequence[Leaf]) -> list[B]:
        """Buffers with the caller's data, which are only read. Each may be the data itself.

        Raises `MemoryError`, and `AccelDeviceError` for an array that lies on another device.
        """
        ...

    def borrows(self, buffer: B, arguments: Sequence[Leaf]) -> bool:
        """Whether the buffer, which may come from `upload`, lies in the memory of one of the caller's arrays."""
        ...

    def leave(self, buffers: Sequence[B]) -> None:
        """A call ends that got these from `upload`: waits until nothing that it launched reads the caller's arrays any more."""
        ...

    def download(self, buffer: B, element: ScalarType, shape: tuple[int, ...], *, owned: bool) -> HostArray:
        """The buffer's first elements as a C-contiguous array of `shape`.

        `owned`: nothing else refers to the buffer, so it may itself become the result; else the result is a copy.
        """
        ...

    def kept(self, buffer: B, element: ScalarType, shape: tuple[int, ...], *, owned: bool) -> Leaf:
        """The buffer's first elements as an array that stays on the device. `owned`: see `download`."""
        ...

    def shown(self, buffer: B, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """The buffer's first elements, to be read only; a copy if the device needs one."""
        ...

    def copied(self, array: HostArray, element: ScalarType) -> B:
        """A fresh contiguous buffer with the elements of any array. Raises `MemoryError`."""
        ...

    def scalar(self, buffer: B, element: ScalarType, record: B | None = None) -> bool | int | float:
        """The first element. With a record, in the same wait what `look` does."""
        ...

    def fetch(self, buffer: B, value: bool | None) -> None:
        """The host will ask for the first element of the buffer, a bool, which is `value`, if that is known: begin to fetch it.

        Nobody writes to the buffer in between.
        """
        ...

    def look(self, record: B) -> None:
        """Raises `sites.Failed` if a check has failed of a nest that was launched with this record. Waits for them.

        If none has, the record is the device's again.
        """
        ...

    def view(self, buffer: B, shape: tuple[int, ...]) -> B:
        """The buffer's first elements, contiguous, under another shape."""
        ...

    def sort(
        self,
        keys: Sequence[tuple[B, ScalarType]],
        shape: tuple[int, ...],
        places: bool,
        descending: bool,
        first: int | None,
    ) -> B:
        """A fresh buffer with the rows of `keys`, arrays of that shape, in order: see `accel.ir.nodes.Sort`.

        Raises `MemoryError`, or `ValueError`, as `allocate` does.
        """
        ...

    def launcher(self, nest: Nest, slots: Slots) -> Launcher[B]:
        """The compiled nest. Outputs are allocated and destinations aliased before it is called; it finds buffers and
        extents at the slots of the arrays and size variables that the nest mentions."""
        ...

    def at_once(self) -> Device[B]:
        """The same device, whose launchers wait for checks and raise what they find; itself, if they do anyway."""
        ...

    @property
    def series(self) -> Sequence[Series]:
        """The series of nests that the device runs together; none where it launches one nest after the other."""
        ...

    def series_launcher(self, series: Series, slots: Slots) -> SeriesLauncher[B]:
        """What runs one of them."""
        ...

    def straight(
        self, nests: Sequence[Nest], slots: Slots, make: Callable[[Self], list[Instruction[B]]]
    ) -> Callable[[list[B | None], list[int]], None] | None:
        """What runs code that only launches these nests and passes buffers on, as its instructions do, which `make` gives for a
        device; None where that takes no less time."""
        ...

    def repeated(self, turn: Sequence[Item], slots: Slots) -> Callable[[list[B | None], list[int]], None] | None:
        """What runs all turns of a loop (`linear/loops.py`) from its mark on, and leaves buffers as they are at the mark when
        there is none left; None where turns take no less time so than one item after the other."""
        ...

    def finish(self) -> None:
        """Waits until everything that was launched is done."""
        ...


class Give(Protocol[B_contra, T_co]):
    """What becomes of a result: `Device.download` or `Device.kept`."""

    def __call__(self, buffer: B_contra, element: ScalarType, shape: tuple[int, ...], *, owned: bool) -> T_co:
        """The buffer's first elements."""
        ...


class Around(Protocol):
    """What is done around every launch of a nest, to measure or to check it."""

    def __call__(self, device: Device[B], nest: Nest, slots: Slots, launch: Launcher[B]) -> Launcher[B]:
        """What runs instead of `launch`, the nest's compiled form on `device`."""
        ...


@runtime_checkable
class LooksAtExtents(Protocol):
    """What is done around launches, if extents that the host computes are looked at, too."""

    def extents(self, step: HostSizes, sizes: Mapping[SizeVariable, int], arrays: Mapping[Array, HostArray]) -> None:
        """Raises what is wrong with the computation of extents, from known ones and arrays that it loads from."""
        ...


def nothing_around(device: Device[B], nest: Nest, slots: Slots, launch: Launcher[B]) -> Launcher[B]:
    """The launch as it is."""
    return launch
