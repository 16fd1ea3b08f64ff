"""Sorting along the innermost dimension: `sort`, `argsort`, `sortBy`, `topK`.

In: functions, numbers, handles. Out: handles. Arrays may have any rank but 0, and elements that have an order: numbers, bools,
tuples of these, which are compared from the first item to the last, and maybes of these. Numbers rise, False comes before True,
-0.0 is equal to +0.0, a NaN is greater than all other numbers, and nothing comes before all that hold a value. Equal elements
keep their order. Accelerate has none of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVarTuple

import numpy as np

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.reorder import gather, permuted
from accel.ast.handles import operations
from accel.ast.handles.acc import Acc, Array, Num
from accel.ast.handles.checks import inner_array
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.extents import no_largest, require_extents
from accel.ast.handles.literals import whole_typed
from accel.ast.handles.nothings import zero
from accel.ast.handles.tuples import index_of, unlift_items
from accel.ast.scalars.conversions import Ordered
from accel.ast.tree.nodes import Literal, MakeTuple, Require, ScalarNode, Sort
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64, ComplexType, ElementType, MaybeType, ScalarType, TupleType, array_type
from accel.errors import AccelTypeError, Where, here

Ix = TypeVarTuple("Ix")


def sort(xs: Acc[Array[tuple[*Ix, int], Ordered]]) -> Acc[Array[tuple[*Ix, int], Ordered]]:
    """Each row in order, as `np.sort(xs)`.

    >>> import accel as A, numpy as np
    >>> A.run(A.sort(A.use(np.array([3.0, np.nan, -1.0]))))
    array([-1.,  3., nan])
    """
    where = here()
    array = _ordered_array("sort", xs, where)
    if isinstance(array.type.element, ScalarType):
        return Acc(Sort(array.node, False, False, "sort", (array.type,), where), array.extents)
    return _at("sort", _places("sort", array, where), array)


def argsort(xs: Acc[Array[tuple[*Ix, int], Ordered]]) -> Acc[Array[tuple[*Ix, int], np.int64]]:
    """Where the elements of each row stand, in order, as `np.argsort(xs, kind="stable")`.

    >>> import accel as A, numpy as np
    >>> A.run(A.argsort(A.use(np.array([3, 1, 2, 1]))))
    array([1, 3, 2, 0])
    """
    where = here()
    return _places("argsort", _ordered_array("argsort", xs, where), where)


def sortBy(key: Callable[[Exp[E]], Exp[Ordered]], xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """Each row in the order of `key` of its elements, which is computed once for each; the elements may be of any type.

    >>> import accel as A, numpy as np
    >>> A.run(A.sortBy(lambda x: A.abs(x - 3), A.use(np.arange(6))))
    array([3, 2, 4, 1, 5, 0])
    """
    where = here()
    array = inner_array("sortBy", xs, where, (key, xs))
    keys = _ordered_array("sortBy", map_arrays("sortBy", key, (array,)), where)
    return _at("sortBy", _places("sortBy", keys, where), array)


def topK(
    k: Num, xs: Acc[Array[tuple[*Ix, int], Ordered]]
) -> tuple[Acc[Array[tuple[*Ix, int], Ordered]], Acc[Array[tuple[*Ix, int], np.int64]]]:
    """The `k` largest of each row, the largest first, and where they stand; of equal ones the first comes first.

    As with `maximum`, a NaN is larger than all numbers. A row of fewer than `k` elements raises `AccelValueError`, a
    negative `k` raises `AccelShapeError`.

    >>> import accel as A, numpy as np
    >>> A.run(A.topK(2, A.use(np.array([3, 1, 4, 1, 5]))))
    (array([5, 4]), array([4, 2]))
    """
    where = here()
    array = _ordered_array("topK", xs, where, (k, xs))
    count = whole_typed(raw(k), "the k of topK", where)
    extent = array.extents[-1]
    if isinstance(count, Literal):
        require_extents((int(count.value),), where, "topK")
    places = _places("topK", array, where, descending=True)
    *outer, length = unlift_items("topK", array.shape)
    if not isinstance(count, Literal) or extent is None:
        found = operations.apply(Operator.MAX, count, length.node, where=where)
        required = Require((found,), (length.node,), "topK", None, places.node, (places.type,), where)
        places = Acc(required, places.extents)
    elif count.value > extent:
        raise no_largest(int(count.value), extent, where)
    shape = index_of([*outer, Exp(count)])
    first = permuted("topK", shape, lambda ix: ix, places, shrinking=False)
    return _at("topK", first, array), first


def _ordered_array(name: str, xs: object, where: Where | None, given: tuple[object, ...] = ()) -> Acc[Any]:
    array = inner_array(name, xs, where, given or (xs,))
    require_order(name, array, where)
    return array


def require_order(name: str, array: Acc[Any], where: Where | None) -> None:
    """Raises `AccelTypeError` unless the elements of what `name` was given have an order."""
    if not _has_order(array.type.element):
        message = f"{name} takes numbers, bools, tuples and maybes of them, got {array.type.element}"
        hint = "give the elements an order: `A.sortBy(lambda x: …, xs)`, with the part of each by which they are sorted"
        if isinstance(array.type.element, ComplexType):
            hint = "complex numbers have no order: give them one by `A.sortBy(A.magnitude, xs)`"
        raise AccelTypeError(message, where, others=(("the array was made here:", array.node.where),), hint=hint)


def _has_order(element: ElementType) -> bool:
    match element:
        case ScalarType():
            return True
        case TupleType(items):
            return bool(items) and all(map(_has_order, items))
        case MaybeType(value):
            return _has_order(value)
        case _:
            return False


def _places(name: str, array: Acc[Any], where: Where | None, descending: bool = False) -> Acc[Any]:
    if _has_maybes(array.type.element):
        array = map_arrays(name, lambda x: Exp(_key(x.node, where)), (array,))
    kind = array_type(array.rank, I64)
    return Acc(Sort(array.node, True, descending, name, (kind,), where), array.extents)


def _has_maybes(element: ElementType) -> bool:
    return isinstance(element, MaybeType) or (isinstance(element, TupleType) and any(map(_has_maybes, element.items)))


def _key(node: ScalarNode, where: Where | None) -> ScalarNode:
    """What is compared as the element is, without maybes: of one whether there is a value, then that, or else zeros."""
    kind = node.type
    match kind:
        case TupleType(items):
            keys = tuple([_key(operations.project(node, i, where), where) for i in range(len(items))])
            return MakeTuple(keys, TupleType(tuple([key.type for key in keys])), where)
        case MaybeType():
            present, value = operations.project(node, 0, where), _key(operations.project(node, 1, where), where)
            chosen = operations.select(present, value, zero(value.type, where), where)
            return MakeTuple((present, chosen), TupleType((present.type, chosen.type)), where)
        case _:
            return node


def _at(name: str, places: Acc[Any], array: Acc[Any]) -> Acc[Any]:
    """The elements at places in their rows."""
    if array.rank == 1:
        return gather(places, array)

    def index(ix: Exp[Any], place: Exp[Any]) -> Exp[Any]:
        return index_of([*unlift_items(name, ix)[:-1], place])

    return gather(map_arrays(name, index, (places,), indexed=True), array)
