"""The process's thread pool for kernels: compiled code, so that no worker ever needs Python.

Threads start with the first job that wants them and sleep between jobs. After a fork the child starts with none. Where the
system has no futexes there never are any, and the same functions do all work on the thread that calls them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from accel.backends.llvm.machine.kept_objects import kept_object
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.machine.python_function import symbol
from accel.backends.llvm.machine.system import System, is_x86, processors, system
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.threads.copy_text import copy_text
from accel.backends.llvm.threads.page import FORKS_AT, MOST, PAGE_BYTES, SCRATCH_AT
from accel.backends.llvm.threads.pool_text import pool_text
from accel.backends.llvm.threads.run_text import alone_text
from accel.backends.llvm.threads.scratch_text import scratch_text
from accel.errors import AccelDeviceError, AccelError
from accel.support.forks import FORKS, Once

_PYTHON = (
    "PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals", "PyErr_Occurred", "PyGILState_Check",
    "PyGILState_GetThisThreadState",
)  # fmt: skip
"""What the pool calls of Python's C interface."""

EXPORTS = ("accel_run", "accel_poll", "accel_copy", "accel_scratch", "accel_scratch_done")
"""What kernels and calls use of the pool."""


class Pool:
    """Loaded once per process and never dropped: threads stand in its code."""

    def __init__(self) -> None:
        found = system()
        self._memory = ctypes.create_string_buffer(PAGE_BYTES + 64)
        start = ctypes.addressof(self._memory)
        page = (start + 63) // 64 * 64
        self._forks = ctypes.c_int64.from_address(page + FORKS_AT)
        self._forks.value = FORKS.generation
        self._scratch = ctypes.c_int64.from_address(page + SCRATCH_AT)
        imports = {"page": page, **{name: symbol(name) for name in _PYTHON}}
        code = kept_object(f"pool {found}", lambda: _text(found) + HOST_ATTRIBUTES)
        library = load([code], EXPORTS, imports)
        # Not even the end of the interpreter may free code that threads sleep in.
        for kept in (library, self._memory):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        self.symbols: Mapping[str, int] = {**library.addresses, **dict.fromkeys(found.marks, page)}
        """What kernels import."""
        FORKS.in_children(self._forget_workers)

    def _forget_workers(self) -> None:
        """In a forked child no worker exists, and no job ends: another thread's is gone, this one's finds the page changed."""
        kept = self._scratch.value
        ctypes.memset(self._memory, 0, len(self._memory))
        self._scratch.value = kept
        self._forks.value = FORKS.generation


def _text(found: System) -> str:
    run = alone_text(found, x86=is_x86()) if found.futex is None else pool_text(found, found.futex, x86=is_x86())
    return run + copy_text() + scratch_text(found)


pool = Once(Pool)
"""The pool, made on first demand."""


def participants(threads: int) -> int:
    """How many threads a setting asks for: 0 is as many as the process may use. Where there is no pool it is always one."""
    return 1 if system().futex is None else min(MOST, threads or processors())


def forked() -> AccelError:
    """The error of a kernel that was interrupted where no exception was set: see `pool_text.py`."""
    return AccelDeviceError(
        "a signal handler forked while this program ran, and the child cannot finish what the parent's threads had begun",
        hint="let the child end within the handler, or run the program again",
    )
