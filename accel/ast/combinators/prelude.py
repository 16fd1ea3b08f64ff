"""Combinators that are made of others: sums, tests of all elements, sizes, `indexed`, joins.

In and out: handles. Each is an ordinary accel program; what it costs after fusion is what its parts cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVarTuple

import numpy as np

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.folds import UNSEEDED, fold_array
from accel.ast.handles import operations
from accel.ast.handles.acc import Acc, Array, Num, Scalar, Sh, Vector
from accel.ast.handles.checks import arrays_of, of_rank
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.tuples import fromIndex, indexHead, lift_items, shapeSize
from accel.ast.scalars.conversions import N, Ordered, add, max, min, mul
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL
from accel.errors import AccelTypeError, here

Ix = TypeVarTuple("Ix")


# Reductions of the innermost dimension.


def sum(xs: Acc[Array[tuple[*Ix, int], N]]) -> Acc[Array[tuple[*Ix], N]]:
    """The sum of each row; 0 if it is empty.

    >>> A.run(A.sum(A.use(np.arange(6).reshape(2, 3))))
    array([ 3, 12])
    """
    return fold_array("sum", add, 0, _numbers("sum", xs))


def product(xs: Acc[Array[tuple[*Ix, int], N]]) -> Acc[Array[tuple[*Ix], N]]:
    """The product of each row; 1 if it is empty.

    >>> A.run(A.product(A.use(np.arange(6).reshape(2, 3))))
    array([ 0, 60])
    """
    return fold_array("product", mul, 1, _numbers("product", xs))


def minimum(xs: Acc[Array[tuple[*Ix, int], Ordered]]) -> Acc[Array[tuple[*Ix], Ordered]]:
    """The least of each row. An empty row raises `AccelValueError` when run.

    >>> A.run(A.minimum(A.use(np.arange(6).reshape(2, 3))))
    array([0, 3])
    """
    return fold_array("minimum", min, UNSEEDED, xs)


def maximum(xs: Acc[Array[tuple[*Ix, int], Ordered]]) -> Acc[Array[tuple[*Ix], Ordered]]:
    """The greatest of each row. An empty row raises `AccelValueError` when run.

    >>> A.run(A.maximum(A.use(np.arange(6).reshape(2, 3))))
    array([2, 5])
    """
    return fold_array("maximum", max, UNSEEDED, xs)


def all(p: Callable[[Exp[E]], Exp[np.bool_]], xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix], np.bool_]]:
    """Whether `p` holds for all of each row.

    >>> A.run(A.all(lambda x: x > 2, A.use(np.arange(6).reshape(2, 3))))
    array([False,  True])
    """
    return fold_array("all", _both, True, _held("all", p, xs))


def any(p: Callable[[Exp[E]], Exp[np.bool_]], xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix], np.bool_]]:
    """Whether `p` holds for any of each row.

    >>> A.run(A.any(lambda x: x > 2, A.use(np.arange(6).reshape(2, 3))))
    array([False,  True])
    """
    return fold_array("any", _either, False, _held("any", p, xs))


def and_(xs: Acc[Array[tuple[*Ix, int], np.bool_]]) -> Acc[Array[tuple[*Ix], np.bool_]]:
    """Whether all of each row are true.

    >>> A.run(A.and_(A.use(np.array([True, False]))))
    array(False)
    """
    return fold_array("and_", _both, True, _bools("and_", xs, "all"))


def or_(xs: Acc[Array[tuple[*Ix, int], np.bool_]]) -> Acc[Array[tuple[*Ix], np.bool_]]:
    """Whether any of each row is true.

    >>> A.run(A.or_(A.use(np.array([True, False]))))
    array(True)
    """
    return fold_array("or_", _either, False, _bools("or_", xs, "any"))


def _held(name: str, p: Callable[..., object], xs: Acc[Any]) -> Acc[Any]:
    """Where the predicate of `name` holds."""
    found = map_arrays(name, p, (xs,))
    if found.type.element is not BOOL:
        hint = "compare it: `lambda x: x != 0`"
        message = f"the result of the predicate of {name} must be bool, got {found.type.element}"
        raise AccelTypeError(message, here(), hint=hint)
    return found


def _bools(name: str, xs: object, other: str) -> object:
    """The array, if its elements are bools. What is no array the fold refuses."""
    if isinstance(xs, Acc) and xs.type.element is not BOOL:
        hint = f"say which count as true: `A.{other}(lambda x: x != 0, xs)`"
        raise AccelTypeError(
            f"{name} takes an array of bools, got elements of type {xs.type.element}", here(), hint=hint
        )
    return xs


def _numbers(name: str, xs: object) -> object:
    """The array, unless its elements are bools."""
    if isinstance(xs, Acc) and xs.type.element is BOOL:
        hint = "count those that are true by `A.sum(A.map(A.boolToInt, xs))`; `A.and_` and `A.or_` tell of all and any"
        raise AccelTypeError(f"{name} takes an array of numbers, got elements of type bool", here(), hint=hint)
    return xs


def _both(x: Exp[np.bool_], y: Exp[np.bool_]) -> Exp[np.bool_]:
    # The strict operator: a fold reads both sides anyway, and its order is free.
    return Exp(operations.apply(Operator.AND, raw(x), raw(y), where=here(), name="and_"))


def _either(x: Exp[np.bool_], y: Exp[np.bool_]) -> Exp[np.bool_]:
    return Exp(operations.apply(Operator.OR, raw(x), raw(y), where=here(), name="or_"))


# Sizes and elements.


def the(s: Acc[Scalar[E]]) -> Exp[E]:
    """The element of an array of rank 0.

    >>> A.run(A.map(lambda x: x / A.the(A.sum(A.use(np.arange(4.0)))), A.use(np.arange(4.0))))
    array([0.        , 0.16666667, 0.33333333, 0.5       ])
    """
    return of_rank("the", s, 0, here())[()]


def shape(xs: Acc[Array[Sh, E]]) -> Exp[Sh]:
    """The shape as an index; also `xs.shape`.

    >>> A.run(A.unit(A.indexHead(A.shape(A.use(np.zeros((2, 3)))))))
    array(3)
    """
    (array,) = arrays_of("shape", (xs,), here())
    return array.shape


def size(xs: Acc[Array[Sh, E]]) -> Exp[np.int64]:
    """The number of elements.

    >>> A.run(A.unit(A.size(A.use(np.zeros((2, 3))))))
    array(6)
    """
    (array,) = arrays_of("size", (xs,), here())
    return shapeSize(array.shape)


def length(xs: Acc[Vector[E]]) -> Exp[np.int64]:
    """The extent of a vector.

    >>> A.run(A.unit(A.length(A.use(np.zeros(4)))))
    array(4)
    """
    return indexHead(of_rank("length", xs, 1, here()).shape)


def null(xs: Acc[Array[Sh, E]]) -> Exp[np.bool_]:
    """Whether there are no elements.

    >>> A.run(A.unit(A.null(A.use(np.zeros(4)))))
    array(False)
    """
    (array,) = arrays_of("null", (xs,), here())
    return shapeSize(array.shape) == 0


def linearIndex(xs: Acc[Array[Sh, E]], i: Num) -> Exp[E]:
    """The element at position `i` in row-major order; a position outside raises `AccelIndexError`.

    >>> A.run(A.unit(A.linearIndex(A.use(np.arange(6).reshape(2, 3)), 4)))
    array(4)
    """
    (array,) = arrays_of("linearIndex", (xs,), here())
    return array[fromIndex(array.shape, i)]


def indexed(xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, tuple[Sh, E]]]:
    """Each element with its index before it.

    >>> A.run(A.map(lambda p: A.indexHead(p[0]) + p[1], A.indexed(A.use(np.arange(5)))))
    array([0, 2, 4, 6, 8])
    """
    return map_arrays("indexed", lambda ix, x: lift_items((ix, x)), (xs,), indexed=True)
