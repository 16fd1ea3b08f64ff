"""From a backend's name to the backend. Each is imported when it is first asked for."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TypeAlias, Union

from accel.backends.interpreter.backend import InterpreterBackend
from accel.backends.protocol import Backend
from accel.settings import Settings

AnyBackend: TypeAlias = Union[Backend, InterpreterBackend]


def backend(settings: Settings) -> AnyBackend:
    """The backend that the settings name; raises `AccelDeviceError`, saying how to get it, if it is missing."""
    return _backend(settings.backend, settings.threads or len(os.sched_getaffinity(0)))


@lru_cache(maxsize=64)
def _backend(name: str, threads: int) -> AnyBackend:
    if name == "interpreter":
        return InterpreterBackend()
    if name == "llvm":
        from accel.backends.llvm.backend import LLVMBackend

        return LLVMBackend(threads)
    from accel.backends.opencl.backend import OpenCLBackend

    _, _, number = name.partition(":")
    return OpenCLBackend(int(number) if number else None)
