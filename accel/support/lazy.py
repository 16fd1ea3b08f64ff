"""Properties that are computed when they are first asked for.

Unlike `functools.cached_property` of Python 3.11 there is no lock, which one thread would hold for the objects of all, so that
a forked child waited for a thread that it does not have. Two threads may compute the same value; the last one's is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Self, TypeVar, overload

T = TypeVar("T")
Owner = TypeVar("Owner")


class lazy(Generic[Owner, T]):  # written like `property`
    """A property, computed once per object and kept in the object's `__dict__`, where Python looks first."""

    def __init__(self, compute: Callable[[Owner], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Owner]) -> Self: ...

    @overload
    def __get__(self, instance: Owner, owner: type[Owner] | None = None) -> T: ...

    def __get__(self, instance: Owner | None, owner: type[Owner] | None = None) -> Self | T:
        """The value; of the class, the property itself."""
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value
