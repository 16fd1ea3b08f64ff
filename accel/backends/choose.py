"""From a backend's name to the backend. Each is imported when it is first asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias, Union

from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.protocol import Backend
from accel.schedule.machine import PROCESSOR, Machine, WorkItems
from accel.support.forks import load

AnyBackend: TypeAlias = Union[Backend, InterpreterBackend]


def machine(name: str) -> Machine:
    """What the backend of that name runs nests on, where it need not be here: any device counts as one that has everything."""
    return WorkItems() if name.startswith("opencl") else PROCESSOR


@lru_cache(maxsize=64)
def backend(name: str, threads: int) -> AnyBackend:
    """The backend of that name; raises `AccelDeviceError`, saying how to get it, if it is missing.

    `threads` of the CPU work on a program, 0 for as many as the process may use.
    """
    if name == "interpreter":
        return InterpreterBackend()
    if name == "llvm":
        load("accel.backends.llvm.backend")
        from accel.backends.llvm.backend import LLVMBackend

        return LLVMBackend(threads)
    load("accel.backends.opencl.backend")
    from accel.backends.opencl.backend import OpenCLBackend

    _, _, number = name.partition(":")
    return OpenCLBackend(int(number) if number else None)
