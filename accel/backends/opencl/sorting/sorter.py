"""Launches the kernels that sort on a device.

In: arrays on a GPU. Out: their rows in order, or where their elements stand, in a new buffer there. Nobody waits. Kernels are
built when something of their types is first sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from accel.ast.tree.types import I64, U32, ScalarType
from accel.backends.opencl.loops.gpu.radix import ADDED, CHUNK, PASS_BITS, PASS_WORK, VALUES
from accel.backends.opencl.machine.devices import GROUP_ITEMS as GROUP
from accel.backends.opencl.machine.features import NARROW_POSITIONS, Features
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.program import unit
from accel.backends.opencl.sorting.text import AS_THEY_STAND, BY_PLACES, MOVED, ROW, SortKernel, passes, whole_rows
from accel.support.forks import calmly

if TYPE_CHECKING:
    import pyopencl

Build: TypeAlias = "Callable[[str], pyopencl.Program]"

Key: TypeAlias = tuple[Held, ScalarType]

_Argument: TypeAlias = "Held | int"


def suits(shape: tuple[int, ...], features: Features) -> bool:
    """Whether an array of this shape is sorted on the device: on a GPU, if 32 bits count its elements."""
    return features.gpu and prod(shape) <= NARROW_POSITIONS


class _Built:
    """Kernels of one text, built on first demand. Calls in several threads have kernel objects of their own."""

    def __init__(self, text: str, kernels: Sequence[SortKernel], build: Build) -> None:
        self._text = text
        self._kernels = kernels
        self._build = build
        self._program: pyopencl.Program | None = None
        self._idle: list[dict[str, pyopencl.Kernel]] = []

    def take(self) -> dict[str, pyopencl.Kernel]:
        """One of each, by name."""
        try:
            return self._idle.pop()
        except IndexError:
            program = self._program = self._program or self._build(self._text)
            return calmly(lambda: {kernel.name: _object(program, kernel) for kernel in self._kernels})

    def give(self, kernels: dict[str, pyopencl.Kernel]) -> None:
        """Take them back."""
        self._idle.append(kernels)


def _object(program: pyopencl.Program, kernel: SortKernel) -> pyopencl.Kernel:
    """The kernel, which knows the types of its arguments: without them each number takes pyopencl ten microseconds."""
    import pyopencl

    found = pyopencl.Kernel(program, kernel.name)
    found.set_arg_types([*[None] * len(kernel.buffers), *[U32.dtype] * len(kernel.numbers)])
    return found


class Sorter:
    """Sorts in one device's memory. Safe to use from several threads."""

    def __init__(self, memory: Memory, features: Features, build: Build) -> None:
        """`build` builds a compilation unit."""
        self._memory = memory
        self._features = features
        self._build = build
        self._made: dict[tuple[tuple[ScalarType, ...], bool, bool, bool], _Built] = {}

    def sort(self, keys: Sequence[Key], shape: tuple[int, ...], places: bool, descending: bool) -> Held:
        """See `accel.backends.device.Device.sort`. Raises `MemoryError`."""
        n = shape[-1]
        element = I64 if places else keys[0][1]
        result = self._memory.take(prod(shape) * element.bytes)
        if not prod(shape):
            return result
        if n <= ROW:
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

    def _kernels(self, kinds: Sequence[ScalarType], places: bool, descending: bool, *, whole: bool) -> _Built:
        key = (tuple(kinds), places, descending, whole)
        found = self._made.get(key)
        if found is None:
            text, kernels = whole_rows(kinds, places, descending) if whole else passes(kinds[0], places, descending)
            found = self._made.setdefault(key, _Built(unit([text], self._features, narrow=True), kernels, self._build))
        return found

    def _launch(self, kernel: pyopencl.Kernel, groups: int, arguments: Sequence[_Argument]) -> None:
        """In so many pieces that none does more than the device may."""
        queue = self._memory.queue
        given = [each.buffer if isinstance(each, Held) else np.uint32(each) for each in arguments]
        most = self._features.most
        each = groups if most is None else max(most // (PASS_WORK * CHUNK), 1)
        for first in range(0, groups, each):
            if first:
                self._memory.enqueued("its work", queue.flush)
            count, offset = min(each, groups - first) * GROUP, first * GROUP
            enqueue = partial(kernel, queue, (count,), (GROUP,), *given, global_offset=(offset,))
            self._memory.enqueued("a sort", enqueue)


def _passes(kind: ScalarType) -> int:
    return 8 * kind.bytes // PASS_BITS
