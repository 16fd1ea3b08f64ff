"""Arrays of tuples: `zip` and `unzip` of 2 to 9 arrays of one shape.

In: handles. Out: handles. Raises `AccelTypeError`, `AccelShapeError` and `AccelStagingError` at the user's call.
Arrays of tuples are tuples of arrays, which makes `zip` and `unzip` free. Their types stand in `arities.pyi`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accel.ast.combinators.elementwise import map_node
from accel.ast.handles.acc import Acc, Extents
from accel.ast.handles.checks import arrays_of
from accel.ast.handles.extents import equal_extents, intersection, require_one_rank
from accel.ast.handles.operations import apply, project
from accel.ast.tree.nodes import Backpermute, MakeTuple, Parameter, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.structure import scalar_function
from accel.ast.tree.types import TupleType, index_type
from accel.errors import AccelTypeError, Where, here


def zip(x1: Acc[Any], x2: Acc[Any], *, trim: bool = False) -> Acc[Any]:
    """The tuples of the elements of 2 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

        >>> A.run(A.zip(A.use(np.array([1, 2])), A.use(np.array([True, False]))))
        (array([1, 2]), array([ True, False]))
    """
    return zip_arrays("zip", (x1, x2), trim)


def unzip(xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The 2 arrays of the items of an array of tuples.

    >>> xs, ys = A.unzip(A.use((np.array([1, 2]), np.array([True, False]))))
    >>> A.run(ys)
    array([ True, False])
    """
    return _unzipped("unzip", 2, xs)


def zip3(x1: Acc[Any], x2: Acc[Any], x3: Acc[Any], *, trim: bool = False) -> Acc[Any]:
    """The tuples of the elements of 3 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.map(lambda t: t[0] - t[2], A.zip3(xs, xs, xs)))
    array([0, 0, 0])
    """
    return zip_arrays("zip3", (x1, x2, x3), trim)


def unzip3(xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The 3 arrays of the items of an array of tuples.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.unzip3(A.zip3(xs, xs, xs))[2])
    array([0, 1, 2])
    """
    return _unzipped("unzip3", 3, xs)


def zip4(x1: Acc[Any], x2: Acc[Any], x3: Acc[Any], x4: Acc[Any], *, trim: bool = False) -> Acc[Any]:
    """The tuples of the elements of 4 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.map(lambda t: t[0] - t[3], A.zip4(xs, xs, xs, xs)))
    array([0, 0, 0])
    """
    return zip_arrays("zip4", (x1, x2, x3, x4), trim)


def unzip4(xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The 4 arrays of the items of an array of tuples.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.unzip4(A.zip4(xs, xs, xs, xs))[3])
    array([0, 1, 2])
    """
    return _unzipped("unzip4", 4, xs)


def zip5(x1: Acc[Any], x2: Acc[Any], x3: Acc[Any], x4: Acc[Any], x5: Acc[Any], *, trim: bool = False) -> Acc[Any]:
    """The tuples of the elements of 5 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.map(lambda t: t[0] - t[4], A.zip5(xs, xs, xs, xs, xs)))
    array([0, 0, 0])
    """
    return zip_arrays("zip5", (x1, x2, x3, x4, x5), trim)


def unzip5(xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The 5 arrays of the items of an array of tuples.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.unzip5(A.zip5(xs, xs, xs, xs, xs))[4])
    array([0, 1, 2])
    """
    return _unzipped("unzip5", 5, xs)


def zip6(
    x1: Acc[Any], x2: Acc[Any], x3: Acc[Any], x4: Acc[Any], x5: Acc[Any], x6: Acc[Any], *, trim: bool = False
) -> Acc[Any]:
    """The tuples of the elements of 6 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.map(lambda t: t[0] - t[5], A.zip6(xs, xs, xs, xs, xs, xs)))
    array([0, 0, 0])
    """
    return zip_arrays("zip6", (x1, x2, x3, x4, x5, x6), trim)


def unzip6(xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The 6 arrays of the items of an array of tuples.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.unzip6(A.zip6(xs, xs, xs, xs, xs, xs))[5])
    array([0, 1, 2])
    """
    return _unzipped("unzip6", 6, xs)


def zip7(
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """The tuples of the elements of 7 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.map(lambda t: t[0] - t[6], A.zip7(xs, xs, xs, xs, xs, xs, xs)))
    array([0, 0, 0])
    """
    return zip_arrays("zip7", (x1, x2, x3, x4, x5, x6, x7), trim)


def unzip7(xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The 7 arrays of the items of an array of tuples.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.unzip7(A.zip7(xs, xs, xs, xs, xs, xs, xs))[6])
    array([0, 1, 2])
    """
    return _unzipped("unzip7", 7, xs)


def zip8(
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    x8: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """The tuples of the elements of 8 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.map(lambda t: t[0] - t[7], A.zip8(xs, xs, xs, xs, xs, xs, xs, xs)))
    array([0, 0, 0])
    """
    return zip_arrays("zip8", (x1, x2, x3, x4, x5, x6, x7, x8), trim)


def unzip8(xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The 8 arrays of the items of an array of tuples.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.unzip8(A.zip8(xs, xs, xs, xs, xs, xs, xs, xs))[7])
    array([0, 1, 2])
    """
    return _unzipped("unzip8", 8, xs)


def zip9(
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    x8: Acc[Any],
    x9: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """The tuples of the elements of 9 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.map(lambda t: t[0] - t[8], A.zip9(xs, xs, xs, xs, xs, xs, xs, xs, xs)))
    array([0, 0, 0])
    """
    return zip_arrays("zip9", (x1, x2, x3, x4, x5, x6, x7, x8, x9), trim)


def unzip9(xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The 9 arrays of the items of an array of tuples.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.unzip9(A.zip9(xs, xs, xs, xs, xs, xs, xs, xs, xs))[8])
    array([0, 1, 2])
    """
    return _unzipped("unzip9", 9, xs)


def zip_arrays(name: str, xs: Sequence[Acc[Any]], trim: bool) -> Acc[Any]:
    """The array of tuples of the elements of arrays of equal shape; with `trim`, of the part that they share."""
    where = here()
    arrays = arrays_of(name, trimmed(name, xs) if trim else xs, where)
    extents = equal_extents(name, arrays, where)
    parameters = tuple(Parameter(array.type.element, where) for array in arrays)
    items = MakeTuple(parameters, TupleType(tuple(p.type for p in parameters)), where)
    return map_node(name, scalar_function(parameters, items), arrays, extents, where)


def _unzipped(name: str, count: int, xs: Acc[Any]) -> tuple[Acc[Any], ...]:
    """The arrays of the items of an array of tuples of `count`."""
    where = here()
    (array,) = arrays_of(name, (xs,), where)
    element = array.type.element
    if not isinstance(element, TupleType) or len(element.items) != count:
        items = len(element.items) if isinstance(element, TupleType) else 0
        hint = "a part of each element is taken by `A.map(lambda t: t[0], xs)`"
        if items == 2 or items in range(3, 10):
            hint = f"write `A.unzip{'' if items == 2 else items}(xs)`"
        elif not items:
            hint = "arrays of tuples are made by `A.zip(xs, ys)`, or `A.map(lambda x: A.lift(…, …), xs)`"
        raise AccelTypeError(
            f"{name} takes an array of tuples of {count}, got elements of type {element}", where, hint=hint
        )
    results = []
    for position in range(count):
        parameter = Parameter(element, where)
        function = scalar_function((parameter,), project(parameter, position, where))
        results.append(map_node(name, function, (array,), array.extents, where))
    return tuple(results)


def trimmed(name: str, xs: Sequence[Acc[Any]]) -> tuple[Acc[Any], ...]:
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
    function = scalar_function((index,), index)
    return Acc(Backpermute(shape, function, array.node, True, "trim", (array.type,), where), extents)
