"""Reductions along the innermost dimension, or of a whole array: folds, scans and `filter`.

In: functions, seeds, handles. Out: handles. The order of combination is fixed (`docs/order.md`). A fold's
seed is combined once, on the left; a Python number takes the elements' type. What takes a seed is typed in `overloads.pyi`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVarTuple

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.reorder import flatten_array
from accel.ast.handles.acc import Acc, Array, Scalar, Sh, result_of
from accel.ast.handles.checks import arrays_of, inner_array, seed
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.handles.literals import describe, whole_number
from accel.ast.tree.nodes import Direction, Fold, Scan, ScanForm
from accel.ast.tree.types import ArrayType, array_type
from accel.errors import AccelTypeError, Where, here

Ix = TypeVarTuple("Ix")

UNSEEDED: Final = object()
"""Stands for no seed. None would let a user's `None` through."""

LEFT, RIGHT = Direction.LEFT, Direction.RIGHT


def fold(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], *, dims: int = 1) -> Acc[Any]:
    """The innermost dimension reduced by the associative `f` from `z`; an empty row gives `z`.

    With `dims` the innermost dimensions, so many, as one row in row-major order: the bits of the fold of the reshaped array.
    mypy knows `dims` up to 3. Raises `AccelTypeError` for other than a Python int from 1 to the rank.

    >>> A.run(A.fold(A.add, 0, A.use(np.arange(12).reshape(2, 3, 2)), dims=2))
    array([15, 51])
    """
    where = here()
    array = inner_array("fold", xs, where, (f, z, xs))
    count = whole_number(dims)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= array.rank:
        hint = f"the array has rank {array.rank}: `dims` is an int from 1 to that"
        raise AccelTypeError(
            f"fold takes a number of dimensions as `dims`, got {describe(raw(dims))}", where, hint=hint
        )
    return fold_dimensions("fold", f, z, array, count, where)


def foldAll(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """All elements, in row-major order, reduced by the associative `f` from `z`.

    >>> A.run(A.foldAll(A.add, 0, A.use(np.arange(6).reshape(2, 3))))
    array(15)
    """
    return fold_all("foldAll", f, z, xs)


def fold1(f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix], E]]:
    """The innermost dimension reduced by the associative `f`. An empty row raises `AccelValueError` when run.

    >>> A.run(A.fold1(A.max, A.use(np.arange(6).reshape(2, 3))))
    array([2, 5])
    """
    return fold_array("fold1", f, UNSEEDED, xs)


def fold1All(f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[Sh, E]]) -> Acc[Scalar[E]]:
    """All elements reduced by the associative `f`. An empty array raises `AccelValueError` when run.

    >>> A.run(A.fold1All(A.max, A.use(np.arange(6).reshape(2, 3))))
    array(5)
    """
    return fold_all("fold1All", f, UNSEEDED, xs)


def scanl(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """Running reductions from the left, `z` among them: one result more than elements.

    >>> A.run(A.scanl(A.add, 0, A.use(np.arange(5))))
    array([ 0,  0,  1,  3,  6, 10])
    """
    return _scan_array("scanl", f, z, xs, LEFT, ScanForm.EXCLUSIVE)


def scanlTotal(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> tuple[Acc[Any], Acc[Any]]:
    """Running reductions from the left, each without its own element; and the totals of the rows.

    >>> A.run(A.scanlTotal(A.add, 0, A.use(np.arange(5))))
    (array([0, 0, 1, 3, 6]), array(10))
    """
    return scan_total("scanlTotal", f, z, xs, LEFT)


def prescanl(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """Running reductions from the left, each without its own element.

    >>> A.run(A.prescanl(A.add, 0, A.use(np.arange(5))))
    array([0, 0, 1, 3, 6])
    """
    return scan_total("prescanl", f, z, xs, LEFT)[0]


def postscanl(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """Running reductions from the left, each with its own element, `z` combined into each.

    >>> A.run(A.postscanl(A.add, 10, A.use(np.arange(5))))
    array([10, 11, 13, 16, 20])
    """
    return _postscan("postscanl", f, z, xs, LEFT)


def scanr(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """Running reductions from the right, `z` among them: one result more than elements.

    >>> A.run(A.scanr(A.add, 0, A.use(np.arange(5))))
    array([10, 10,  9,  7,  4,  0])
    """
    return _scan_array("scanr", f, z, xs, RIGHT, ScanForm.EXCLUSIVE)


def scanrTotal(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> tuple[Acc[Any], Acc[Any]]:
    """Running reductions from the right, each without its own element; and the totals of the rows.

    >>> A.run(A.scanrTotal(A.add, 0, A.use(np.arange(5))))
    (array([10,  9,  7,  4,  0]), array(10))
    """
    return scan_total("scanrTotal", f, z, xs, RIGHT)


def prescanr(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """Running reductions from the right, each without its own element.

    >>> A.run(A.prescanr(A.add, 0, A.use(np.arange(5))))
    array([10,  9,  7,  4,  0])
    """
    return scan_total("prescanr", f, z, xs, RIGHT)[0]


def postscanr(f: Callable[[Any, Any], object], z: object, xs: Acc[Any]) -> Acc[Any]:
    """Running reductions from the right, each with its own element, `z` combined into each.

    >>> A.run(A.postscanr(A.add, 10, A.use(np.arange(5))))
    array([20, 20, 19, 17, 14])
    """
    return _postscan("postscanr", f, z, xs, RIGHT)


def scanl1(f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """Running reductions from the left, each with its own element.

    >>> A.run(A.scanl1(A.add, A.use(np.arange(5))))
    array([ 0,  1,  3,  6, 10])
    """
    return _scan_array("scanl1", f, UNSEEDED, xs, LEFT, ScanForm.INCLUSIVE)


def scanr1(f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """Running reductions from the right, each with its own element.

    >>> A.run(A.scanr1(A.add, A.use(np.arange(5))))
    array([10, 10,  9,  7,  4])
    """
    return _scan_array("scanr1", f, UNSEEDED, xs, RIGHT, ScanForm.INCLUSIVE)


def fold_array(name: str, f: Callable[..., object], z: object, xs: object) -> Acc[Any]:
    """A fold of the innermost dimension that the user knows as `name`, without a seed if `z` is `UNSEEDED`."""
    where = here()
    return fold_dimensions(name, f, z, inner_array(name, xs, where, _given(f, z, xs)), 1, where)


def fold_all(name: str, f: Callable[..., object], z: object, xs: object) -> Acc[Any]:
    """A fold of all elements, in row-major order. A single element is a row."""
    where = here()
    (array,) = arrays_of(name, (xs,), where, _given(f, z, xs))
    whole = array if array.rank else flatten_array(name, array)
    return fold_dimensions(name, f, z, whole, whole.rank, where)


def fold_dimensions(
    name: str, f: Callable[..., object], z: object, array: Acc[Any], dimensions: int, where: Where | None
) -> Acc[Any]:
    """A fold of the innermost dimensions, in row-major order, that the user knows as `name`."""
    element = array.type.element
    function = trace(f, (element, element), f"the function of {name}", where, result=element)
    initial = None if z is UNSEEDED else seed(name, z, element, where)
    forbid_nested(name, (function, initial), where)
    kind = array_type(len(array.extents) - dimensions, element)
    node = Fold(function, initial, array.node, dimensions, name, (kind,), where)
    return Acc(node, array.extents[:-dimensions])


def _scan_array(
    name: str, f: Callable[..., object], z: object, xs: object, direction: Direction, form: ScanForm
) -> Acc[Any]:
    """An inclusive or exclusive scan that the user knows as `name`; without a seed if `z` is `UNSEEDED`."""
    node, array = _scan(name, f, z, xs, direction, form)
    *outer, inner = array.extents
    extra = 1 if form is ScanForm.EXCLUSIVE else 0
    return Acc(node, (*outer, None if inner is None else inner + extra))


def scan_total(
    name: str, f: Callable[..., object], z: object, xs: object, direction: Direction
) -> tuple[Acc[Any], Acc[Any]]:
    """An exclusive scan of as many results as elements, and the totals aside."""
    node, array = _scan(name, f, z, xs, direction, ScanForm.TOTAL)
    return result_of(node, 0, array.extents), result_of(node, 1, array.extents[:-1])


def _postscan(name: str, f: Callable[..., object], z: object, xs: object, direction: Direction) -> Acc[Any]:
    """An inclusive scan with a seed: as many results as elements, `z` combined into each."""
    where = here()
    array = inner_array(name, xs, where, (f, z, xs))
    start: Exp[Any] = Exp(seed(name, z, array.type.element, where))
    inclusive = _scan_array(name, f, UNSEEDED, array, direction, ScanForm.INCLUSIVE)
    if direction is LEFT:
        return map_arrays(name, lambda x: f(start, x), (inclusive,))
    return map_arrays(name, lambda x: f(x, start), (inclusive,))


def _scan(
    name: str, f: Callable[..., object], z: object, xs: object, direction: Direction, form: ScanForm
) -> tuple[Scan, Acc[Any]]:
    where = here()
    array = inner_array(name, xs, where, _given(f, z, xs))
    element = array.type.element
    function = trace(f, (element, element), f"the function of {name}", where, result=element)
    initial = None if z is UNSEEDED else seed(name, z, element, where)
    forbid_nested(name, (function, initial), where)
    kinds: tuple[ArrayType, ...] = (array_type(array.rank, element),)
    if form is ScanForm.TOTAL:
        kinds = (*kinds, array_type(array.rank - 1, element))
    return Scan(function, initial, array.node, direction, form, name, kinds, where), array


def _given(f: Callable[..., object], z: object, xs: object) -> tuple[object, ...]:
    """The arguments of a fold or scan as the user gave them."""
    return (f, xs) if z is UNSEEDED else (f, z, xs)
