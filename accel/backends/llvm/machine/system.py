"""What the backend needs to know of the operating system. No other file of the backend asks which one it is.

A pool of threads sleeps on futexes, which Linux has. Where there are none, and with `ACCEL_POOL=0`, kernels run on the thread
that calls them.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from accel.errors import AccelValueError, here
from accel.support.dataclass import dataclass

_FUTEX: Mapping[str, int] = MappingProxyType({"x86_64": 202, "aarch64": 98})
"""The number of Linux's system call `futex`, by what Linux calls the processor."""

_MONOTONIC_COARSE = 6
"""Linux's clock of some milliseconds, the quickest to read."""

_MADV_HUGEPAGE = 14
"""Linux's advice to `madvise`."""


@dataclass(frozen=True, slots=True)
class System:
    """A 64-bit operating system, as far as generated code calls it."""

    futex: int | None
    """The number of the system call that threads sleep with; None: there is no pool of threads."""
    clock: int | None
    """The number that C's `clock_gettime` has for a monotonic clock; None: there is Windows' `GetTickCount64` instead."""
    huge_pages: int | None = None
    """What C's `madvise` is told so that a piece of memory gets large pages; None: there is no such advice."""
    marks: Sequence[str] = ()
    """Symbols that object code with floats asks for, that no library has, and that are never read."""


def known_system(name: str, processor: str) -> System:
    """The system that Python calls so (`sys.platform`, `platform.machine()`)."""
    if name.startswith("linux"):
        return System(_FUTEX.get(processor) if sys.maxsize > 1 << 32 else None, _MONOTONIC_COARSE, _MADV_HUGEPAGE)
    if name == "win32":
        return System(None, None, marks=("_fltused",))
    return System(None, time.CLOCK_MONOTONIC)


def system() -> System:
    """The system that this process runs on, with `ACCEL_POOL=0` as if it had no futexes.

    Raises `AccelValueError` if `ACCEL_POOL` is something else than 0 or 1.
    """
    found = known_system(sys.platform, platform.machine())
    match os.environ.get("ACCEL_POOL", ""):
        case "" | "1":
            return found
        case "0":
            return replace(found, futex=None)
        case other:
            raise AccelValueError(f"ACCEL_POOL={other!r} is no setting", here(), hint="0 (no pool of threads) or 1")


def pause(*, x86: bool) -> tuple[str, str]:
    """The function by which a thread waits a moment between two looks at what another one writes, and its operand."""
    return ("llvm.x86.sse2.pause", "") if x86 else ("llvm.aarch64.hint", "i32 1")


def is_x86() -> bool:
    """Whether this is x86-64."""
    return platform.machine() in ("x86_64", "AMD64")


def has_images() -> bool:
    """Whether LLVM writes object code here that `image.py` links, and memory is taken as `loading.py` takes it."""
    return sys.platform.startswith("linux") and is_x86() and sys.maxsize > 1 << 32


def has_jit_link() -> bool:
    """Whether LLVM's newer linker knows the object files of this system.

    It places all pieces of a library together. The older one may place them farther apart than AArch64's instructions reach,
    and then ends the process.
    """
    return sys.platform != "win32"


def processors() -> int:
    """How many processors this process may use; where the system does not say that, how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
