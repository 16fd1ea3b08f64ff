"""Several arrays of one shape element by element: `zipWith`, `zip` and `unzip` of 2 to 5 arrays.

In: functions and handles. Out: handles. Raises `AccelTypeError`, `AccelShapeError` and `AccelStagingError` at the user's call.
Arrays of tuples are tuples of arrays, which makes `zip` and `unzip` free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from accel.ast.combinators.elementwise import map_arrays, map_node
from accel.ast.handles.acc import Acc, Array, Extents, Sh
from accel.ast.handles.checks import arrays_of
from accel.ast.handles.exp import Exp
from accel.ast.handles.extents import equal_extents, intersection, require_one_rank
from accel.ast.handles.operations import apply, project
from accel.ast.tree.nodes import Backpermute, Function, MakeTuple, Parameter, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import TupleType, index_type
from accel.errors import AccelTypeError, Where, here

F = TypeVar("F")
E1 = TypeVar("E1")
E2 = TypeVar("E2")
E3 = TypeVar("E3")
E4 = TypeVar("E4")
E5 = TypeVar("E5")


def zipWith(
    f: Callable[[Exp[E1], Exp[E2]], Exp[F]], x1: Acc[Array[Sh, E1]], x2: Acc[Array[Sh, E2]], *, trim: bool = False
) -> Acc[Array[Sh, F]]:
    """`f` at the elements of 2 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.
    """
    return _zip_with("zipWith", f, (x1, x2), trim)


def zip(x1: Acc[Array[Sh, E1]], x2: Acc[Array[Sh, E2]], *, trim: bool = False) -> Acc[Array[Sh, tuple[E1, E2]]]:
    """The tuples of the elements of 2 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.
    """
    return zip_arrays("zip", (x1, x2), trim)


def unzip(xs: Acc[Array[Sh, tuple[E1, E2]]]) -> tuple[Acc[Array[Sh, E1]], Acc[Array[Sh, E2]]]:
    """The 2 arrays of the items of an array of tuples."""
    x1, x2 = _unzipped("unzip", 2, xs)
    return x1, x2


def zipWith3(
    f: Callable[[Exp[E1], Exp[E2], Exp[E3]], Exp[F]],
    x1: Acc[Array[Sh, E1]],
    x2: Acc[Array[Sh, E2]],
    x3: Acc[Array[Sh, E3]],
    *,
    trim: bool = False,
) -> Acc[Array[Sh, F]]:
    """`f` at the elements of 3 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.
    """
    return _zip_with("zipWith3", f, (x1, x2, x3), trim)


def zip3(
    x1: Acc[Array[Sh, E1]], x2: Acc[Array[Sh, E2]], x3: Acc[Array[Sh, E3]], *, trim: bool = False
) -> Acc[Array[Sh, tuple[E1, E2, E3]]]:
    """The tuples of the elements of 3 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.
    """
    return zip_arrays("zip3", (x1, x2, x3), trim)


def unzip3(xs: Acc[Array[Sh, tuple[E1, E2, E3]]]) -> tuple[Acc[Array[Sh, E1]], Acc[Array[Sh, E2]], Acc[Array[Sh, E3]]]:
    """The 3 arrays of the items of an array of tuples."""
    x1, x2, x3 = _unzipped("unzip3", 3, xs)
    return x1, x2, x3


def zipWith4(
    f: Callable[[Exp[E1], Exp[E2], Exp[E3], Exp[E4]], Exp[F]],
    x1: Acc[Array[Sh, E1]],
    x2: Acc[Array[Sh, E2]],
    x3: Acc[Array[Sh, E3]],
    x4: Acc[Array[Sh, E4]],
    *,
    trim: bool = False,
) -> Acc[Array[Sh, F]]:
    """`f` at the elements of 4 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.
    """
    return _zip_with("zipWith4", f, (x1, x2, x3, x4), trim)


def zip4(
    x1: Acc[Array[Sh, E1]],
    x2: Acc[Array[Sh, E2]],
    x3: Acc[Array[Sh, E3]],
    x4: Acc[Array[Sh, E4]],
    *,
    trim: bool = False,
) -> Acc[Array[Sh, tuple[E1, E2, E3, E4]]]:
    """The tuples of the elements of 4 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.
    """
    return zip_arrays("zip4", (x1, x2, x3, x4), trim)


def unzip4(
    xs: Acc[Array[Sh, tuple[E1, E2, E3, E4]]],
) -> tuple[Acc[Array[Sh, E1]], Acc[Array[Sh, E2]], Acc[Array[Sh, E3]], Acc[Array[Sh, E4]]]:
    """The 4 arrays of the items of an array of tuples."""
    x1, x2, x3, x4 = _unzipped("unzip4", 4, xs)
    return x1, x2, x3, x4


def zipWith5(
    f: Callable[[Exp[E1], Exp[E2], Exp[E3], Exp[E4], Exp[E5]], Exp[F]],
    x1: Acc[Array[Sh, E1]],
    x2: Acc[Array[Sh, E2]],
    x3: Acc[Array[Sh, E3]],
    x4: Acc[Array[Sh, E4]],
    x5: Acc[Array[Sh, E5]],
    *,
    trim: bool = False,
) -> Acc[Array[Sh, F]]:
    """`f` at the elements of 5 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.
    """
    return _zip_with("zipWith5", f, (x1, x2, x3, x4, x5), trim)


def zip5(
    x1: Acc[Array[Sh, E1]],
    x2: Acc[Array[Sh, E2]],
    x3: Acc[Array[Sh, E3]],
    x4: Acc[Array[Sh, E4]],
    x5: Acc[Array[Sh, E5]],
    *,
    trim: bool = False,
) -> Acc[Array[Sh, tuple[E1, E2, E3, E4, E5]]]:
    """The tuples of the elements of 5 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.
    """
    return zip_arrays("zip5", (x1, x2, x3, x4, x5), trim)


def unzip5(
    xs: Acc[Array[Sh, tuple[E1, E2, E3, E4, E5]]],
) -> tuple[Acc[Array[Sh, E1]], Acc[Array[Sh, E2]], Acc[Array[Sh, E3]], Acc[Array[Sh, E4]], Acc[Array[Sh, E5]]]:
    """The 5 arrays of the items of an array of tuples."""
    x1, x2, x3, x4, x5 = _unzipped("unzip5", 5, xs)
    return x1, x2, x3, x4, x5


def _zip_with(name: str, f: Callable[..., object], xs: Sequence[Acc[Any]], trim: bool) -> Acc[Any]:
    """`f` at the elements of arrays of equal shape; with `trim`, of the part that they share."""
    return map_arrays(name, f, _trimmed(name, xs) if trim else xs)


def zip_arrays(name: str, xs: Sequence[Acc[Any]], trim: bool) -> Acc[Any]:
    """The array of tuples of the elements of arrays of equal shape; with `trim`, of the part that they share."""
    where = here()
    arrays = arrays_of(name, _trimmed(name, xs) if trim else xs, where)
    extents = equal_extents(name, arrays, where)
    parameters = tuple(Parameter(array.type.element, where) for array in arrays)
    items = MakeTuple(parameters, TupleType(tuple(p.type for p in parameters)), where)
    return map_node(name, Function(parameters, items), arrays, extents, indexed=False)


def _unzipped(name: str, count: int, xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The arrays of the items of an array of tuples of `count`."""
    where = here()
    (array,) = arrays_of(name, (xs,), where)
    element = array.type.element
    if not isinstance(element, TupleType) or len(element.items) != count:
        raise AccelTypeError(f"{name} takes an array of tuples of {count}, got elements of type {element}", where)
    results = []
    for position in range(count):
        parameter = Parameter(element, where)
        function = Function((parameter,), project(parameter, position, where))
        results.append(map_node(name, function, (array,), array.extents, indexed=False))
    return tuple(results)


def _trimmed(name: str, xs: Sequence[Acc[Any]]) -> tuple[Acc[Any], ...]:
    """The parts of arrays of one rank that lie within the smallest extent of each dimension."""
    where = here()
    arrays = arrays_of(name, xs, where)
    shapes = [array.shape.node for array in arrays]
    require_one_rank(name, arrays, where)
    kind = index_type(arrays[0].rank)
    least: list[ScalarNode] = []
    for axis in range(arrays[0].rank):
        extent = project(shapes[0], axis, where)
        for shape in shapes[1:]:
            extent = apply(Operator.MIN, extent, project(shape, axis, where), where=where)
        least.append(extent)
    extents = intersection(arrays)
    return tuple(_part(array, MakeTuple(tuple(least), kind, where), extents, where) for array in arrays)


def _part(array: Acc[Any], shape: ScalarNode, extents: Extents, where: Where | None) -> Acc[Any]:
    if None not in extents and array.extents == extents:
        return array
    index = Parameter(index_type(array.rank), where)
    function = Function((index,), index)
    return Acc(Backpermute(shape, function, array.node, True, "trim", (array.type,), where), extents)
