"""The OpenCL backend: loop programs as OpenCL C, on the device that was chosen.

In: an `ir.Program`. Out: an `Executable` that keeps all arrays on the device between nests. Raises `AccelDeviceError` when
there is no device, when it lacks 64-bit floats that the program uses, and when it refuses the program.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.tree.leaves import Leaf, read_only
from accel.ast.tree.types import ScalarType, scalar_type
from accel.backends.device import Around, Launcher, SeriesLauncher, Slots, nothing_around
from accel.backends.executor import Execution
from accel.backends.linear.instructions import instructions
from accel.backends.linear.items import Item
from accel.backends.opencl.arguments import Arguments
from accel.backends.opencl.code.checks import may_not_end
from accel.backends.opencl.code.kernel import NestKernels
from accel.backends.opencl.launch import NestLauncher, series_launcher
from accel.backends.opencl.machine.binaries import built
from accel.backends.opencl.machine.buffer_array import BufferArray
from accel.backends.opencl.machine.devices import check_process, device, require_groups
from accel.backends.opencl.machine.features import Features, features, uses_f64
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.machine.records import Records
from accel.backends.opencl.program import translate, unit
from accel.backends.opencl.scores import Code, Tape
from accel.backends.opencl.sorting.sorter import Sorter, suits
from accel.backends.opencl.turns import Straight, Turns
from accel.backends.protocol import Executable, HostArray
from accel.backends.sorting import sort_into
from accel.errors import AccelDeviceError
from accel.ir.nodes import Launch, Nest, Program
from accel.labelled.meaning import faults
from accel.schedule.machine import Machine
from accel.schedule.nodes import Series
from accel.schedule.templates.ways import NestSchedules, ProgramSchedules, Way
from accel.support.cache import Cache
from accel.support.forks import calmly
from accel.support.lazy import lazy
from accel.support.progress import progress

if TYPE_CHECKING:
    import pyopencl


_MEMORIES: Cache[int, Memory] = Cache(1 << 16)
"""Of all devices: more than there are, so that none is forgotten."""


def memory(number: int) -> Memory:
    """The memory of the device with that number. Every backend on the device has the same: arrays of one are the others'."""
    return _MEMORIES.first(number, lambda: Memory(device(number), number))


@lru_cache(maxsize=1024)
def _bytes(element: ScalarType, shape: tuple[int, ...]) -> int:
    """How many an array has; programs ask for the same again and again. Raises `MemoryError` if NumPy could not hold it."""
    if faults.is_too_large(element, shape):
        raise MemoryError("NumPy could not hold the array")
    return prod(shape) * element.bytes


class OpenCLBackend:
    """OpenCL device `number` of this machine. Raises `AccelDeviceError` when there is none."""

    def __init__(self, number: int | None = None) -> None:
        self.name = "opencl" if number is None else f"opencl:{number}"
        self.device = device(number or 0)
        require_groups(self.device)
        self.memory = memory(number or 0)
        self.features: Features = replace(features(self.device), addresses=self.memory.addresses)
        self.records = Records(self.memory)

    @property
    def machine(self) -> Machine:
        """Work-items that can do what the device can."""
        return self.features.machine

    @property
    def processor(self) -> str:
        """The device's name."""
        return str(self.device.name)

    @lazy
    def sorter(self) -> Sorter:
        """What sorts in its memory."""
        return Sorter(self.memory, self.features, self.build)

    def ways(self, schedules: NestSchedules) -> tuple[Way, ...]:
        """None to choose from: where there are two, the length of rows decides."""
        return schedules.ways[:1]

    def put(self, array: HostArray) -> Leaf:
        """A copy in a buffer."""
        element = scalar_type(array.dtype)
        assert element is not None, "leaves have element types"
        return BufferArray(self.memory, self.memory.filled(array), element, array.shape)

    def compile(self, program: Program, schedules: ProgramSchedules, around: Around = nothing_around) -> Executable:
        """Compile once for all sizes. Kernels are built when the program first runs."""
        together = schedules if around is nothing_around else replace(schedules, series=())
        return Execution(program, _Kernels(self, _Code(self, together)), around)

    def build(self, text: str) -> pyopencl.Program:
        """Build a compilation unit. Raises `AccelDeviceError` with what the device's compiler says, and in forked children."""
        check_process(self.memory.generation)
        with progress(f"building kernels for {self.name}"):
            return calmly(lambda: self._built(text))

    def _built(self, text: str) -> pyopencl.Program:
        # Compilers report how well they vectorised; catching warnings is not safe in several threads at once.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return built(self.memory.context, self.device, text, list(self.features.options))


class _Code:
    """The kernels of one program, built when they are first needed."""

    def __init__(self, backend: OpenCLBackend, schedules: ProgramSchedules) -> None:
        self._backend = backend
        made = translate(schedules, backend.features)
        nests = [each.nest for each in schedules.nests]
        _require_fp64(backend, nests)
        self._text = made.text
        self.of = dict(zip(nests, made.nests, strict=True))
        self.series = {id(each.series): each for each in made.series}

    def program(self, narrow: bool) -> pyopencl.Program:
        """What a launch takes: whether its positions are of 32 bits."""
        return self.narrow if narrow else self.wide

    @lazy
    def narrow(self) -> pyopencl.Program:
        """What the device's compiler made, for launches whose positions are of 32 bits."""
        return self._built(narrow=True)

    @lazy
    def wide(self) -> pyopencl.Program:
        """The same for others."""
        return self._built(narrow=False)

    def _built(self, *, narrow: bool) -> pyopencl.Program:
        return self._backend.build(unit([self._text], self._backend.features, narrow=narrow))


class _Kernels:
    """A device as the shared executor sees it, for one program. `waits`: for the checks of each nest."""

    def __init__(self, backend: OpenCLBackend, code: _Code, *, waits: bool = False) -> None:
        self._backend = backend
        self._memory = backend.memory
        self._code = code
        self._arguments = Arguments(backend.memory, backend.name)
        self._waits = waits

    def allocate(self, element: ScalarType, shape: tuple[int, ...]) -> Held:
        return self._memory.take(_bytes(element, shape))

    def upload(self, leaves: Sequence[Leaf]) -> list[Held]:
        return self._arguments.upload(leaves)

    def borrows(self, buffer: Held, arguments: Sequence[Leaf]) -> bool:
        return not buffer.stays

    def leave(self, buffers: Sequence[Held]) -> None:
        if self._memory.busy and any(not buffer.stays for buffer in buffers):
            self._memory.finish()

    def download(self, buffer: Held, element: ScalarType, shape: tuple[int, ...], *, owned: bool) -> HostArray:
        return self._memory.download(buffer, element, shape)

    def kept(self, buffer: Held, element: ScalarType, shape: tuple[int, ...], *, owned: bool) -> Leaf:
        held = self._memory.settled(buffer, prod(shape) * element.bytes)
        self._memory.begin()
        return BufferArray(self._memory, held, element, shape)

    def scalar(self, buffer: Held, element: ScalarType, record: Held | None = None) -> bool | int | float:
        return self._backend.records.scalar(buffer, element, record)

    def fetch(self, buffer: Held, value: bool | None) -> None:
        self._backend.records.fetch(buffer, value)

    def look(self, record: Held) -> None:
        self._backend.records.look(record)

    def shown(self, buffer: Held, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        return read_only(self.download(buffer, element, shape, owned=False))

    def copied(self, array: HostArray, element: ScalarType) -> Held:
        return self._memory.filled(np.ascontiguousarray(array))

    def view(self, buffer: Held, shape: tuple[int, ...]) -> Held:
        return buffer

    def sort(
        self,
        keys: Sequence[tuple[Held, ScalarType]],
        shape: tuple[int, ...],
        places: bool,
        descending: bool,
        first: int | None,
    ) -> Held:
        """On GPUs by kernels (`accel/backends/opencl/sorting`), else on the host, by NumPy (`accel/backends/sorting.py`)."""
        if suits(shape, self._backend.features):
            with contextlib.suppress(MemoryError):  # that has room for one array more, or says what is too large
                return self._backend.sorter.sort(keys, shape, places, descending, first)
        rows = [self.download(key, element, shape, owned=False) for key, element in keys]
        result = np.empty(shape, np.int64 if places else rows[0].dtype)
        sort_into(result, rows, places, descending, first)
        return self._memory.filled(result)

    def launcher(self, nest: Nest, slots: Slots) -> Launcher[Held]:
        return self._launcher(self._code.of[nest], slots)

    def _launcher(self, made: NestKernels, slots: Slots) -> NestLauncher:
        backend, code = self._backend, self._code
        return NestLauncher(made, code.program, slots, backend.records, backend.features, backend.build, self._waits)

    def at_once(self) -> _Kernels:
        return _Kernels(self._backend, self._code, waits=True)

    @property
    def series(self) -> Sequence[Series]:
        # Where each nest waits for its checks, these say whose they are.
        return () if self._waits else [each.series for each in self._code.series.values()]

    def series_launcher(self, series: Series, slots: Slots) -> SeriesLauncher[Held]:
        found = self._code.series[id(series)]
        return series_launcher(found, self._launcher(found.made, slots), self.allocate, slots)

    def straight(
        self, nests: Sequence[Nest], slots: Slots, make: Callable[[_Kernels], Code]
    ) -> Callable[[list[Held | None], list[int]], None] | None:
        return self._straight(nests, slots, make)

    def _straight(self, nests: Sequence[Nest], slots: Slots, make: Callable[[_Kernels], Code]) -> Straight | None:
        alone = not self._waits and not self._code.series
        if not alone or any(may_not_end(nest) for nest in nests):
            return None

        def taped() -> tuple[Tape, Code]:
            tape = Tape(self._backend.records)
            return tape, make(_Taped(self._backend, self._code, tape))

        return Straight(taped, self._backend.records)

    def repeated(self, turn: Sequence[Item], slots: Slots) -> Callable[[list[Held | None], list[int]], None] | None:
        nests = [item.nest for item in turn if isinstance(item, Launch)]
        straight = self._straight(nests, slots, lambda taped: instructions(turn, taped, slots))
        return None if straight is None else Turns(straight)

    def finish(self) -> None:
        self._memory.finish()


class _Taped(_Kernels):
    """The same, for turns of a loop that are written down."""

    def __init__(self, backend: OpenCLBackend, code: _Code, tape: Tape) -> None:
        super().__init__(backend, code)
        self._tape = tape

    def allocate(self, element: ScalarType, shape: tuple[int, ...]) -> Held:
        return self._tape.take(_bytes(element, shape))

    def scalar(self, buffer: Held, element: ScalarType, record: Held | None = None) -> bool | int | float:
        return self._tape.scalar(buffer, element, record)

    def fetch(self, buffer: Held, value: bool | None) -> None:
        self._tape.fetch(buffer, value)

    def straight(self, nests: Sequence[Nest], slots: Slots, make: Callable[[_Kernels], Code]) -> None:
        """None: it is."""

    def launcher(self, nest: Nest, slots: Slots) -> Launcher[Held]:
        return partial(self._tape.launch, self._launcher(self._code.of[nest], slots))


def _require_fp64(backend: OpenCLBackend, nests: Sequence[Nest]) -> None:
    if backend.features.fp64:
        return
    if any(map(uses_f64, nests)):
        raise AccelDeviceError(
            f"{backend.device.name} has no 64-bit floats, but the program uses them",
            hint="use float32 throughout, or another device or backend: accel.devices() lists them",
        )
