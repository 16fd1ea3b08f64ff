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
from accel.support.disk import Store

_OBJECTS: Final[dict[bytes, bytes]] = {}
"""Object code, by digests of how it is compiled and of its text."""

_BINARIES: Final[dict[bytes, bytes]] = {}
"""Binaries of OpenCL devices, by digests of what accel keeps them by."""


class _Binaries:
    """In memory where nothing is kept on disk; else as accel keeps them."""

    def __init__(self, kept: Store) -> None:
        self._kept = kept

    def get(self, key: bytes) -> bytes | None:
        """See `Store`."""
        return _BINARIES.get(sha256(key).digest()) if self._kept.path() is None else self._kept.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        """See `Store`."""
        if self._kept.path() is None:
            _BINARIES[sha256(key).digest()] = value
        else:
            self._kept.put(key, value)


def remember(patch: pytest.MonkeyPatch) -> None:
    """Have a test take what was built before."""
    compile_ = Host.compile

    def remembered(host: Host, text: str, *, quick: bool = False) -> bytes:
        key = sha256(f"{quick}\n{text}".encode()).digest()
        if key not in _OBJECTS:
            _OBJECTS[key] = compile_(host, text, quick=quick)
        return _OBJECTS[key]

    patch.setattr(Host, "compile", remembered)
    patch.setattr(binaries, "BINARIES", _Binaries(binaries.BINARIES))
