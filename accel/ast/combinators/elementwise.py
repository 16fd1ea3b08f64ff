"""Element by element: `map` and `imap`, as `Map` nodes.

In: functions and handles. Out: handles. Raises `AccelTypeError`, `AccelShapeError` and `AccelStagingError` at the
user's call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from accel.ast.handles.acc import Acc, Array, Extents, Sh
from accel.ast.handles.checks import arrays_of
from accel.ast.handles.exp import E, Exp
from accel.ast.handles.extents import equal_extents
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.tree.nodes import Function, Map
from accel.ast.tree.types import BOOL, array_type, index_type
from accel.errors import Where, here

F = TypeVar("F")


def map(f: Callable[[Exp[E]], Exp[F]], xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, F]]:
    """`f` at every element.

    >>> A.run(A.map(lambda x: x * 2, A.use(np.arange(5))))
    array([0, 2, 4, 6, 8])
    """
    return map_arrays("map", f, (xs,))


def imap(f: Callable[[Exp[Sh], Exp[E]], Exp[F]], xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, F]]:
    """`f(index, element)` at every element.

    >>> A.run(A.imap(lambda ix, x: A.indexHead(ix) * x, A.use(np.arange(5))))
    array([ 0,  1,  4,  9, 16])
    """
    return map_arrays("imap", f, (xs,), indexed=True)


def map_arrays(name: str, f: Callable[..., object], xs: Sequence[Acc[Any]], *, indexed: bool = False) -> Acc[Any]:
    """`f` at the elements of arrays of equal shape; `name` is the combinator that the user wrote."""
    where = here(skip=1)
    arrays = arrays_of(name, xs, where, (f, *xs))
    extents = equal_extents(name, arrays, where)
    kinds = [array.node.types[0].element for array in arrays]
    if indexed:
        kinds.insert(0, index_type(len(extents)))
    function = trace(f, kinds, f"the function of {name}", where)
    forbid_nested(name, (function,), where)
    return map_node(name, function, arrays, extents, where, indexed=indexed)


def map_node(
    name: str,
    function: Function,
    arrays: Sequence[Acc[Any]],
    extents: Extents,
    where: Where | None,
    *,
    indexed: bool = False,
) -> Acc[Any]:
    """The array of these extents that a traced function makes of the arrays' elements."""
    nodes = tuple([array.node for array in arrays])
    kind = array_type(len(extents), function.body.type)
    return Acc(Map(function, nodes, indexed, name, (kind,), where), extents)


def tested(name: str, p: Callable[..., object], array: Acc[Any], where: Where | None) -> Acc[Any]:
    """Whether the predicate `p` of the combinator `name` holds, of each element."""
    predicate = trace(p, (array.type.element,), f"the predicate of {name}", where, result=BOOL)
    forbid_nested(name, (predicate,), where)
    return map_node(name, predicate, (array,), array.extents, where)
