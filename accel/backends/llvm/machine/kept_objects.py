"""Object code that every process needs, compiled once per machine."""

from __future__ import annotations

from importlib import import_module

from accel.backends.llvm.machine.identity import identity
from accel.backends.llvm.machine.target import host
from accel.support.disk import Store

OBJECTS = Store("objects", entries=64, size=1 << 22)
"""That of the thread pool and of functions over arrays."""


def kept_object(text: str, *, quick: bool = True) -> bytes:
    """The object code of a module's text, compiled if it is not on disk: `quick`, or for what has loops over elements."""
    key = f"{identity()}\nllvmlite {import_module('llvmlite').__version__}\n{quick}\n{text}".encode()
    found = OBJECTS.get(key)
    if found is None:
        found = host().compile(text, quick=quick)
        OBJECTS.put(key, found)
    return found
