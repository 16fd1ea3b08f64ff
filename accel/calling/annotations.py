"""What a `runN` function's annotations demand of arguments and results: `Acc[Matrix[np.float32]]` and the like."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, get_args, get_origin, get_type_hints

from accel.ast.handles.acc import Acc, Array
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe
from accel.ast.handles.records import element_of
from accel.ast.tree.types import ArrayType, ComplexType, ElementType, ScalarType
from accel.errors import AccelTypeError, here
from accel.structure import Nested
from accel.support import source
from accel.support.dataclass import dataclass


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


def parameters_of(function: Callable[..., object]) -> list[inspect.Parameter] | None:
    """The parameters of a function; None for builtins that do not tell them."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def demands(function: Callable[..., object]) -> list[Demand]:
    """One demand per positional parameter that is annotated; annotations that Python cannot resolve demand nothing."""
    hints = _hints(function)
    if hints is None:
        return []
    named = (one.name for one in parameters_of(function) or () if one.kind in _POSITIONAL)
    return [_demand(hints.get(name)) for name in named]


def demand_of_result(function: Callable[..., object]) -> Nested[Demand]:
    """The demand of the annotated result, or a tuple of them; what is not annotated, or unresolved, demands nothing."""
    hints = _hints(function)
    return ANYTHING if hints is None else _nested(hints.get("return"))


def contradiction(result: Nested[ArrayType], demand: Nested[Demand]) -> str | None:
    """How the first part of a result differs from its annotation, to be read after the result's name; None if all fit."""
    work: list[tuple[str, Nested[ArrayType], Nested[Demand]]] = [("", result, demand)]
    while work:
        place, given, asked = work.pop()
        if asked == ANYTHING:
            continue
        if isinstance(given, tuple) and isinstance(asked, tuple) and len(given) == len(asked):
            items = [(f"{place}[{i}]", *pair) for i, pair in enumerate(zip(given, asked, strict=True))]
            work += reversed(items)
        elif isinstance(given, tuple) or isinstance(asked, tuple):
            return f"{place} is {_described(given)}, but is annotated with {_described(asked)}"
        elif not asked.admits(given):
            return f"{place} has type {given}, but is annotated with {asked}"
    return None


def _described(part: object) -> str:
    return f"a tuple of {len(part)}" if isinstance(part, tuple) else "one Acc"


def _hints(function: Callable[..., object]) -> dict[str, Any] | None:  # Any: annotations are any objects
    """The annotations of a function; None if Python cannot resolve them."""
    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError, ValueError):
        return None  # names under TYPE_CHECKING, callables without annotations


def _nested(annotation: object) -> Nested[Demand]:
    items = get_args(annotation)
    if get_origin(annotation) is not tuple or Ellipsis in items:
        return _demand(annotation)
    return tuple([_nested(item) for item in items])


def _demand(annotation: object) -> Demand:
    if get_origin(annotation) is not Acc:
        return ANYTHING
    (array,) = get_args(annotation)
    if get_origin(array) is not Array:
        return ANYTHING
    shape, element = get_args(array)
    return Demand(_rank(shape), element_of(element))


def _rank(shape: object) -> int | None:
    extents = get_args(shape)
    fixed = get_origin(shape) is tuple and all(extent is int for extent in extents)
    return len(extents) if fixed else None


def refused(function: str, number: int, kind: ArrayType, demand: Demand) -> AccelTypeError:
    """What is wrong with argument `number` of a function, which is not what the annotation demands."""
    message = f"argument {number} of {function} has type {kind}, but is annotated with {demand}"
    where = here()
    convert = "convert the array"
    if demand.rank in (None, kind.rank) and isinstance(demand.element, ScalarType | ComplexType):
        given = source.arguments(None, where) or ()
        spelt = given[number] if number < len(given) else ""
        convert = f"write `{spelt or 'array'}.astype(np.{demand.element.dtype})`"
    return AccelTypeError(message, where, hint=f"{convert}, or leave the annotation open by a type variable")


class _NotGiven:
    """Stands for a function that comes later, when settings come first. Not None, which a missing `return` gives."""

    def __repr__(self) -> str:
        return "…"


NOT_GIVEN: Final = _NotGiven()


def function_of_arrays(function: object) -> Callable[..., object]:
    """What `runN` may compile; raises `AccelTypeError` for anything but a function."""
    if not is_function(function):
        hint = "is a `return` missing?" if function is None else "a program that holds its arrays is run by `A.run`"
        raise AccelTypeError(f"runN takes a function over Accs, got {describe(function)}", here(), hint=hint)
    return function
