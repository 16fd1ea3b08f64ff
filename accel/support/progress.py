"""A line on the terminal while planning or compiling takes more than a second: `accel: planning 214 operations ... 3 s`.

Meanwhile the thread that plans or compiles stands in a solver or in LLVM, which release the interpreter's lock. So another
thread writes: it sleeps for a second, and most often is told by then that there is nothing to write.

It waits and writes by single system calls and takes no lock that a fork could leave behind. After each line it returns the
cursor to the line's start, where whatever is printed next, a warning for instance, writes over it.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from accel.support.forks import FORKS

INTERVAL = 1.0
"""Seconds before the first line, and between two of them."""

_LINE = _thread.allocate_lock()
"""Held by the thread that writes, so that there is one line at a time."""


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Says on standard error what is being done and for how long, if that takes long; wiped away at the end.

    Only on a terminal, not in forked children, and not with `ACCEL_PROGRESS=0`.
    """
    terminal = _terminal()
    if terminal is None:
        yield
        return
    line = _Line(what, terminal)
    try:
        line.start()
        yield
    finally:
        line.end()


def _terminal() -> int | None:
    """The descriptor to write to."""
    if os.environ.get("ACCEL_PROGRESS") == "0" or FORKS.generation:
        return None
    try:
        return sys.stderr.fileno() if sys.stderr.isatty() else None
    except (AttributeError, OSError, ValueError):  # there is none, it was replaced, or it is closed
        return None


class _Line:
    """What the thread that works and the one that writes have in common."""

    def __init__(self, what: str, terminal: int) -> None:
        self._what = what
        self._terminal = terminal
        self._begun = time.monotonic()
        self._over, self._wiped = _thread.allocate_lock(), _thread.allocate_lock()
        self._over.acquire()
        self._wiped.acquire()
        self._quiet = [True]
        """Whoever takes the item out decides: the writer that it writes, or the worker that it does not any more."""

    def start(self) -> None:
        """Have the line written when it is time. An interpreter that comes to its end starts no threads: then it is not."""
        with suppress(RuntimeError):
            _thread.start_new_thread(self._write, ())

    def end(self) -> None:
        """Have the line wiped away, if there is one. A terminal that takes no text is not waited for."""
        self._over.release()
        if not self._take():
            self._wiped.acquire(timeout=INTERVAL)

    def _take(self) -> bool:
        try:
            return self._quiet.pop()
        except IndexError:
            return False

    def _write(self) -> None:
        if self._over.acquire(timeout=INTERVAL) or not _LINE.acquire(blocking=False):
            return
        try:
            if self._take():
                self._written()
        finally:
            _LINE.release()
            self._wiped.release()

    def _written(self) -> None:
        with suppress(OSError):  # the terminal is gone
            while True:
                text = f"accel: {self._what} ... {time.monotonic() - self._begun:.0f} s"
                os.write(self._terminal, f"{text}\r".encode())
                if self._over.acquire(timeout=INTERVAL):
                    os.write(self._terminal, f"{' ' * len(text)}\r".encode())
                    return
