"""What operators ask of an expression's element type, for mypy.

mypy never checks the bound of a self type variable, so the operators of `Exp` take these Protocols over the phantom
property `element` as their self instead (design section 2). Nothing here exists for the run time.
"""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

import numpy as np

E = TypeVar("E")
P = TypeVar("P", covariant=True)


class Maybe(Generic[E]):
    """The element type of an `E` or nothing. It has no instances."""


class Unknown:
    """No element type is this one: as a self, `Exp[Unknown]` takes only expressions of which mypy knows nothing, `Exp[Any]`.

    Without it, the first overload would answer for them: the item of an unknown tuple would be an i64.
    """


class Number(Protocol):
    """An expression of an integer, float or complex number."""

    @property
    def element(self) -> np.number[Any]:
        """The element type."""


class Integral(Protocol):
    """An expression of an integer."""

    @property
    def element(self) -> np.integer[Any]:
        """The element type."""


class Inexact(Protocol):
    """An expression of a float or a complex number."""

    @property
    def element(self) -> np.inexact[Any]:
        """The element type."""


class Floating(Protocol):
    """An expression of a float."""

    @property
    def element(self) -> np.floating[Any]:
        """The element type."""


class Complex(Protocol):
    """An expression of a complex number."""

    @property
    def element(self) -> np.complexfloating[Any, Any]:
        """The element type."""


class Bits(Protocol):
    """An expression of an integer or bool. One Protocol for both: where overloads told them apart, a lambda with `|` as the
    function of a `fold` would have no type.
    """

    @property
    def element(self) -> np.integer[Any] | np.bool_:
        """The element type."""


class At0(Protocol[P]):
    """An expression of a tuple that has an item 0."""

    @property
    def element(self) -> tuple[P, *tuple[Any, ...]]:
        """The element type."""


class At1(Protocol[P]):
    """An expression of a tuple that has an item 1."""

    @property
    def element(self) -> tuple[Any, P, *tuple[Any, ...]]:
        """The element type."""


class At2(Protocol[P]):
    """An expression of a tuple that has an item 2."""

    @property
    def element(self) -> tuple[Any, Any, P, *tuple[Any, ...]]:
        """The element type."""


class At3(Protocol[P]):
    """An expression of a tuple that has an item 3."""

    @property
    def element(self) -> tuple[Any, Any, Any, P, *tuple[Any, ...]]:
        """The element type."""


class At4(Protocol[P]):
    """An expression of a tuple that has an item 4."""

    @property
    def element(self) -> tuple[Any, Any, Any, Any, P, *tuple[Any, ...]]:
        """The element type."""


class At5(Protocol[P]):
    """An expression of a tuple that has an item 5."""

    @property
    def element(self) -> tuple[Any, Any, Any, Any, Any, P, *tuple[Any, ...]]:
        """The element type."""


class At6(Protocol[P]):
    """An expression of a tuple that has an item 6."""

    @property
    def element(self) -> tuple[Any, Any, Any, Any, Any, Any, P, *tuple[Any, ...]]:
        """The element type."""


class At7(Protocol[P]):
    """An expression of a tuple that has an item 7."""

    @property
    def element(self) -> tuple[Any, Any, Any, Any, Any, Any, Any, P, *tuple[Any, ...]]:
        """The element type."""


class At8(Protocol[P]):
    """An expression of a tuple that has an item 8."""

    @property
    def element(self) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any, P, *tuple[Any, ...]]:
        """The element type."""
