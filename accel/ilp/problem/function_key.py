"""Cost functions as keys of caches."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import MethodType

from accel.ilp.problem.cost_function import CostFunction


class FunctionKey:
    """A cost function as a part of a key: compared by identity, and not kept alive; a method by its object and function."""

    __slots__ = ("_hash", "_parts")

    def __init__(self, function: CostFunction) -> None:
        parts = (function.__self__, function.__func__) if isinstance(function, MethodType) else (function,)
        self._hash = hash(tuple(map(id, parts)))
        self._parts = tuple(map(_weakly, parts))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionKey):
            return NotImplemented
        mine, theirs = ([part() for part in each._parts] for each in (self, other))
        return len(mine) == len(theirs) and all(a is b and a is not None for a, b in zip(mine, theirs, strict=True))

    def __hash__(self) -> int:
        return self._hash


def _weakly(part: object) -> Callable[[], object]:
    """How to get an object, as long as somebody else keeps it; what allows no such references is kept."""
    try:
        return weakref.ref(part)
    except TypeError:
        return lambda: part
