"""What operators ask of an expression's element type, for mypy.

mypy never checks the bound of a self type variable, so the operators of `Exp` take `Of` an element type as their self instead,
a base class of `Exp` that is covariant (docs/ast.md, "Static types"). Nothing here does anything at run time.

Each operator has one signature, not an overload for each kind of number: where mypy infers what a lambda gives, it looks at the
right side of an operator once more for each overload, and so at what stands right of n operators some 10^n times.
"""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeAlias, TypeVar, Union

import numpy as np

C = TypeVar("C", covariant=True)
L = TypeVar("L")
"""What Python writes a number as: an `int`, a `float` or a `complex`."""
Written = TypeVar("Written", covariant=True)
T = TypeVar("T")


class Of(Generic[C]):
    """Something with elements of type `C`, or of one that is more special."""

    __slots__ = ()


class Maybe(Generic[C]):
    """The element type of an `E` or nothing. It has no instances."""


class Unknown:
    """No element type is this one: as a self, `Exp[Unknown]` takes only expressions of which mypy knows nothing, `Exp[Any]`.

    Without it, the first overload would answer for them: the item of an unknown tuple would be an i64.
    """


class RealNumber(Protocol[Written]):
    """An integer or a float of NumPy's: only these say whether they are whole numbers."""

    def item(self, /) -> Written:
        """Python's number."""

    def is_integer(self, /) -> bool:
        """Whether it is a whole number."""


Number: TypeAlias = "Of[np.number[Any, L]]"
"""An expression of an integer, float or complex number, which Python writes as an `L`."""
Integral: TypeAlias = Of[np.integer[Any]]
"""An expression of an integer."""
Inexact: TypeAlias = "Of[np.inexact[Any, L]]"
"""An expression of a float or a complex number, which Python writes as an `L`."""
Real: TypeAlias = Of[RealNumber[L]]
"""An expression of an integer or a float, which Python writes as an `L`."""
Bits: TypeAlias = Of[np.integer[Any] | np.bool_]
"""An expression of an integer or bool."""
_Plain: TypeAlias = Union["np.generic[float]", int, Of[Any]]
"""A real number or a bool; an index, whose items are `int`; a record, which is an expression for mypy."""
_Nested: TypeAlias = Union[_Plain, tuple[Any, ...], Maybe[Any]]
_Item: TypeAlias = Union[_Plain, tuple[_Nested, ...], Maybe[_Nested]]
OrderedElement: TypeAlias = Union[_Plain, tuple[_Item, ...], Maybe[_Item]]
"""An element type with an order: real numbers, bools, records, tuples and maybes of them.

mypy looks two deep into tuples: of an alias that stands in itself, as the bound of a type variable, it crashes.
"""
Compared: TypeAlias = Of[Union[np.bool_, tuple[_Item, *tuple[_Item, ...]], Maybe[_Item], "Of[Any]"]]
"""An expression of a bool, of a tuple that has an item, of a maybe or of a record: what is in them is compared."""
At0: TypeAlias = Of[tuple[T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 0."""
At1: TypeAlias = Of[tuple[Any, T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 1."""
At2: TypeAlias = Of[tuple[Any, Any, T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 2."""
At3: TypeAlias = Of[tuple[Any, Any, Any, T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 3."""
At4: TypeAlias = Of[tuple[Any, Any, Any, Any, T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 4."""
At5: TypeAlias = Of[tuple[Any, Any, Any, Any, Any, T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 5."""
At6: TypeAlias = Of[tuple[Any, Any, Any, Any, Any, Any, T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 6."""
At7: TypeAlias = Of[tuple[Any, Any, Any, Any, Any, Any, Any, T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 7."""
At8: TypeAlias = Of[tuple[Any, Any, Any, Any, Any, Any, Any, Any, T, *tuple[Any, ...]]]
"""An expression of a tuple that has an item 8."""
