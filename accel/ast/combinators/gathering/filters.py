"""What a filter keeps: `filter` and `compact`, `partition`, `justs`.

In: predicates, masks, handles. Out: pairs of handles. A `Filter` keeps elements in order; what is kept of several filters of
one array is found in one loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVarTuple

import numpy as np

from accel.ast.combinators.elementwise import map_arrays, tested
from accel.ast.combinators.zips.tuples import zip_arrays
from accel.ast.handles.acc import Acc, Array, Vector, result_of
from accel.ast.handles.checks import inner_array
from accel.ast.handles.elements import Maybe
from accel.ast.handles.exp import E, Exp
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.handles.tuples import fst, snd
from accel.ast.scalars.maybes import fromJust, isJust
from accel.ast.tree.nodes import Filter
from accel.ast.tree.types import BOOL, I64, MaybeType, array_type
from accel.errors import AccelTypeError, here

Ix = TypeVarTuple("Ix")


def filter(
    p: Callable[[Exp[E]], Exp[np.bool_]], xs: Acc[Array[tuple[*Ix, int], E]]
) -> tuple[Acc[Vector[E]], Acc[Array[tuple[*Ix], np.int64]]]:
    """The elements that satisfy `p`, in order, as a vector; and how many there were in each row.

    >>> kept, count = A.filter(lambda x: x > 2, A.use(np.arange(5)))
    >>> A.run((kept, count))
    (array([3, 4]), array(2))
    """
    return _filtered("filter", p, inner_array("filter", xs, here(), (p, xs)))


def compact(
    mask: Acc[Array[tuple[*Ix, int], np.bool_]], xs: Acc[Array[tuple[*Ix, int], E]]
) -> tuple[Acc[Vector[E]], Acc[Array[tuple[*Ix], np.int64]]]:
    """The elements where `mask` is true, in order, as a vector; and how many there were in each row (Accelerate's `compact`).

    Both have one shape, of rank 1 or more; unequal shapes raise `AccelShapeError`.

        >>> kept, count = A.compact(A.use(np.array([True, False, True])), A.use(np.array([1, 2, 3])))
        >>> A.run((kept, count))
        (array([1, 3]), array(2))
    """
    where = here()
    marks, array = inner_array("compact", mask, where, (mask, xs)), inner_array("compact", xs, where, (mask, xs))
    if marks.type.element is not BOOL:
        message = f"compact needs a mask of bools, got elements of type {marks.type.element}"
        hint = "say which elements count: `A.map(lambda x: x != 0, mask)`"
        if array.type.element is BOOL:
            hint = "the mask comes first, then the array"
        raise AccelTypeError(message, where, hint=hint)
    pairs, counts = _filtered("compact", fst, zip_arrays("compact", (marks, array), trim=False))
    return map_arrays("compact", snd, (pairs,)), counts


def partition(
    p: Callable[[Exp[E]], Exp[np.bool_]], xs: Acc[Array[tuple[*Ix, int], E]]
) -> tuple[Acc[Vector[E]], Acc[Vector[E]]]:
    """The elements that satisfy `p`, and those that do not, each in order, as vectors. One loop finds both.

    >>> A.run(A.partition(lambda x: x > 1, A.use(np.array([3, 1, 4, 1, 5]))))
    (array([3, 4, 5]), array([1, 1]))
    """
    where = here()
    array = inner_array("partition", xs, where, (p, xs))
    marked = zip_arrays("partition", (tested("partition", p, array, where), array), trim=False)
    kept, _ = _filtered("partition", fst, marked)
    others, _ = _filtered("partition", lambda pair: ~pair[0], marked)
    return map_arrays("partition", snd, (kept,)), map_arrays("partition", snd, (others,))


def justs(
    xs: Acc[Array[tuple[*Ix, int], Maybe[E]]],
) -> tuple[Acc[Vector[E]], Acc[Array[tuple[*Ix], np.int64]]]:
    """The values that there are, in order, as a vector; and how many there were in each row (Accelerate's `justs`).

    >>> halves = A.map(lambda x: A.cond(A.even(x), A.just(x // 2), A.nothing()), A.use(np.array([4, 5, 6])))
    >>> A.run(A.justs(halves))
    (array([2, 3]), array(2))
    """
    where = here()
    array = inner_array("justs", xs, where)
    if not isinstance(array.type.element, MaybeType):
        message = f"justs takes an array of maybes, got elements of type {array.type.element}"
        raise AccelTypeError(message, where, hint="`A.just(e)` and `A.nothing()` are maybes")
    kept, counts = _filtered("justs", isJust, array)
    return map_arrays("justs", fromJust, (kept,)), counts


def _filtered(name: str, p: Callable[..., object], array: Acc[Any]) -> tuple[Acc[Any], Acc[Any]]:
    """A filter that the user knows as `name`."""
    where = here()
    element = array.type.element
    predicate = trace(p, (element,), f"the predicate of {name}", where, result=BOOL)
    forbid_nested(name, (predicate,), where)
    kinds = (array_type(1, element), array_type(array.rank - 1, I64))
    node = Filter(predicate, array.node, kinds, where)
    return result_of(node, 0, (None,)), result_of(node, 1, array.extents[:-1])
