"""The OpenCL backend: loop programs as OpenCL C, on the device that was chosen.

In: an `ir.Program`. Out: an `Executable` that keeps all arrays on the device between nests. Raises `AccelDeviceError` when
there is no device, when it lacks 64-bit floats that the program uses, and when it refuses the program.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.tree.types import ScalarType
from accel.backends.device import Around, Launcher, SeriesLauncher, Slots, nothing_around
from accel.backends.executor import Execution
from accel.backends.opencl.code.kernel import NestKernels
from accel.backends.opencl.launch import launcher
from accel.backends.opencl.machine.binaries import binaries
from accel.backends.opencl.machine.devices import check_process, device
from accel.backends.opencl.machine.features import Features, features, uses_f64
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.program import translate
from accel.backends.protocol import Executable, HostArray
from accel.backends.sorting import sort_into
from accel.errors import AccelDeviceError
from accel.ir.nodes import Nest, Program
from accel.labelled.meaning import faults
from accel.labelled.meaning.evaluate import read_only
from accel.schedule.machine import Machine
from accel.schedule.nodes import Series
from accel.schedule.templates.ways import NestSchedules, ProgramSchedules, Way
from accel.support.forks import calmly
from accel.support.lazy import lazy
from accel.support.progress import progress

if TYPE_CHECKING:
    import pyopencl


class OpenCLBackend:
    """OpenCL device `number` of this machine. Raises `AccelDeviceError` when there is none."""

    def __init__(self, number: int | None = None) -> None:
        self.name = "opencl" if number is None else f"opencl:{number}"
        self.device = device(number or 0)
        self.features: Features = features(self.device)
        self.memory = Memory(self.device)

    @property
    def machine(self) -> Machine:
        """Work-items that can do what the device can."""
        return self.features.machine

    @property
    def processor(self) -> str:
        """The device's name."""
        return str(self.device.name)

    def ways(self, schedules: NestSchedules) -> tuple[Way, ...]:
        """None to choose from: where there are two, the length of rows decides."""
        return schedules.ways[:1]

    def compile(self, program: Program, schedules: ProgramSchedules, around: Around = nothing_around) -> Executable:
        """Compile once for all sizes. Kernels are built when the program first runs."""
        return Execution(program, _Kernels(self, schedules), around)

    def build(self, text: str) -> pyopencl.Program:
        """Build a compilation unit. Raises `AccelDeviceError` with what the device's compiler says, and in forked children."""
        check_process(self.memory.generation)
        with progress(f"building kernels for {self.name}"):
            return calmly(lambda: self._built(text))

    def _built(self, text: str) -> pyopencl.Program:
        import pyopencl

        # Compilers report how well they vectorised; catching warnings is not safe in several threads at once.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = list(self.features.options)
            try:
                return pyopencl.Program(self.memory.context, text).build(options, cache_dir=binaries())
            except Exception:
                # pyopencl keeps binaries in a cache directory. Where that cannot be written, or holds what another
                # processor's compiler made, anything comes out, also a KeyError: from source there is nothing to go wrong.
                pass
            try:
                return pyopencl.Program(self.memory.context, text).build(options, cache_dir=False)
            except pyopencl.Error as error:
                raise AccelDeviceError(f"{self.device.name} refused the program: {error}") from error


class _Kernels:
    """A device as the shared executor sees it, for one program."""

    def __init__(self, backend: OpenCLBackend, schedules: ProgramSchedules) -> None:
        self._backend = backend
        self._memory = backend.memory
        self._text, made = translate(schedules, backend.features)
        _require_fp64(backend, made)
        self._made = {each.nest: each for each in made}

    @lazy
    def _program(self) -> pyopencl.Program:
        return self._backend.build(self._text)

    def allocate(self, element: ScalarType, shape: tuple[int, ...]) -> Held:
        if faults.is_too_large(element, shape):
            raise MemoryError("NumPy could not hold the array")
        return self._memory.take(prod(shape) * element.bytes)

    def upload(self, array: HostArray) -> Held:
        return self._memory.upload(array)

    def borrows(self, buffer: Held, arguments: Sequence[HostArray]) -> bool:
        return buffer.borrowed

    def download(self, buffer: Held, element: ScalarType, shape: tuple[int, ...], *, owned: bool) -> HostArray:
        return self._memory.download(buffer, element, shape)

    def scalar(self, buffer: Held, element: ScalarType) -> bool | int | float:
        value: bool | int | float = self._memory.download(buffer, element, ()).item()
        return value

    def shown(self, buffer: Held, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
        return read_only(self.download(buffer, element, shape, owned=False))

    def copied(self, array: HostArray, element: ScalarType) -> Held:
        return self._memory.filled(np.ascontiguousarray(array))

    def view(self, buffer: Held, shape: tuple[int, ...]) -> Held:
        return buffer

    def sort(
        self, keys: Sequence[tuple[Held, ScalarType]], shape: tuple[int, ...], places: bool, descending: bool
    ) -> Held:
        """On the host, by NumPy: see `accel/backends/sorting.py`."""
        rows = [self.download(key, element, shape, owned=False) for key, element in keys]
        result = np.empty(shape, np.int64 if places else rows[0].dtype)
        sort_into(result, rows, places, descending)
        return self._memory.filled(result)

    def launcher(self, nest: Nest, slots: Slots) -> Launcher[Held]:
        backend = self._backend
        made = self._made[nest]
        return launcher(made, lambda: self._program, slots, self._memory, backend.features, backend.build)

    @property
    def series(self) -> Sequence[Series]:
        return ()

    def series_launcher(self, series: Series, slots: Slots) -> SeriesLauncher[Held]:
        raise AssertionError("nests are launched one after the other")

    def finish(self) -> None:
        self._memory.queue.finish()


def _require_fp64(backend: OpenCLBackend, made: list[NestKernels]) -> None:
    if backend.features.fp64:
        return
    if any(uses_f64(each.nest) for each in made):
        raise AccelDeviceError(
            f"{backend.device.name} has no 64-bit floats, but the program uses them",
            hint="use float32 throughout, or another device or backend: accel.devices() lists them",
        )
