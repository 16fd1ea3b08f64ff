"""Code that this process has built before, of the same text, for tests.

Programs come again: by another strategy with the same plan, on another number of threads, with other data, in another test.
A compiler makes the same of one text each time, and takes most of the time of many tests. A text that is new is built as ever.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import pytest

from accel.backends.llvm.machine.target import Host
from accel.backends.opencl.machine import binaries
from accel.backends.opencl.machine.features import Features
from accel.support.disk import Store

_OBJECTS: Final[dict[bytes, bytes]] = {}
"""Object code, by digests of how it is compiled and of its text."""

_OPTIONS: Final = Features.options.__get__
"""The options of a device's compiler."""

_BINARIES: Final[dict[bytes, bytes]] = {}
"""Binaries of OpenCL devices, by digests of what accel keeps them by."""


def remember(patch: pytest.MonkeyPatch, *, quickly: bool) -> None:
    """Have a test take what was built before. `quickly`: nothing is optimised."""
    compile_ = Host.compile

    def remembered(host: Host, text: str, *, quick: bool = False) -> bytes:
        quick = quick or quickly
        key = sha256(f"{quick}\n{text}".encode()).digest()
        if key not in _OBJECTS:
            _OBJECTS[key] = compile_(host, text, quick=quick)
        return _OBJECTS[key]

    patch.setattr(Host, "compile", remembered)
    if quickly:
        patch.setattr(Features, "options", property(unoptimised))
    _remember_binaries(patch, binaries.BINARIES)


def unoptimised(features: Features) -> tuple[str, ...]:
    """The options of a compiler that is told not to optimise."""
    return (*_OPTIONS(features), "-cl-opt-disable")


def _remember_binaries(patch: pytest.MonkeyPatch, store: Store) -> None:
    """In memory where nothing is kept on disk; else as accel keeps them."""
    get_kept, put_kept = store.get, store.put

    def get(key: bytes) -> bytes | None:
        return _BINARIES.get(sha256(key).digest()) if store.path() is None else get_kept(key)

    def put(key: bytes, value: bytes) -> None:
        if store.path() is None:
            _BINARIES[sha256(key).digest()] = value
        else:
            put_kept(key, value)

    patch.setattr(store, "get", get)
    patch.setattr(store, "put", put)
