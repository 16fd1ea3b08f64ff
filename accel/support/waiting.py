"""Long work of NumPy's, in which it looks for no signals: another thread does it, and this one can be interrupted meanwhile.

Who is interrupted goes on at once. What the other thread works on is its own, and free when it is done. Copies, which may be
to the user's arrays, are made part by part.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np

from accel.support.forks import FORKS, GLANCE

LONG = 1 << 22
"""Elements from which on work is long: some ten milliseconds, and more than a hundred where several passes are made."""


def interruptibly(elements: int, work: Callable[[], None]) -> None:
    """Does the work, which may be begun again from its beginning, and raises what it raises, or what a signal handler does."""
    if elements < LONG or threading.current_thread() is not threading.main_thread() or not _by_another(work):
        work()


def _by_another(work: Callable[[], None]) -> bool:
    """Whether another thread has done it. A handler may fork meanwhile: the child has no such thread."""
    generation, context = FORKS.generation, copy_context()
    raised: list[BaseException] = []
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        try:
            context.run(work)
        except BaseException as error:
            raised.append(error)
        finally:
            done.release()

    try:
        _thread.start_new_thread(run, ())
    except RuntimeError:
        return False
    while not done.acquire(timeout=GLANCE):
        if FORKS.generation != generation:
            return False
    if raised:
        raise raised[0]
    return True


def copy(target: np.ndarray[Any, Any], source: np.ndarray[Any, Any]) -> None:  # of any rank and elements
    """Copies all elements, some at a time."""
    parts = [(target, source)]
    while parts:
        into, part = parts.pop()
        if part.size < LONG:
            np.copyto(into, part)
        elif len(part) == 1:
            parts.append((into[0], part[0]))
        else:
            half = len(part) // 2
            parts += [(into[half:], part[half:]), (into[:half], part[:half])]
