"""Two arrays one behind the other: `append` and `concatOn`.

In: handles, an axis as NumPy's. Out: handles. What makes the elements of either may run in the loop that reads them
(`accel/labelled/passes/absorb.py`).
"""

from __future__ import annotations

from typing import Any, TypeVarTuple

from accel.ast.combinators.parts import dimension
from accel.ast.handles.acc import Acc, Array, Sh
from accel.ast.handles.checks import arrays_of, require_same_elements
from accel.ast.handles.exp import E
from accel.ast.handles.extents import require_extents, require_one_rank, show
from accel.ast.handles.operations import apply, project
from accel.ast.tree.nodes import Append, ArrayNode, ScalarNode, ShapeOf
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import index_type
from accel.errors import AccelShapeError, Where, here

Ix = TypeVarTuple("Ix")


def append(xs: Acc[Array[tuple[*Ix, int], E]], ys: Acc[Array[tuple[*Ix, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """The rows of `xs`, each with the row of `ys` behind it (Accelerate's `++`): extents m and n become m + n.

    All other extents must agree (`AccelShapeError`), and so must the elements (`AccelTypeError`). Both may have rank 1 to 5.

        >>> A.run(A.append(A.use(np.array([1, 2])), A.use(np.array([3]))))
        array([1, 2, 3])
    """
    return _appended("append", -1, xs, ys)


def concatOn(axis: int, xs: Acc[Array[Sh, E]], ys: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """`ys` behind `xs` along a dimension, which `axis` names as NumPy does (Accelerate's `concatOn`).

    All other extents must agree (`AccelShapeError`), and so must the elements (`AccelTypeError`).

        >>> A.run(A.concatOn(0, A.use(np.array([[1, 2]])), A.use(np.array([[3, 4]]))))
        array([[1, 2],
               [3, 4]])
    """
    return _appended("concatOn", axis, xs, ys)


def _appended(name: str, axis: int, xs: object, ys: object) -> Acc[Any]:
    where = here()
    left, at = dimension(name, axis, xs)
    (right,) = arrays_of(name, (ys,), where)
    require_one_rank(name, (left, right), where)
    outer: dict[str, Acc[Any] | None] = {} if name == "append" else {"axis": None}
    require_same_elements(name, {**outer, "xs": left, "ys": right}, where)
    others = [k for k in range(left.rank) if k != at]
    for k in others:
        if left.extents[k] not in (None, right.extents[k]) and right.extents[k] is not None:
            raise _unequal(name, at, left, right, where)
    known = [right.extents[k] if extent is None else extent for k, extent in enumerate(left.extents)]
    ends = left.extents[at], right.extents[at]
    known[at] = None if None in ends else sum(extent or 0 for extent in ends)
    require_extents(tuple(known), where, name)
    extent = apply(Operator.ADD, *[_extent(each.node, at, where) for each in (left, right)], where=where)
    node = Append(extent, at, left.node, right.node, name, (left.type,), where)
    return Acc(node, tuple(known))


def _extent(array: ArrayNode, axis: int, where: Where | None) -> ScalarNode:
    return project(ShapeOf(array, index_type(array.types[0].rank), where), axis, where)


def _unequal(name: str, axis: int, left: Acc[Any], right: Acc[Any], where: Where | None) -> AccelShapeError:
    others = tuple((f"{show(each.extents)} was made here:", each.node.where) for each in (left, right))
    shapes = " and ".join(show(each.extents) for each in (left, right))
    message = f"{name} along dimension {axis} needs arrays that agree in all others, got {shapes}"
    hint = f"where one is longer take a part of it: `A.takeOn(k, n, xs)` along a dimension k other than {axis}"
    return AccelShapeError(message, where, others=others, hint=hint)
