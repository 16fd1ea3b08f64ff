"""What a `runN` function's annotations demand of its arguments: `Acc[Array[tuple[int, int], np.float32]]` and the like."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args, get_origin, get_type_hints

from accel.ast.handles.acc import Acc, Array
from accel.ast.tree.types import ArrayType, ElementType, ScalarType, TupleType


@dataclass(frozen=True, slots=True)
class Demand:
    """A rank and an element type; None where the annotation leaves it open (a type variable, or no annotation)."""

    rank: int | None
    element: ElementType | None

    def admits(self, given: ArrayType) -> bool:
        """Whether an argument of that type satisfies the annotation."""
        return self.rank in (None, given.rank) and self.element in (None, given.element)

    def __str__(self) -> str:
        rank = "any rank" if self.rank is None else f"rank {self.rank}"
        return f"{rank} and {'any element' if self.element is None else self.element}"


ANYTHING = Demand(None, None)

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def demands(function: Callable[..., object]) -> list[Demand]:
    """One demand per positional parameter that is annotated; annotations that Python cannot resolve demand nothing."""
    try:
        hints = get_type_hints(function)
        parameters = inspect.signature(function).parameters
    except (NameError, TypeError, AttributeError, ValueError):
        return []  # names under TYPE_CHECKING, callables without annotations, builtins without a signature
    named = (name for name, one in parameters.items() if one.kind in _POSITIONAL)
    return [_demand(hints.get(name)) for name in named]


def _demand(annotation: object) -> Demand:
    if get_origin(annotation) is not Acc:
        return ANYTHING
    (array,) = get_args(annotation)
    if get_origin(array) is not Array:
        return ANYTHING
    shape, element = get_args(array)
    return Demand(_rank(shape), _element(element))


def _rank(shape: object) -> int | None:
    extents = get_args(shape)
    fixed = get_origin(shape) is tuple and all(extent is int for extent in extents)
    return len(extents) if fixed else None


def _element(element: object) -> ElementType | None:
    if get_origin(element) is tuple:
        items = [_element(item) for item in get_args(element)]
        known = tuple(item for item in items if item is not None)
        return TupleType(known) if len(known) == len(items) else None
    return next((kind for kind in ScalarType if kind.dtype.type is element), None)
