"""What a backend is: it turns a loop program into something callable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np

from accel.ast.tree.leaves import Leaf
from accel.backends.device import Around, nothing_around
from accel.ir.nodes import Program
from accel.schedule.machine import Machine
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.ways import NestSchedules, ProgramSchedules, Way

HostArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
"""A NumPy array of any rank and one of accel's scalar types, in native byte order."""


class Executable(Protocol):
    """A compiled program. One serves all sizes; it may be called from several threads at once."""

    def __call__(self, arguments: Sequence[Leaf], /) -> list[HostArray]:
        """One array per leaf of every parameter, in order; gives one fresh C-contiguous array per result.

        Raises `AccelShapeError`, `AccelIndexError`, `AccelValueError` as docs/errors.md says, and `AccelDeviceError` for an
        array on another device. Arguments may have any strides, are never written and not kept.
        """
        ...


class Places(Protocol):
    """What has memory for arrays."""

    def put(self, array: HostArray) -> Leaf:
        """A copy of the array where programs run, C-contiguous; nobody writes to it. Raises `MemoryError`."""
        ...


class Backend(Places, Protocol):
    """A way to run loop programs, ready for use (its device was found)."""

    @property
    def name(self) -> str:
        """`interpreter`, `llvm`, `opencl` or `opencl:1`."""
        ...

    @property
    def machine(self) -> Machine:
        """What it runs nests on."""
        ...

    @property
    def processor(self) -> str:
        """What times depend on beside the program: which processor, with how many threads."""
        ...

    def ways(self, schedules: NestSchedules) -> tuple[Way, ...]:
        """Those ways of a nest that run differently here and may be left out, but for the last: what there is to measure."""
        ...

    def compile(self, program: Program, schedules: ProgramSchedules, around: Around = nothing_around) -> Executable:
        """Compile once for all sizes.

        `schedules`: how its nests run, on `machine`. `around`: what is done around each launch of a nest.
        """
        ...


def compiled(backend: Backend, program: Program, around: Around = nothing_around) -> Executable:
    """A loop program by itself, scheduled and compiled."""
    return backend.compile(program, program_schedules(program, backend.machine), around)
