"""Parts and orders of arrays along one dimension: `take`, `drop`, `reverse`, `transpose`, …, as backpermutes.

In: handles, counts, axes as NumPy's (0 outermost, negative from the end). Out: handles. All are known never to have more
elements than their array (`shrinking`), so that fusion may push any work through them. Counts clamp at both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVarTuple

from accel.ast.combinators.reorder import permuted
from accel.ast.handles.acc import Acc, Array, Extents, Matrix, Num, Sh
from accel.ast.handles.checks import arrays_of, inner_array, of_rank
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.extents import no_axis
from accel.ast.handles.literals import describe, whole_number, whole_typed
from accel.ast.handles.tuples import index_of, unlift_items
from accel.ast.scalars.conversions import max, min
from accel.ast.tree.nodes import Literal
from accel.errors import AccelTypeError, Where, here

Ix = TypeVarTuple("Ix")


def take(n: Num, xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """The first `n` of the innermost dimension; all if there are fewer, none if `n` is negative.

    >>> A.run(A.take(2, A.use(np.arange(5))))
    array([0, 1])
    """
    return _take("take", -1, n, xs)


def takeOn(axis: int, n: Num, xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """The first `n` of a dimension; all if there are fewer, none if `n` is negative.

    >>> A.run(A.takeOn(0, 1, A.use(np.arange(6).reshape(2, 3))))
    array([[0, 1, 2]])
    """
    return _take("takeOn", axis, n, xs)


def drop(n: Num, xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """The innermost dimension without its first `n`; all of it if `n` is negative.

    >>> A.run(A.drop(2, A.use(np.arange(5))))
    array([2, 3, 4])
    """
    return _drop("drop", -1, n, xs)


def dropOn(axis: int, n: Num, xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """A dimension without its first `n`; all of it if `n` is negative.

    >>> A.run(A.dropOn(0, 1, A.use(np.arange(6).reshape(2, 3))))
    array([[3, 4, 5]])
    """
    return _drop("dropOn", axis, n, xs)


def init(xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """The innermost dimension without its last; empty if it was.

    >>> A.run(A.init(A.use(np.arange(5))))
    array([0, 1, 2, 3])
    """
    return initOn(-1, xs)


def initOn(axis: int, xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """A dimension without its last; empty if it was.

    >>> A.run(A.initOn(1, A.use(np.arange(6).reshape(2, 3))))
    array([[0, 1],
           [3, 4]])
    """
    array, at = dimension("init", axis, xs)
    extents = unlift_items("init", array.shape)
    known = array.extents[at]
    left = None if known is None else _clamp(known - 1, known)
    return _part("init", array, at, max(extents[at] - 1, 0), lambda i: i, left)


def tail(xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """The innermost dimension without its first; empty if it was.

    >>> A.run(A.tail(A.use(np.arange(5))))
    array([1, 2, 3, 4])
    """
    return _drop("tail", -1, 1, xs)


def tailOn(axis: int, xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """A dimension without its first; empty if it was.

    >>> A.run(A.tailOn(1, A.use(np.arange(6).reshape(2, 3))))
    array([[1, 2],
           [4, 5]])
    """
    return _drop("tailOn", axis, 1, xs)


def slit(i: Num, n: Num, xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """`n` of the innermost dimension from `i` on: `take(n, drop(i, xs))`.

    >>> A.run(A.slit(1, 3, A.use(np.arange(5))))
    array([1, 2, 3])
    """
    return _take("slit", -1, n, _drop("slit", -1, i, xs))


def slitOn(axis: int, i: Num, n: Num, xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """`n` of a dimension from `i` on.

    >>> A.run(A.slitOn(1, 1, 2, A.use(np.arange(6).reshape(2, 3))))
    array([[1, 2],
           [4, 5]])
    """
    return _take("slitOn", axis, n, _drop("slitOn", axis, i, xs))


def reverse(xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """The innermost dimension from its end to its start.

    >>> A.run(A.reverse(A.use(np.arange(5))))
    array([4, 3, 2, 1, 0])
    """
    return _reverse("reverse", -1, xs)


def reverseOn(axis: int, xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """A dimension from its end to its start.

    >>> A.run(A.reverseOn(0, A.use(np.arange(6).reshape(2, 3))))
    array([[3, 4, 5],
           [0, 1, 2]])
    """
    return _reverse("reverseOn", axis, xs)


def transpose(xs: Acc[Matrix[E]]) -> Acc[Matrix[E]]:
    """Rows become columns.

    >>> A.run(A.transpose(A.use(np.arange(6).reshape(2, 3))))
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    return exchange("transpose", 0, 1, of_rank("transpose", xs, 2, here()))


def transposeOn(a: int, b: int, xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """Two dimensions exchanged.

    >>> A.run(A.transposeOn(0, 1, A.use(np.arange(6).reshape(2, 3))))
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    array, first = dimension("transposeOn", a, xs)
    return exchange("transposeOn", first, dimension("transposeOn", b, xs)[1], array)


def _take(name: str, axis: int, n: object, xs: object) -> Acc[Any]:
    array, at = dimension(name, axis, xs, n)
    count, number = _count(name, n)
    extent = unlift_items(name, array.shape)[at]
    size = min(count, extent) if number is not None and number >= 0 else min(max(count, 0), extent)
    known = array.extents[at]
    left = None if known is None or number is None else _clamp(number, known)
    return _part(name, array, at, size, lambda i: i, left)


def take_inner(name: str, count: Exp[Any], array: Acc[Any]) -> Acc[Any]:
    """The first `count` of the innermost dimension, of which there are as many."""
    return _part(name, array, array.rank - 1, count, lambda i: i, None)


def _drop(name: str, axis: int, n: object, xs: object) -> Acc[Any]:
    array, at = dimension(name, axis, xs, n)
    count, number = _count(name, n)
    extent = unlift_items(name, array.shape)[at]
    dropped = count if number is not None and number >= 0 else max(count, 0)
    known = array.extents[at]
    left = None if known is None or number is None else known - _clamp(number, known)
    return _part(name, array, at, max(extent - dropped, 0), lambda i: i + dropped, left)


def _reverse(name: str, axis: int, xs: object) -> Acc[Any]:
    array, at = dimension(name, axis, xs)
    extent = unlift_items(name, array.shape)[at]
    return _part(name, array, at, extent, lambda i: extent - 1 - i, array.extents[at])


def exchange(name: str, a: int, b: int, array: Acc[Any]) -> Acc[Any]:
    """Two dimensions exchanged, by a combinator that the user knows as `name`."""

    def swapped(items: Sequence[Any]) -> list[Any]:
        result = list(items)
        result[a], result[b] = items[b], items[a]
        return result

    shape = index_of(swapped(unlift_items(name, array.shape)))
    known = tuple(swapped(array.extents))

    def source(ix: Exp[Any]) -> Exp[Any]:
        return index_of(swapped(unlift_items(name, ix)))

    return permuted(name, shape, source, array, shrinking=True, known=known)


def _part(
    name: str,
    array: Acc[Any],
    axis: int,
    size: Exp[Any],
    place: Callable[[Exp[Any]], Exp[Any]],
    left: int | None,
) -> Acc[Any]:
    """The backpermute that has `size` (`left`, if known) elements along `axis`, from the places that `place` gives."""
    extents = list(unlift_items(name, array.shape))
    extents[axis] = size
    known: Extents = (*array.extents[:axis], left, *array.extents[axis + 1 :])

    def source(ix: Exp[Any]) -> Exp[Any]:
        coordinates = list(unlift_items(name, ix))
        coordinates[axis] = place(coordinates[axis])
        return index_of(coordinates)

    return permuted(name, index_of(extents), source, array, shrinking=True, known=known)


def dimension(name: str, axis: int, xs: object, *given: object) -> tuple[Acc[Any], int]:
    """The array, and the dimension of it that `axis` names; `given` stood before the array in the user's call."""
    where = here()
    if type(axis) is int and axis == -1:
        array = inner_array(name, xs, where, (*given, xs))
        return array, array.rank - 1
    (array,) = arrays_of(name, (xs,), where, (axis, *given, xs))
    number = whole_number(axis)
    if not isinstance(number, int) or isinstance(number, bool):
        hint = "0 is the outermost axis, -1 the innermost"
        raise AccelTypeError(f"{name} needs an int as its axis, got {describe(raw(axis))}", where, hint=hint)
    if not -array.rank <= number < array.rank:
        raise no_axis(name, number, array.rank, where)
    return array, number % array.rank


def _count(name: str, n: object) -> tuple[Exp[Any], int | None]:
    where: Where | None = here()
    node = whole_typed(raw(n), f"the count of {name}", where)
    return Exp(node), int(node.value) if isinstance(node, Literal) else None


def _clamp(number: int, extent: int) -> int:
    return sorted((0, number, extent))[1]
