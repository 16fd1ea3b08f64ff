"""Runs the kernels of a nest on the buffers and extents of a call, and turns failed checks into errors.

In: `NestKernels` and the program they were built in. Out: a `Launcher`. Kernels of one nest follow each other in the queue;
only a nest that checks something waits for its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from accel.ast.tree.types import I64
from accel.backends.device import Launcher, Slots
from accel.backends.opencl.code.kernel import Kernel, NestKernels
from accel.backends.opencl.loops.sequential import diagnosis
from accel.backends.opencl.machine.features import Features
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.program import unit
from accel.backends.sites import NoSite, fault
from accel.errors import AccelDeviceError, AccelError
from accel.ir import mentions
from accel.ir.nodes import Nest, Remap, Scatter
from accel.labelled.array import SizeVariable
from accel.labelled.programs import loaded
from accel.support.forks import calmly

if TYPE_CHECKING:
    import pyopencl

RECORD = 16
"""Numbers in an error record: a site, and the offending index, of at most 15 dimensions."""

GROUP = 256
"""Work-items of a work-group where the kernel does not care."""

SERIAL_GROUP = 8
"""The same, where few work-items have much to do each: groups are what a CPU's cores share out."""

KernelArgument: TypeAlias = "pyopencl.Buffer | np.int64"

Build: TypeAlias = "Callable[[str], pyopencl.Program]"


def launcher(
    made: NestKernels,
    program: Callable[[], pyopencl.Program],
    slots: Slots,
    memory: Memory,
    features: Features,
    build: Build,
) -> Launcher[Held]:
    """What runs the nest. `program` gives the built program once it is needed, `build` builds another text."""
    return _Launcher(made, program, slots, memory, features, build)


class _Launcher:
    def __init__(
        self,
        made: NestKernels,
        program: Callable[[], pyopencl.Program],
        slots: Slots,
        memory: Memory,
        features: Features,
        build: Build,
    ) -> None:
        self._made = made
        self._program = program
        self._slots = slots
        self._memory = memory
        self._features = features
        self._build = build
        self._arrays = [slots.array(array) for array in made.parameters.arrays]
        self._sizes = [slots.size(variable) for variable in made.parameters.sizes]
        self._checked = has_checks(made.nest)
        # Kernel objects that no call uses. They hold arguments between being told them and being enqueued, so each call has
        # its own, also that of a signal handler in the middle of another.
        self._idle: list[list[tuple[Kernel, pyopencl.Kernel]]] = []

    def __call__(self, buffers: list[Held | None], sizes: list[int]) -> None:
        import pyopencl

        memory, size = self._memory, self._size(sizes)
        temporaries = [memory.take(each.bytes * each.count.value(size)) for each in self._made.temporaries]
        record = self._record()
        given: list[KernelArgument] = [_buffer(buffers[slot]) for slot in self._arrays]
        given += [np.int64(sizes[slot]) for slot in self._sizes]
        work = [each.buffer for each in (*temporaries, record)]
        try:
            kernels = self._taken()
            for kernel, compiled in kernels:
                _enqueue(memory.queue, kernel, compiled, [*given, *work], size)
            self._idle.append(kernels)
            failed = self._checked and self._read(record)[0] != 0
        except pyopencl.MemoryError as error:
            raise MemoryError(f"the device has no memory left for a loop nest: {error}") from error
        except pyopencl.Error as error:
            raise AccelDeviceError(f"the OpenCL device refused a loop nest: {error}") from error
        if failed:
            found = self._diagnose(given, size)
            raise NoSite(self._arrays) if found is None else found

    def _size(self, sizes: list[int]) -> Callable[[SizeVariable], int]:
        return lambda variable: sizes[self._slots.size(variable)]

    def _taken(self) -> list[tuple[Kernel, pyopencl.Kernel]]:
        try:
            return self._idle.pop()
        except IndexError:
            program = self._program()
            # pyopencl writes Python code for each kernel, and keeps it in a file behind a lock.
            return calmly(lambda: [(each, _kernel(program, each)) for each in self._made.kernels])

    def _record(self) -> Held:
        record = self._memory.take(RECORD * I64.bytes)
        if self._checked:
            self._write(record)
        return record

    def _write(self, record: Held) -> None:
        import pyopencl

        pyopencl.enqueue_copy(self._memory.queue, record.buffer, np.zeros(RECORD, np.int64), is_blocking=True)

    def _read(self, record: Held) -> list[int]:
        return [int(number) for number in self._memory.download(record, I64, (RECORD,))]

    def _diagnose(self, arguments: list[KernelArgument], size: Callable[[SizeVariable], int]) -> AccelError | None:
        """Run the nest again in sequence and without stores; the first check that fails is the error. None if none does."""
        made, helpers, sites = diagnosis(self._made.nest, self._features)
        (kernel,) = made.kernels
        program = self._build(unit([helpers, kernel.text], self._features))
        compiled = calmly(lambda: _kernel(program, kernel))
        record = self._memory.take(RECORD * I64.bytes)
        self._write(record)
        _enqueue(self._memory.queue, kernel, compiled, [*arguments, record.buffer], size)
        number, *index = self._read(record)
        return None if number == 0 else fault(sites[number - 1], index, size)


def _kernel(program: pyopencl.Program, kernel: Kernel) -> pyopencl.Kernel:
    import pyopencl

    return pyopencl.Kernel(program, kernel.name)


def _buffer(held: Held | None) -> pyopencl.Buffer:
    assert held is not None, "a nest is launched without one of its arrays: a bug in accel"
    return held.buffer


def _enqueue(
    queue: pyopencl.CommandQueue,
    kernel: Kernel,
    compiled: pyopencl.Kernel,
    arguments: list[KernelArgument],
    size: Callable[[SizeVariable], int],
) -> None:
    items = kernel.items.value(size)
    if items == 0 or (kernel.when is not None and not kernel.when.holds(size)):
        return
    group = kernel.group or (SERIAL_GROUP if kernel.serial and items < GROUP * SERIAL_GROUP else GROUP)
    compiled(queue, (-(-items // group) * group,), (group,), *arguments)


def has_checks(nest: Nest) -> bool:
    """Whether anything in the nest can fail."""
    if any(isinstance(statement, Remap | Scatter) for statement in mentions.statements(nest)):
        return True
    if any(state.initial is None and not state.running for state in mentions.states(nest)):
        return True
    return any(map(loaded, mentions.functions(nest)))
