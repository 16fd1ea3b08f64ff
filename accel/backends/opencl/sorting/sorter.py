"""Launches the kernels that sort on a device.

In: arrays on a GPU. Out: their rows in order, or where their elements stand, in a new buffer there. Nobody waits. Kernels are
built when something of their types is first sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from accel.ast.tree.types import I64, U32, ScalarType
from accel.backends.opencl.loops.gpu.radix import ADDED, CHUNK, PASS_BITS, VALUES
from accel.backends.opencl.machine.devices import GROUP_ITEMS as GROUP
from accel.backends.opencl.machine.features import NARROW_POSITIONS, Features
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.sorting.kernels import Argument, Build, Built, Kernels
from accel.backends.opencl.sorting.selector import select, selects
from accel.backends.opencl.sorting.text import AS_THEY_STAND, BY_PLACES, MOVED, ROW, SortKernel, passes, whole_rows

if TYPE_CHECKING:
    import pyopencl

Key: TypeAlias = tuple[Held, ScalarType]


def suits(shape: tuple[int, ...], features: Features) -> bool:
    """Whether an array of this shape is sorted on the device: on a GPU, if 32 bits count its elements."""
    return features.gpu and prod(shape) <= NARROW_POSITIONS


class Sorter:
    """Sorts in one device's memory. Safe to use from several threads."""

    def __init__(self, memory: Memory, features: Features, build: Build) -> None:
        """`build` builds a compilation unit."""
        self._memory = memory
        self._all = Kernels(memory, features, build)

    def sort(
        self, keys: Sequence[Key], shape: tuple[int, ...], places: bool, descending: bool, first: int | None
    ) -> Held:
        """See `accel.backends.device.Device.sort`. Raises `MemoryError`."""
        n = shape[-1]
        element = I64 if places else keys[0][1]
        result = self._memory.take(prod(shape) * element.bytes)
        if not prod(shape):
            return result
        if places and first is not None and len(keys) == 1 and selects(shape, first):
            select(self._all, self._memory, self.sort, keys[0], prod(shape[:-1]), n, first, descending, result)
        elif n <= ROW:
            self._rows(keys, n, prod(shape[:-1]), result, places, descending)
        else:
            self._passes(keys, n, prod(shape[:-1]), result, places, descending)
        return result

    def _rows(self, keys: Sequence[Key], n: int, rows: int, result: Held, places: bool, descending: bool) -> None:
        kernels = self._kernels([kind for _, kind in keys], places, descending, whole=True)
        taken = kernels.take()
        own = ROW // n
        self._launch(taken["rows"], -(-rows // own), [*[held for held, _ in keys], result, n, own, rows])
        kernels.give(taken)

    def _passes(self, keys: Sequence[Key], n: int, rows: int, result: Held, places: bool, descending: bool) -> None:
        """By the last key first. Keys, and places, go from one buffer to another in each pass; from the last pass of all to the
        result."""
        chunks, take = -(-n // CHUNK), self._memory.take
        counts, values = take(rows * VALUES * chunks * U32.bytes), VALUES
        while values > 1 and values * chunks > ADDED * GROUP:
            values //= 2
        totals = take(rows * VALUES // values * U32.bytes)
        moved, stand = self._buffers(keys, rows * n, result, places)
        last = sum(_passes(kind) for _, kind in keys) - 1
        done = 0
        for source, kind in reversed(keys):
            kernels = self._kernels([kind], places, descending, whole=False)
            taken = kernels.take()
            given, how = source, AS_THEY_STAND if done == 0 else BY_PLACES
            for number in range(_passes(kind)):
                shift = PASS_BITS * number
                read = [given, stand[done % 2]]
                self._launch(taken["count"], rows * chunks, [*read, counts, n, chunks, shift, how])
                self._launch(taken["offsets"], rows * VALUES // values, [counts, totals, chunks, values])
                # Of elements the last pass writes to the first of the two, which is the result.
                to = moved[(last - done) % 2]
                made = [to, stand[(done + 1) % 2], result]
                more = [n, chunks, values, shift, how, int(done == last)]
                self._launch(taken["move"], rows * chunks, [*read, counts, totals, *made, *more])
                given, how = to, MOVED
                done += 1
            kernels.give(taken)

    def _buffers(self, keys: Sequence[Key], size: int, result: Held, places: bool) -> tuple[list[Held], list[Held]]:
        """Two for keys, of which the last pass writes to the first, and two for their places."""
        widest, take = max(kind.bytes for _, kind in keys), self._memory.take
        several = sum(_passes(kind) for _, kind in keys) > 1
        if not places:
            return [result, take(size * widest) if several else result], [result, result]
        return [take(size * widest) for _ in range(2)], [take(size * U32.bytes) for _ in range(2)]

    def _kernels(self, kinds: Sequence[ScalarType], places: bool, descending: bool, *, whole: bool) -> Built:
        def write() -> tuple[str, Sequence[SortKernel]]:
            return whole_rows(kinds, places, descending) if whole else passes(kinds[0], places, descending)

        return self._all.made((tuple(kinds), places, descending, whole), write)

    def _launch(self, kernel: pyopencl.Kernel, groups: int, arguments: Sequence[Argument]) -> None:
        self._all.launch(kernel, groups, CHUNK, arguments)


def _passes(kind: ScalarType) -> int:
    return 8 * kind.bytes // PASS_BITS
