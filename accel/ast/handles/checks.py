"""The argument checks that all combinators share: handles where handles are due, ranks, and seeds of their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from accel.ast.handles.acc import Acc
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.habits.calls import reordered
from accel.ast.handles.literals import describe, typed, usual_number
from accel.ast.tree.nodes import ScalarNode
from accel.ast.tree.types import ElementType
from accel.errors import AccelTypeError, Where


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
        hint = "any two dimensions are exchanged by `A.transposeOn(a, b, xs)`" if name == "transpose" else None
        message = f"{name} takes an array of rank {rank}, got rank {array.rank}"
        raise AccelTypeError(message, where, others=places, hint=hint)
    return array


def require_same_elements(name: str, arrays: Sequence[Acc[Any]], where: Where | None) -> None:
    """Raises `AccelTypeError` unless the elements of the arrays, which `name` puts into one, have one type."""
    first = arrays[0]
    for array in arrays[1:]:
        if array.type.element != first.type.element:
            places = tuple((f"{each.type.element} was made here:", each.node.where) for each in (first, array))
            message = f"{name} needs arrays of one element type, got {first.type.element} and {array.type.element}"
            raise AccelTypeError(message, where, others=places)


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
        hint = "a scalar becomes an array of rank 0 by `A.unit(e)`"
    elif callable(value):
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
