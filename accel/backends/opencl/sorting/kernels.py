"""Kernels that sort and select: built on first demand, launched in pieces, for several threads at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from accel.ast.tree.types import U32
from accel.backends.opencl.loops.gpu.radix import PASS_WORK
from accel.backends.opencl.machine.devices import GROUP_ITEMS as GROUP
from accel.backends.opencl.machine.features import Features
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.program import unit
from accel.backends.opencl.sorting.text import SortKernel
from accel.support.forks import calmly

if TYPE_CHECKING:
    import pyopencl

Build: TypeAlias = "Callable[[str], pyopencl.Program]"

Argument: TypeAlias = "Held | int"


class Built:
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


class Kernels:
    """All kernels that sort on one device. Safe to use from several threads."""

    def __init__(self, memory: Memory, features: Features, build: Build) -> None:
        """`build` builds a compilation unit."""
        self._memory = memory
        self._features = features
        self._build = build
        self._made: dict[Hashable, Built] = {}

    def made(self, key: Hashable, write: Callable[[], tuple[str, Sequence[SortKernel]]]) -> Built:
        """The kernels of that key, which `write` writes if they are not there yet."""
        found = self._made.get(key)
        if found is None:
            text, kernels = write()
            found = self._made.setdefault(key, Built(unit([text], self._features, narrow=True), kernels, self._build))
        return found

    def launch(self, kernel: pyopencl.Kernel, groups: int, elements: int, arguments: Sequence[Argument]) -> None:
        """In so many pieces that none does more than the device may. `elements`: of a group."""
        queue = self._memory.queue
        given = [each.buffer if isinstance(each, Held) else np.uint32(each) for each in arguments]
        most = self._features.most
        each = groups if most is None else max(most // (PASS_WORK * elements), 1)
        for first in range(0, groups, each):
            if first:
                self._memory.enqueued("its work", queue.flush)
            count, offset = min(each, groups - first) * GROUP, first * GROUP
            enqueue = partial(kernel, queue, (count,), (GROUP,), *given, global_offset=(offset,))
            self._memory.enqueued("a sort", enqueue)
