"""[Ber]'s language: `nzip` and `rnz`, under which maps and reductions are closed; the views `subdivide`, `flatten`, `flip`.

In: functions, axes as NumPy's (0 outermost, negative from the end), handles. Out: handles. Views move no data by
themselves: what reads them reads the array. They fix the shapes of values; in which order loops run is not theirs to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVarTuple, overload

import numpy as np

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.folds import UNSEEDED, fold_array
from accel.ast.combinators.parts import dimension, exchange
from accel.ast.combinators.reorder import flatten_array, reshaped
from accel.ast.handles import operations
from accel.ast.handles.acc import Acc, Array, Extents, Num, Sh, Vector
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.extents import product, require_extents, undivided
from accel.ast.handles.function import forbid_nested
from accel.ast.handles.literals import whole_typed
from accel.ast.handles.tuples import index_of, unlift_items
from accel.ast.tree.nodes import Literal, Require, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.errors import AccelTypeError, AccelValueError, Where, here

Ix = TypeVarTuple("Ix")


def nzip(f: Callable[..., object], /, *xs: Acc[Any]) -> Acc[Any]:
    """`f` at the elements of any number of arrays of equal shape ([Ber] eq. 20): `map`, `zipWith`, `zipWith3`, … in one.

    Unequal shapes raise `AccelShapeError`.

    >>> A.run(A.nzip(lambda x, y: x - y, A.use(np.arange(5)), A.use(np.arange(5))))
    array([0, 0, 0, 0, 0])
    """
    return map_arrays("nzip", f, _some("nzip", xs))


def rnz(
    reduce: Callable[[Any, Any], object], zip: Callable[..., object], /, *xs: Acc[Any], seed: object = None
) -> Acc[Any]:
    """The innermost dimension of `nzip(zip, *xs)` reduced by the associative `reduce` ([Ber] eq. 26), from `seed` if any.

    Of two vectors, `rnz(A.add, A.mul, xs, ys, seed=0)` is their dot product. Without a seed an empty row raises
    `AccelValueError` when run. Unequal shapes raise `AccelShapeError`.

    >>> A.run(A.rnz(A.add, A.mul, A.use(np.arange(5)), A.use(np.arange(5))))
    array(30)
    """
    start = UNSEEDED if seed is None else seed
    return fold_array("rnz", reduce, start, map_arrays("rnz", zip, _some("rnz", xs)))


def subdivide(axis: int, b: Num, xs: Acc[Array[tuple[*Ix], E]]) -> Acc[Array[tuple[*Ix, int], E]]:
    """A dimension of extent n as two, n/b outside and b inside ([Ber] section 2.1, `subdiv`); `flatten(axis, …)` undoes it.

    A `b` that does not divide n raises `AccelShapeError`.

        >>> A.run(A.subdivide(0, 2, A.use(np.arange(6))))
        array([[0, 1],
               [2, 3],
               [4, 5]])
    """
    where = here()
    array, at = dimension("subdivide", axis, xs, b)
    node = whole_typed(raw(b), "the block of subdivide", where)
    forbid_nested("subdivide", (node,), where)
    block: Exp[np.int64] = Exp(node)
    number = int(node.value) if isinstance(node, Literal) else None
    extent = array.extents[at]
    if number is not None and (number < 1 or (extent is not None and extent % number)):
        raise undivided(array.extents, at, number, where, array.node.where)
    extents = unlift_items("subdivide", array.shape)
    if number is None or extent is None:
        array = _divided(array, at, extents, block, where)
    count = Exp[np.int64](operations.apply(Operator.QUOT, extents[at].node, node, where=where))
    known: Extents = (None if extent is None or number is None else extent // number, number)
    shape = index_of([*extents[:at], count, block, *extents[at + 1 :]]).node
    return reshaped("subdivide", shape, (*array.extents[:at], *known, *array.extents[at + 1 :]), array, where)


def _divided(
    array: Acc[Any], axis: int, extents: Sequence[Exp[Any]], block: Exp[np.int64], where: Where | None
) -> Acc[Any]:
    """The array, and an error unless blocks divide a dimension: its shape and the block are found, where they do not the
    dimension needs another extent."""

    def apply(operator: Operator, *operands: ScalarNode) -> ScalarNode:
        return operations.apply(operator, *operands, where=where)

    zero, one = (Literal(I64, value, where) for value in (0, 1))
    rest = apply(Operator.REM, extents[axis].node, apply(Operator.MAX, block.node, one))
    wrong = apply(Operator.MAX, apply(Operator.SUB, one, block.node), rest)
    other = apply(Operator.SUB, one, apply(Operator.MIN, extents[axis].node, one))
    needed = operations.select(apply(Operator.GT, wrong, zero), other, extents[axis].node, where)
    nodes = tuple([extent.node for extent in extents])
    found, wanted = (*nodes, block.node), (*nodes[:axis], needed, *nodes[axis + 1 :], block.node)
    return Acc(Require(found, wanted, "subdivide", None, array.node, (array.type,), where), array.extents)


@overload
def flatten(xs: Acc[Array[Sh, E]], /) -> Acc[Vector[E]]: ...
@overload
def flatten(*, xs: Acc[Array[Sh, E]]) -> Acc[Vector[E]]: ...
@overload
def flatten(axis: int, xs: Acc[Array[tuple[*Ix, int, int], E]]) -> Acc[Array[tuple[*Ix, int], E]]: ...
def flatten(axis: Any = None, xs: Any = None) -> Acc[Any]:
    """All elements in row-major order as a vector; with an axis, this dimension and the next as one ([Ber] section 2.1).

    The last axis has no next one and raises `AccelValueError`.

        >>> A.run(A.flatten(0, A.use(np.zeros((2, 3, 4))))).shape
        (6, 4)
    """
    if axis is None or xs is None:
        return flatten_array("flatten", axis if xs is None else xs)
    where = here()
    array, at = dimension("flatten", axis, xs)
    if at == array.rank - 1:
        message = f"flatten: an array of rank {array.rank} has no axis after axis {axis}"
        raise AccelValueError(message, where, hint="axis k is merged with axis k + 1")
    extents = unlift_items("flatten", array.shape)
    shape = index_of([*extents[:at], extents[at] * extents[at + 1], *extents[at + 2 :]]).node
    merged = product(array.extents[at : at + 2])
    known = (*array.extents[:at], merged, *array.extents[at + 2 :])
    require_extents(known, where, "flatten")
    return reshaped("flatten", shape, known, array, where)


def flip(a: int, b: int, xs: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """Two dimensions exchanged ([Ber] section 2.1); `transposeOn` by the paper's name.

    >>> A.run(A.flip(0, 1, A.use(np.arange(6).reshape(2, 3))))
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    array, first = dimension("flip", a, xs, b)
    return exchange("flip", first, dimension("flip", b, xs, a)[1], array)


def _some(name: str, xs: tuple[Acc[Any], ...]) -> tuple[Acc[Any], ...]:
    """Arrays for a function to be applied to: one at least."""
    if not xs:
        call = "A.nzip(f, xs, ys)" if name == "nzip" else "A.rnz(A.add, A.mul, xs, ys)"
        raise AccelTypeError(f"{name} needs one array at least", here(), hint=f"arrays come behind functions: `{call}`")
    return xs
