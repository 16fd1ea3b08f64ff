"""NumPy's products of two arrays: `dot`, `matmul` (which is `@`), `outer`, `tensordot`.

In: handles of one element type, numbers or bools. Out: handles. Axes that are summed are innermost in one fold of products
(`contraction.py`); sums of no elements are 0. `matmul` and `tensordot` are typed for ranks up to 5, and run for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar, TypeVarTuple, overload

import numpy as np

from accel.ast.combinators.linear_algebra.contraction import (
    Factor,
    contracted,
    factors_of,
    repeated,
    require_equal,
)
from accel.ast.combinators.reorder import flatten_array
from accel.ast.handles.acc import DIM2, DIM3, DIM4, DIM5, Acc, Array, Matrix, Scalar, Sh, Vector
from accel.ast.handles.extents import no_axis
from accel.ast.handles.literals import whole_number
from accel.errors import AccelTypeError, AccelValueError, Where, here
from accel.support.shown import shown

Ix = TypeVarTuple("Ix")
B = TypeVar("B", bound=np.generic)
Sh2 = TypeVar("Sh2", bound=tuple[Any, ...])

Axes: TypeAlias = int | tuple[int | Sequence[int], int | Sequence[int]]
"""Which axes `tensordot` sums: the last of one and the first of the other array, that many; or those of each."""


@overload
def dot(xs: Acc[Vector[B]], ys: Acc[Vector[B]]) -> Acc[Scalar[B]]: ...
@overload
def dot(xs: Acc[Array[tuple[*Ix, int], B]], ys: Acc[Vector[B]]) -> Acc[Array[tuple[*Ix], B]]: ...
@overload
def dot(xs: Acc[Array[tuple[*Ix, int], B]], ys: Acc[Matrix[B]]) -> Acc[Array[tuple[*Ix, int], B]]: ...
@overload
def dot(xs: Acc[Array[tuple[*Ix, int], B]], ys: Acc[Array[DIM3, B]]) -> Acc[Array[tuple[*Ix, int, int], B]]: ...
@overload
def dot(xs: Acc[Array[tuple[*Ix, int], B]], ys: Acc[Array[DIM4, B]]) -> Acc[Array[tuple[*Ix, int, int, int], B]]: ...
@overload
def dot(
    xs: Acc[Array[tuple[*Ix, int], B]], ys: Acc[Array[DIM5, B]]
) -> Acc[Array[tuple[*Ix, int, int, int, int], B]]: ...
def dot(xs: Acc[Any], ys: Acc[Any]) -> Acc[Any]:
    """The sum of products over the last axis of `xs` and the last but one of `ys` (the only one of a vector), as `np.dot`.

    The other axes of `xs` stand before those of `ys`: of vectors it is a scalar, of matrices the matrix product. Extents that
    differ raise `AccelShapeError`, types that differ or rank 0 `AccelTypeError`.

        >>> A.run(A.dot(A.use(np.array([1.0, 2.0])), A.use(np.array([3.0, 4.0]))))
        array(11.)
    """
    where = here()
    left, right = _two("dot", xs, ys, where)
    outer = [f"x{axis}" for axis in range(left.rank - 1)]
    inner = [f"y{axis}" for axis in range(right.rank - 1)]
    summed = [*inner[:-1], "k", *inner[-1:]] if inner else ["k"]
    factors = [Factor(left, (*outer, "k")), Factor(right, tuple(summed))]
    require_equal("dot", factors, where)
    return contracted("dot", factors, (*outer, *inner), where).array


@overload
def matmul(xs: Acc[Vector[B]], ys: Acc[Vector[B]]) -> Acc[Scalar[B]]: ...
@overload
def matmul(xs: Acc[Vector[B]], ys: Acc[Array[tuple[*Ix, int, int], B]]) -> Acc[Array[tuple[*Ix, int], B]]: ...
@overload
def matmul(xs: Acc[Array[tuple[*Ix, int, int], B]], ys: Acc[Vector[B]]) -> Acc[Array[tuple[*Ix, int], B]]: ...
@overload
def matmul(
    xs: Acc[Array[tuple[*Ix, int, int], B]], ys: Acc[Array[tuple[*Ix, int, int], B]]
) -> Acc[Array[tuple[*Ix, int, int], B]]: ...
@overload
def matmul(xs: Acc[Array[tuple[*Ix, int, int], B]], ys: Acc[Matrix[B]]) -> Acc[Array[tuple[*Ix, int, int], B]]: ...
@overload
def matmul(xs: Acc[Matrix[B]], ys: Acc[Array[tuple[*Ix, int, int], B]]) -> Acc[Array[tuple[*Ix, int, int], B]]: ...
@overload
def matmul(xs: Acc[Array[DIM4, B]], ys: Acc[Array[DIM3, B]]) -> Acc[Array[DIM4, B]]: ...
@overload
def matmul(xs: Acc[Array[DIM3, B]], ys: Acc[Array[DIM4, B]]) -> Acc[Array[DIM4, B]]: ...
@overload
def matmul(xs: Acc[Array[DIM5, B]], ys: Acc[Array[DIM3, B]] | Acc[Array[DIM4, B]]) -> Acc[Array[DIM5, B]]: ...
@overload
def matmul(xs: Acc[Array[DIM3, B]] | Acc[Array[DIM4, B]], ys: Acc[Array[DIM5, B]]) -> Acc[Array[DIM5, B]]: ...
def matmul(xs: Acc[Any], ys: Acc[Any]) -> Acc[Any]:
    """The matrix product, also written `xs @ ys`; of higher ranks, of matrices along the two innermost axes, as `np.matmul`.

    A vector is a row on the left, a column on the right, and its axis is not in the result. Outer axes are lined up from the
    innermost; one of extent 1 is repeated if that is known while the program is built (in a `runN` function it is not: there
    `A.slice` and `A.replicate` say it). Of bools, `or` is the sum and `and` the product. Extents that differ raise
    `AccelShapeError`, types that differ or rank 0 `AccelTypeError`.

        >>> m = A.use(np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> A.run(m @ A.use(np.array([1.0, 1.0])))
        array([3., 7.])
    """
    where = here()
    left, right = _two("matmul", xs, ys, where)
    rows, columns = ["i"] * (left.rank > 1), ["j"] * (right.rank > 1)
    first = Factor(left, (*_batch(left.rank - 2), *rows, "k"))
    second = Factor(right, (*_batch(right.rank - 2), "k", *columns))
    outer = _batch(max(left.rank, right.rank) - 2)
    factors = repeated((first, second), frozenset(outer))
    require_equal("matmul", factors, where)
    return contracted("matmul", factors, (*outer, *rows, *columns), where).array


def outer(xs: Acc[Array[Sh, B]], ys: Acc[Array[Sh2, B]]) -> Acc[Matrix[B]]:
    """The matrix of all products: `result[i, j] = xs[i] * ys[j]`. Arrays of other ranks are flattened, as `np.outer` does.

    >>> A.run(A.outer(A.use(np.array([1, 2])), A.use(np.array([3, 4, 5]))))
    array([[ 3,  4,  5],
           [ 6,  8, 10]])
    """
    where = here()
    left, right = (flatten_array("outer", array) for array in factors_of("outer", (xs, ys), where))
    return contracted("outer", [Factor(left, ("i",)), Factor(right, ("j",))], ("i", "j"), where).array


@overload
def tensordot(
    xs: Acc[Array[tuple[*Ix, int, int], B]], ys: Acc[Array[DIM2, B]], axes: Literal[2] = 2
) -> Acc[Array[tuple[*Ix], B]]: ...
@overload
def tensordot(
    xs: Acc[Array[tuple[*Ix, int, int], B]], ys: Acc[Array[DIM3, B]], axes: Literal[2] = 2
) -> Acc[Array[tuple[*Ix, int], B]]: ...
@overload
def tensordot(
    xs: Acc[Array[tuple[*Ix, int, int], B]], ys: Acc[Array[DIM4, B]], axes: Literal[2] = 2
) -> Acc[Array[tuple[*Ix, int, int], B]]: ...
@overload
def tensordot(
    xs: Acc[Array[tuple[*Ix, int], B]], ys: Acc[Vector[B]], axes: Literal[1]
) -> Acc[Array[tuple[*Ix], B]]: ...
@overload
def tensordot(
    xs: Acc[Array[tuple[*Ix, int], B]], ys: Acc[Matrix[B]], axes: Literal[1]
) -> Acc[Array[tuple[*Ix, int], B]]: ...
@overload
def tensordot(
    xs: Acc[Array[tuple[*Ix, int], B]], ys: Acc[Array[DIM3, B]], axes: Literal[1]
) -> Acc[Array[tuple[*Ix, int, int], B]]: ...
@overload
def tensordot(
    xs: Acc[Array[tuple[*Ix], B]], ys: Acc[Vector[B]], axes: Literal[0]
) -> Acc[Array[tuple[*Ix, int], B]]: ...
@overload
def tensordot(
    xs: Acc[Array[tuple[*Ix], B]], ys: Acc[Matrix[B]], axes: Literal[0]
) -> Acc[Array[tuple[*Ix, int, int], B]]: ...
@overload  # Any: the rank depends on the numbers in `axes`
def tensordot(xs: Acc[Array[Sh, B]], ys: Acc[Array[Sh2, B]], axes: Axes = 2) -> Acc[Array[Any, B]]: ...
def tensordot(xs: Acc[Any], ys: Acc[Any], axes: Axes = 2) -> Acc[Any]:
    """The sum of products over `axes` of both arrays; their other axes stand side by side in the result, as `np.tensordot`.

    `axes` is a number, of the last axes of `xs` and the first of `ys`, or a pair: an axis or several of each. Extents that
    differ raise `AccelShapeError`, axes that are not there `AccelValueError`.

        >>> A.run(A.tensordot(A.use(np.ones((2, 3, 4))), A.use(np.ones((4, 3))), ((1, 2), (1, 0))))
        array([12., 12.])
    """
    where = here()
    left, right = factors_of("tensordot", (xs, ys), where)
    firsts, seconds = _summed_axes(axes, left.rank, right.rank, where)
    names = [f"x{axis}" for axis in range(left.rank)], [f"y{axis}" for axis in range(right.rank)]
    for position, (a, b) in enumerate(zip(firsts, seconds, strict=True)):
        names[0][a] = names[1][b] = f"k{position}"
    factors = [Factor(left, tuple(names[0])), Factor(right, tuple(names[1]))]
    require_equal("tensordot", factors, where)
    free = [axis for axis in (*names[0], *names[1]) if not axis.startswith("k")]
    return contracted("tensordot", factors, free, where).array


def _two(name: str, xs: object, ys: object, where: Where | None) -> tuple[Acc[Any], Acc[Any]]:
    """Two arrays that have a dimension to sum over."""
    left, right = factors_of(name, (xs, ys), where)
    for array in (left, right):
        if array.rank == 0:
            places = (("the array was made here:", array.node.where),)
            hint = "by a number: `A.map(lambda x: x * A.the(s), xs)`"
            raise AccelTypeError(f"{name} takes arrays of rank 1 or more, got rank 0", where, others=places, hint=hint)
    return left, right


def _batch(count: int) -> tuple[str, ...]:
    """Names for the outer axes, counted from the innermost: by these they are lined up."""
    return tuple(f"batch {axis}" for axis in reversed(range(count)))


def _summed_axes(axes: object, left: int, right: int, where: Where | None) -> tuple[list[int], list[int]]:
    """The axes of each array that `tensordot` sums, in pairs."""
    axes = whole_number(axes)
    if isinstance(axes, int):
        if not 0 <= axes <= min(left, right):
            message = f"tensordot of ranks {left} and {right} cannot sum {axes} axes"
            raise AccelValueError(message, where, hint=_AXES)
        return list(range(left - axes, left)), list(range(axes))
    if not isinstance(axes, (tuple, list)) or len(axes) != 2:
        raise AccelTypeError(f"tensordot needs an int or a pair of axes, got {shown(axes)}", where, hint=_AXES)
    firsts, seconds = _axes_of(axes[0], left, where), _axes_of(axes[1], right, where)
    if len(firsts) != len(seconds):
        message = f"tensordot sums axes in pairs, but got {len(firsts)} of one array and {len(seconds)} of the other"
        raise AccelValueError(message, where, hint=_AXES)
    return firsts, seconds


_AXES = "`axes` is how many, or the axes of each: `((0,), (1,))`"
"""What `tensordot` takes as its axes."""


def _axes_of(given: object, rank: int, where: Where | None) -> list[int]:
    """Axes of an array of that rank, counted from the outermost."""
    listed = [given] if isinstance(given, int | np.integer) else given
    listed = [whole_number(axis) for axis in listed] if isinstance(listed, (tuple, list)) else listed
    if not isinstance(listed, (tuple, list)) or not all(isinstance(axis, int) for axis in listed):
        raise AccelTypeError(f"tensordot needs ints as its axes, got {shown(given)}", where, hint=_AXES)
    for axis in listed:
        if not -rank <= axis < rank:
            raise no_axis("tensordot", axis, rank, where)
    found = [axis % rank for axis in listed]
    if len(set(found)) != len(found):
        raise AccelValueError(f"tensordot sums an axis once, got {shown(given)}", where, hint=_AXES)
    return found
