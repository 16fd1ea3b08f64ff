"""What may be computed although no result needs it: an error that comes of it is right, and so is none.

Docs/errors.md says what that is: the state of a loop after its last turn, and seeds of rows or segments that there are none of.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

import numpy as np

from tests.differential.oracle.arrays import Array
from tests.differential.oracle.values import Fault, Tuple, Value

_SPARE: ContextVar[list[object] | None] = ContextVar("what no result may need", default=None)


def spare(thing: object) -> None:
    """Note an array, an element, or several arrays, as something that no result may need."""
    found = _SPARE.get()
    if found is not None:
        found.append(thing)


def spare_fails(run: Callable[[], object]) -> bool:
    """Whether something that a run spares fails; the run itself has results."""
    found: list[object] = []
    before = _SPARE.set(found)
    try:
        run()
        while found:
            found += _demand(found.pop())
    except Fault:
        return True
    finally:
        _SPARE.reset(before)
    return False


def _demand(thing: object) -> tuple[object, ...]:
    """Compute it, and give its parts, which are to be computed as well. Raises `Fault`."""
    match thing:
        case Array():
            return (thing.element,)
        case Value() if np.any(thing.bad):
            raise Fault("what no result needs has no value")
        case Tuple() | tuple():
            return tuple(thing)
        case _:
            return ()
