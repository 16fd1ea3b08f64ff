"""The argument checks that all combinators share: handles where handles are due, ranks, and seeds of their type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from accel.ast.handles.acc import Acc
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.habits.calls import reordered
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe, typed, usual_number
from accel.ast.tree.nodes import ScalarNode
from accel.ast.tree.types import BOOL, ComplexType, ElementType, ScalarType
from accel.errors import AccelTypeError, Where
from accel.support.source import texts

_OTHER_RANKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "transpose": "any two dimensions are exchanged by `A.transposeOn(a, b, xs)`",
        "the": "one element is `xs[index]`",
        "length": "all elements are `A.size(xs)`, the extents `A.unindex(xs.shape)`",
        "searchsorted": "what is searched is one vector, for all elements; what is looked for may have any rank",
    }
)
"""What to write instead, by combinators, for an array of another rank."""

_ANY_RANK: Final = "`A.flatten(xs)` gives an array rank 1, `A.reshape(sh, xs)` any"


def arrays_of(
    name: str, values: Sequence[object], where: Where | None, given: Sequence[object] = ()
) -> tuple[Acc[Any], ...]:
    """The arrays that `name` takes, each an `Acc`. Raises `AccelTypeError` that says how to make one of what was given.

    `given` are all arguments of the user's call, for the error that finds them in another order.
    """
    if len(given) == len(values):  # all are arrays: no order is better
        given = ()
    arrays: list[Acc[Any]] = []
    for value in values:
        arrays.append(value if isinstance(value, Acc) else _array(name, value, where, given))
    return tuple(arrays)


def inner_array(name: str, value: object, where: Where | None, given: Sequence[object] = ()) -> Acc[Any]:
    """An `Acc` that has an innermost dimension for `name` to work along; `given` as for `arrays_of`."""
    array = value if isinstance(value, Acc) else _array(name, value, where, given)
    if not array.extents:
        raise AccelTypeError(
            f"{name} works along the innermost dimension, but the array has rank 0",
            where,
            others=(("the array was made here:", array.node.where),),
            hint="its one element is `A.the(xs)`",
        )
    return array


def of_rank(name: str, value: object, rank: int, where: Where | None) -> Acc[Any]:
    """An `Acc` of that rank."""
    array = _array(name, value, where)
    if array.rank != rank:
        places = (("the array was made here:", array.node.where),)
        message = f"{name} takes an array of rank {rank}, got rank {array.rank}"
        raise AccelTypeError(message, where, others=places, hint=_OTHER_RANKS.get(name, _ANY_RANK))
    return array


def require_same_elements(name: str, arguments: Mapping[str, Acc[Any] | None], where: Where | None) -> None:
    """Raises `AccelTypeError` unless the elements of two arrays, among the arguments of `name`, have one type."""
    one, two = (array for array in arguments.values() if array is not None)
    if one.type.element != two.type.element:
        places = tuple((f"{each.type.element} was made here:", each.node.where) for each in (one, two))
        message = f"{name} needs arrays of one element type, got {one.type.element} and {two.type.element}"
        words = zip(texts(name, where, tuple(arguments)), arguments.values(), strict=True)
        parts = "take parts of one type: `A.map(lambda t: t[0], xs)`, `A.map(lambda m: A.fromMaybe(default, m), xs)`"
        hint = conversion((one, two), [word for word, array in words if array is not None]) or parts
        raise AccelTypeError(message, where, others=places, hint=hint)


def conversion(arrays: Sequence[Acc[Any]], words: Sequence[str]) -> str | None:
    """What to write for one of two arrays of different types: the wider type for the other. None of tuples and maybes."""
    kinds = [array.type.element for array in arrays]
    if not all(isinstance(kind, ScalarType | ComplexType) for kind in kinds):
        return None
    if len(arrays) != 2:
        return "convert them: `A.map(lambda x: A.cast(x, np.float64), xs)`"
    wider = max(kinds, key=_width)
    assert isinstance(wider, ScalarType | ComplexType)
    text = words[0 if wider is kinds[1] else 1]
    return f"convert one: `A.map(lambda x: A.cast(x, np.{'bool_' if wider is BOOL else wider.dtype}), {text})`"


def _width(element: object) -> tuple[int, int]:
    if isinstance(element, ComplexType):
        return 2, element.part.bits
    assert isinstance(element, ScalarType)
    return int(element.is_float), element.bits


def seed(name: str, value: object, kind: ElementType, where: Where | None) -> ScalarNode:
    """The seed of a fold or scan as a node of the elements' type."""
    literal = usual_number(value, kind, where)
    return typed(raw(value), kind, f"the seed of {name}", where) if literal is None else literal


def _array(name: str, value: object, where: Where | None, given: Sequence[object] = ()) -> Acc[Any]:
    if isinstance(value, Acc):
        return value
    hint = None
    if (order := reordered(name, given, where)) is not None:
        hint = order
    elif isinstance(value, np.ndarray):
        hint = "an array enters a program by `A.use(array)`"
    elif isinstance(value, Exp):
        is_number = name == "the"
        hint = (
            "it is a number already: leave `A.the` out"
            if is_number
            else "a scalar becomes an array of rank 0 by `A.unit(e)`"
        )
    elif is_function(value):
        hint = f"functions and arrays stand in another order: see `help(A.{name})`"
    elif isinstance(value, tuple):
        hint = "arrays of equal shape become one array of tuples by `A.zip`"
    elif isinstance(value, (bool, int, float, complex, np.generic)):
        hint = "a number becomes an array by `A.unit(…)`, of rank 0, or by `A.fill(shape, …)`"
    elif value is None:
        hint = "is a `return` missing?"
    else:
        hint = "what NumPy can see as an array enters a program by `A.use(…)`"
    raise AccelTypeError(f"{name} takes an Acc, got {describe(value)}", where, hint=hint)
