"""Folds along the innermost dimension: `fold`, `fold1`, and those of whole arrays.

In: functions, seeds, handles. Out: handles of `Fold` nodes. The order of combination is fixed (design section 8,
`docs/order.md`). A seed is combined once, on the left; a Python number takes the elements' type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple, overload

import numpy as np

from accel.ast.acc import Acc, Array
from accel.ast.arrays import Fold
from accel.ast.checks import inner_array, seed
from accel.ast.exp import E, Exp
from accel.ast.function import forbid_nested, trace
from accel.ast.types import ArrayType
from accel.errors import here

Ix = TypeVarTuple("Ix")
Fl = TypeVar("Fl", bound=np.inexact[Any])


@overload
def fold(
    f: Callable[[Exp[E], Exp[E]], Exp[E]], z: Exp[E] | int, xs: Acc[Array[tuple[*Ix, int], E]]
) -> Acc[Array[tuple[*Ix], E]]: ...
@overload
def fold(
    f: Callable[[Exp[Fl], Exp[Fl]], Exp[Fl]], z: float, xs: Acc[Array[tuple[*Ix, int], Fl]]
) -> Acc[Array[tuple[*Ix], Fl]]: ...
@overload
def fold(
    f: Callable[[Exp[E], Exp[E]], Exp[E]], z: E, xs: Acc[Array[tuple[*Ix, int], E]]
) -> Acc[Array[tuple[*Ix], E]]: ...
def fold(f: Callable[..., object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """The innermost dimension reduced by the associative `f` from `z`; an empty row gives `z`."""
    return fold_array("fold", f, z, xs)


def fold1(f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix], E]]:
    """The innermost dimension reduced by the associative `f`. An empty row raises `AccelValueError` when run."""
    return fold_array("fold1", f, None, xs)


def fold_array(name: str, f: Callable[..., object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """A fold that the user knows as `name`, without a seed if `z` is None."""
    where = here()
    array = inner_array(name, xs, where)
    element = array.type.element
    function = trace(f, (element, element), f"the function of {name}", where, result=element)
    initial = None if z is None else seed(name, z, element, where)
    forbid_nested(name, (function, initial), where)
    kind = ArrayType(array.rank - 1, element)
    return Acc(Fold(function, initial, array.node, name, (kind,), where), array.extents[:-1])
