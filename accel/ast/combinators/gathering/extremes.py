"""Where the least and the greatest of each row stand: `argmin` and `argmax`.

In: handles. Out: handles. One fold of pairs of an element and its place: so one pass over the array. The function that joins
two pairs is one whose order does not matter (docs/order.md), and backends look for extremes by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple, Union

import numpy as np

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.folds import UNSEEDED, fold_array
from accel.ast.handles.acc import Acc, Array
from accel.ast.handles.checks import inner_array
from accel.ast.handles.exp import Exp
from accel.ast.handles.tuples import indexHead, lift, select
from accel.ast.scalars.conversions import max, min
from accel.ast.scalars.floats import isNaN
from accel.ast.tree.types import I64, ComplexType, ScalarType
from accel.errors import AccelTypeError, here

Ix = TypeVarTuple("Ix")
Ordered = TypeVar("Ordered", bound=Union[np.integer[Any], np.floating[Any], np.bool_])


def argmin(xs: Acc[Array[tuple[*Ix, int], Ordered]]) -> Acc[Array[tuple[*Ix], np.int64]]:
    """The position of the least of each row: of equals the first; if there are NaNs, that of the first NaN.

    Elements are numbers or bools. An empty row raises `AccelValueError` when run.

        >>> A.run(A.argmin(A.use(np.array([[3, 1, 1], [0, 2, 5]]))))
        array([1, 0])
    """
    return _position("argmin", min, xs)


def argmax(xs: Acc[Array[tuple[*Ix, int], Ordered]]) -> Acc[Array[tuple[*Ix], np.int64]]:
    """The position of the greatest of each row: of equals the first; if there are NaNs, that of the first NaN.

    Elements are numbers or bools. An empty row raises `AccelValueError` when run.

        >>> A.run(A.argmax(A.use(np.array([3.0, np.nan, 5.0]))))
        array(1)
    """
    return _position("argmax", max, xs)


def _position(name: str, better: Callable[..., object], xs: object) -> Acc[Any]:
    where = here()
    array = inner_array(name, xs, where)
    kind = array.type.element
    if not isinstance(kind, ScalarType):
        message = f"{name} takes an array of numbers or bools, got elements of type {kind}"
        hint = "of tuples and maybes `A.argsort` gives places, too; of one item: `A.unzip(xs)`"
        if isinstance(kind, ComplexType):
            hint = f"complex numbers have no order; take a part first: `A.{name}(A.map(A.magnitude, xs))`"
        raise AccelTypeError(message, where, hint=hint)
    behind = I64.maximum

    def joined(left: Exp[Any], right: Exp[Any]) -> Exp[Any]:
        best: Any = better(left[0], right[0])

        def place(pair: Exp[Any]) -> Exp[Any]:
            stands = pair[0] == best
            # If there is a NaN, it is the best, and nothing is equal to it.
            return select(stands | isNaN(pair[0]) if kind.is_float else stands, pair[1], behind)

        return lift(best, min(place(left), place(right)))

    pairs = map_arrays(name, lambda ix, x: lift(x, indexHead(ix)), (array,), indexed=True)
    return map_arrays(name, lambda pair: pair[1], (fold_array(name, joined, UNSEEDED, pairs),))
