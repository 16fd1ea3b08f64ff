"""Element by element: `map`, `imap`, and all `zipWith`s, as `Map` nodes; struct-of-arrays makes `zip` and `unzip` free.

In: functions and handles. Out: handles. Raises `AccelTypeError`, `AccelShapeError` and `AccelStagingError` at the
user's call. The typed `zipWith`…, `zip`… and `unzip`… stand in `accel/ast/combinators/overloads.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from accel.ast.handles.acc import Acc, Array, Extents, Sh
from accel.ast.handles.checks import arrays_of
from accel.ast.handles.exp import E, Exp
from accel.ast.handles.extents import equal_extents, intersection, require_one_rank
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.handles.operations import apply, project
from accel.ast.tree.nodes import ArrayNode, Backpermute, Function, MakeTuple, Map, Parameter, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import ArrayType, TupleType, index_type
from accel.errors import AccelTypeError, Where, here

F = TypeVar("F")


def map(f: Callable[[Exp[E]], Exp[F]], xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, F]]:
    """`f` at every element."""
    return map_arrays("map", f, (xs,))


def imap(f: Callable[[Exp[Sh], Exp[E]], Exp[F]], xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, F]]:
    """`f(index, element)` at every element."""
    return map_arrays("imap", f, (xs,), indexed=True)


def map_arrays(name: str, f: Callable[..., object], xs: Sequence[Acc[Any]], *, indexed: bool = False) -> Acc[Any]:
    """`f` at the elements of arrays of equal shape; `name` is the combinator that the user wrote."""
    where = here()
    arrays = arrays_of(name, xs, where, (f, *xs))
    extents = equal_extents(name, arrays, where)
    kinds = [array.type.element for array in arrays]
    if indexed:
        kinds.insert(0, index_type(arrays[0].rank))
    function = trace(f, kinds, f"the function of {name}", where)
    forbid_nested(name, (function,), where)
    return _map_node(name, function, arrays, extents, indexed)


def zip_with(name: str, f: Callable[..., object], xs: Sequence[Acc[Any]], trim: bool) -> Acc[Any]:
    """`f` at the elements of arrays of equal shape; with `trim`, of the part that they share."""
    return map_arrays(name, f, trimmed(name, xs) if trim else xs)


def zip_arrays(name: str, xs: Sequence[Acc[Any]], trim: bool) -> Acc[Any]:
    """The array of tuples of the elements of arrays of equal shape; with `trim`, of the part that they share."""
    where = here()
    arrays = arrays_of(name, trimmed(name, xs) if trim else xs, where)
    extents = equal_extents(name, arrays, where)
    parameters = tuple(Parameter(array.type.element, where) for array in arrays)
    items = MakeTuple(parameters, TupleType(tuple(p.type for p in parameters)), where)
    return _map_node(name, Function(parameters, items), arrays, extents, indexed=False)


def unzip_array(name: str, count: int, xs: Acc[Any]) -> tuple[Acc[Any], ...]:
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
        results.append(_map_node(name, function, (array,), array.extents, indexed=False))
    return tuple(results)


def _map_node(name: str, function: Function, arrays: Sequence[Acc[Any]], extents: Extents, indexed: bool) -> Acc[Any]:
    nodes: tuple[ArrayNode, ...] = tuple(array.node for array in arrays)
    kind = ArrayType(arrays[0].rank, function.body.type)
    return Acc(Map(function, nodes, indexed, name, (kind,), here()), extents)


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
    function = Function((index,), index)
    return Acc(Backpermute(shape, function, array.node, True, "trim", (array.type,), where), extents)
