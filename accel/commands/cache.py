"""`python -m accel cache`: what is kept between processes, where, how much it takes, and how to be rid of it."""

from __future__ import annotations

from accel.backends.llvm.machine.kept_objects import FUNCTIONS, OBJECTS
from accel.backends.measure.kept import TIMES
from accel.backends.opencl.machine.binaries import BINARIES
from accel.calling.kept_programs import PROGRAMS
from accel.ilp.cache.plan_cache import PLANS
from accel.support.disk import Store, directory

_KEPT: tuple[tuple[Store, str, str], ...] = (
    (PLANS, "plan", "plans"),
    (PROGRAMS, "compiled program", "compiled programs"),
    (FUNCTIONS, "function of such a program", "functions of such programs"),
    (BINARIES, "program of an OpenCL device", "programs of OpenCL devices"),
    (OBJECTS, "part of accel itself", "parts of accel itself"),
    (TIMES, "measured loop", "measured loops"),
)
"""Every store, and what one entry of it and several are called."""


def cache(clear: bool) -> int:
    """Print where things are kept and how much they take; first remove them if asked."""
    if clear:
        before = _content()
        for store, _, _ in _KEPT:
            store.clear()
        print(f"removed {before}")
    print(summary())
    return 0


def summary() -> str:
    """The directory, and what is in it, on one line."""
    trouble = PLANS.trouble()
    return f"plans and programs are kept in memory only: {trouble}" if trouble else f"{directory()}: {_content()}"


def _content() -> str:
    """How many entries each store has, and the bytes of all: plans always, others if there are any."""
    sizes = [(store.size(), one, several) for store, one, several in _KEPT]
    parts = [
        f"{size.entries} {one if size.entries == 1 else several}"
        for (store, _, _), (size, one, several) in zip(_KEPT, sizes, strict=True)
        if size.entries or store is PLANS
    ]
    return f"{', '.join(parts)}, {sum(size.bytes for size, _, _ in sizes) / 1024:.1f} KiB"
