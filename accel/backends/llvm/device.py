"""The CPU as a device of the shared executor: buffers are NumPy arrays, launchers call compiled nests.

Kernels read addresses and strides from the array objects themselves (NumPy's C layout, checked once), so that a launch packs
nothing but object addresses and sizes. Arguments keep their strides, except that an argument whose innermost elements are
not adjacent, or that is misaligned, is copied.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from accel.ast.tree.leaves import Leaf, read_only
from accel.ast.tree.types import ScalarType
from accel.backends.device import Device, Launcher, SeriesLauncher, Slots
from accel.backends.linear.items import Item
from accel.backends.llvm.machine.buffers import buffers
from accel.backends.llvm.machine.rows import with_rows
from accel.backends.llvm.module import Kernel, Kernels, load, recording_text
from accel.backends.llvm.series import Together
from accel.backends.llvm.sorting.order import Order
from accel.backends.llvm.sorting.rows import sorted_rows
from accel.backends.llvm.text.frame import Frame
from accel.backends.llvm.threads.pool import forked
from accel.backends.protocol import HostArray
from accel.backends.residence import on_host
from accel.backends.sites import NoSite, fault
from accel.errors import AccelError
from accel.ir.nodes import Nest
from accel.schedule.nodes import Series
from accel.support import waiting


class CPU:
    """Memory and kernels of the processor, for one program: see `accel.backends.device.Device`."""

    def __init__(
        self,
        nests: Mapping[Nest, tuple[Kernel, Frame]],
        kernels: Kernels,
        threads: int,
        together: Sequence[Together] = (),
    ) -> None:
        """`kernels` is what the nests' functions stand in; it is kept. `together`: the nests that run so."""
        self._nests = nests
        self._kernels = kernels
        self._threads = threads
        self._together = together
        self._buffers = buffers()

    def allocate(self, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """An uninitialised C-contiguous array; a large one begins at a cache line."""
        return self._buffers.take(element, shape)

    def upload(self, leaves: Sequence[Leaf]) -> list[HostArray]:
        """The arrays themselves, or a copy if innermost elements are not adjacent."""
        return [with_rows(on_host(leaf, "llvm")) for leaf in leaves]

    def borrows(self, buffer: HostArray, arguments: Sequence[Leaf]) -> bool:
        """Whether they overlap."""
        return any(np.may_share_memory(buffer, on_host(argument, "llvm")) for argument in arguments)

    def leave(self, buffers: Sequence[HostArray]) -> None:
        """Nothing to do: a launch returns when it is done."""

    def download(self, buffer: HostArray, element: ScalarType, shape: tuple[int, ...], *, owned: bool) -> HostArray:
        """The buffer if it is owned, just that large, and has no much larger block behind it; else a copy."""
        if owned and buffer.shape == shape and _fills(buffer):
            return buffer
        made = self._buffers.take(element, shape)  # whose memory is warm, more often than not
        waiting.copy(made, self.view(buffer, shape))
        return made

    def kept(self, buffer: HostArray, element: ScalarType, shape: tuple[int, ...], *, owned: bool) -> Leaf:
        """What `download` gives."""
        return read_only(self.download(buffer, element, shape, owned=owned))

    def shown(self, buffer: HostArray, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        """The elements where they are."""
        return read_only(self.view(buffer, shape))

    def copied(self, array: HostArray, element: ScalarType) -> HostArray:
        """A copy."""
        made = self._buffers.take(element, array.shape)
        waiting.copy(made, array)
        return made

    def scalar(self, buffer: HostArray, element: ScalarType, record: HostArray | None = None) -> bool | int | float:
        """The first element."""
        value: bool | int | float = buffer.item(0)
        return value

    def look(self, record: HostArray) -> None:
        """Nothing to do: a launch has raised what its checks found."""

    def view(self, buffer: HostArray, shape: tuple[int, ...]) -> HostArray:
        """The first elements under another shape, contiguous; without copying if the buffer is."""
        # NumPy reshapes a column of a matrix without a copy: then its elements are not adjacent.
        return with_rows(buffer.reshape(-1)[: prod(shape)]).reshape(shape)

    def sort(
        self,
        keys: Sequence[tuple[HostArray, ScalarType]],
        shape: tuple[int, ...],
        places: bool,
        descending: bool,
        first: int | None,
    ) -> HostArray:
        """See `sorting/rows.py`."""
        order = Order(tuple([kind for _, kind in keys]), places, descending, first)
        return sorted_rows(order, [self.view(key, shape) for key, _ in keys], self._threads)

    def launcher(self, nest: Nest, slots: Slots) -> Launcher[HostArray]:
        """What packs the arguments of a nest, calls it, and says what went wrong."""
        kernel, frame = self._nests[nest]
        arrays = [slots.array(array) for array in frame.arrays]
        sizes = [slots.size(variable) for variable in frame.sizes]
        pack = struct.Struct(f"{2 + len(arrays) + len(sizes)}q").pack
        threads = self._threads

        def launch(buffers: list[HostArray | None], extents: list[int]) -> None:
            addresses = [id(buffers[slot]) for slot in arrays]
            values = [extents[slot] for slot in sizes]
            outcome = kernel(pack(threads, 0, *addresses, *values))
            if outcome:
                error = _diagnosis(nest, addresses, values, frame) if outcome == 1 else forked()
                raise NoSite(arrays) if error is None else error

        return launch

    def fetch(self, buffer: HostArray, value: bool | None) -> None:
        """Nothing: nests wait, so all is there."""

    def at_once(self) -> Device[HostArray]:
        """Itself."""
        return self

    @property
    def series(self) -> Sequence[Series]:
        """Those that were compiled."""
        return [each.series for each in self._together]

    def series_launcher(self, series: Series, slots: Slots) -> SeriesLauncher[HostArray]:
        """What allocates a series' results and runs it."""
        (together,) = (each for each in self._together if each.series is series)
        return together.launcher(slots, self._threads, self.allocate)

    def straight(self, nests: Sequence[Nest], slots: Slots, make: object) -> None:
        """None: what a program does between launches is compiled, too."""

    def repeated(self, turn: Sequence[Item], slots: Slots) -> None:
        """None, for the same reason."""

    def finish(self) -> None:
        """Nothing to do: a launch returns when it is done."""


def _fills(array: HostArray) -> bool:
    """Whether at least half of the memory that the array keeps from being used again is its elements.

    What a filter keeps lies in a block for all that it was given.
    """
    block = array.base
    return block is None or 2 * array.nbytes >= block.nbytes


def _diagnosis(nest: Nest, addresses: Sequence[int], values: Sequence[int], frame: Frame) -> AccelError | None:
    """Runs the nest again, in order, and gives the error of the first check that fails; None if none does."""
    modules, sites = recording_text(nest)
    kernels = load(modules)
    record = (ctypes.c_int64 * 32)()
    block = struct.pack(f"{2 + len(addresses) + len(values)}q", 1, ctypes.addressof(record), *addresses, *values)
    if kernels.functions[0](block) != 1:
        return None
    known = dict(zip(frame.sizes, values, strict=True))
    return fault(sites[record[0]], list(record[1:]), known.__getitem__)
