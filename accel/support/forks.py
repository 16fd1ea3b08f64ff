"""What a fork must not cut in two, and what a signal handler must not find half done.

A forked child has one thread, the one that forked: what another thread held stays locked there, and what it was making stays
half made. LLVM, imports and drivers have locks and states of their own, which cannot be mended in the child. So whoever uses
them holds `FORKS.lock`, and a fork waits for that lock. Nothing else is waited for while it is held, so it is free soon.

A handler runs on the main thread, between two instructions of whatever that thread does; a finaliser on any thread. Both may
run programs. The lock therefore lets its holder in again, and what cannot bear that is done by `calmly`.
"""

from __future__ import annotations

import _thread
import importlib
import logging as _logging  # noqa: F401  # see `Forks.__init__`
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from accel.errors import AccelDeviceError

T = TypeVar("T")

GLANCE = 0.1
"""Seconds between two looks whether this process is a forked child, in which nobody does what is waited for."""

_PATIENCE = 60.0
"""Seconds after which a fork waits no longer: the holder of the lock may be held up by locks of other libraries."""


class Forks:
    """The process as far as forks are concerned."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """What every fork waits for. Its holder may fork: in the child it is still the holder."""
        self.generation = 0
        """How many forks lie between this process and the one that imported accel."""
        self._owned = threading.Condition(self.lock)
        if hasattr(os, "register_at_fork"):
            # The lock's own methods, written in C: no signal handler runs between taking the lock and knowing that it is taken.
            # A fork takes the lock of `logging`, too, which imports need. It must take this one first, and begins with what was
            # registered last, so `logging` is imported above.
            os.register_at_fork(
                before=partial(self.lock.acquire, timeout=_PATIENCE),
                after_in_parent=self.lock.release,
                after_in_child=self.lock.release,
            )
        self.in_children(self._count)

    def in_children(self, action: Callable[[], None]) -> None:
        """Has every forked child do something at once. Nothing, on systems whose processes do not fork."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=action)

    def _count(self) -> None:
        self.generation += 1

    def is_mine(self) -> bool:
        """Whether this thread holds the lock."""
        try:
            self._owned.notify()  # nobody ever waits for it; it raises for those who do not hold the lock
        except RuntimeError:
            return False
        return True


FORKS = Forks()
"""There is one process."""


def calmly(action: Callable[[], T]) -> T:
    """What `action` gives or raises, done under the lock and in a thread of its own, which signal handlers do not interrupt.

    A thread that holds the lock does it itself.
    """
    generation = FORKS.generation
    given: list[T] = []
    raised: list[BaseException] = []
    done = _thread.allocate_lock()
    done.acquire()

    def work() -> None:
        try:
            with FORKS.lock:
                given.append(action())
        except BaseException as error:
            raised.append(error)
        finally:
            done.release()

    if not FORKS.is_mine() and _started(work):
        # A handler may fork in the middle of this, and the child has no such thread.
        while not done.acquire(timeout=GLANCE) and FORKS.generation == generation:
            pass
    if raised:
        raise raised[0]
    if given:
        return given[0]
    with FORKS.lock:
        return action()


def _started(work: Callable[[], None]) -> bool:
    """Whether a thread does it; an interpreter that comes to its end starts no more of them."""
    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:
        return False
    return True


def load(module: str) -> None:
    """Import a module calmly if it is not there, so that the import statement that follows finds it whole.

    Raises `AccelDeviceError` in a finaliser that runs in the middle of that very import, and what the import raises.
    """
    if not _is_whole(module):
        if FORKS.is_mine() and module in sys.modules:
            raise AccelDeviceError(
                f"{module} is being imported by the code that this call interrupts",
                hint="run a program before finalisers or signal handlers do",
            )
        if module not in sys.modules:
            calmly(lambda: importlib.import_module(module))


def _is_whole(module: str) -> bool:
    """Whether a module is imported to its end."""
    found = sys.modules.get(module)
    # The import statement itself asks the same of the same attribute.
    return found is not None and not getattr(found.__spec__, "_initializing", False)


class Once(Generic[T]):
    """A function without arguments whose value is made once per process, calmly."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []

    def __call__(self) -> T:
        """The value. What making it raises is raised, and nothing is kept."""
        if not self._made:
            calmly(self._fill)
        return self._made[0]

    def _fill(self) -> None:
        if not self._made:
            made = self._make()
            self._made.append(made)
