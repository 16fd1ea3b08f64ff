"""`expand`: each element makes as many elements as it says [Henriksen and Elsman, Towards Size-Dependent Types, 2019].

In: two functions, a handle. Out: a handle. Three loops: one counts, one marks where each element's own begin, one finds to
which element each belongs and computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from accel.ast.combinators.construct import filled
from accel.ast.combinators.elementwise import map_arrays, map_node
from accel.ast.combinators.folds import fold_array, scanl1, scanlTotal
from accel.ast.combinators.permutations import placed_once
from accel.ast.combinators.reorder import gather
from accel.ast.combinators.zips.tuples import zip_arrays
from accel.ast.handles.acc import Acc, Vector
from accel.ast.handles.checks import of_rank
from accel.ast.handles.exp import E, Exp
from accel.ast.handles.extents import LARGEST_EXTENT
from accel.ast.handles.function import apply, forbid_nested, trace
from accel.ast.handles.tuples import cond, indexHead, lift_items
from accel.ast.scalars.conversions import add, max, min
from accel.ast.scalars.maybes import just, nothing
from accel.ast.tree.types import I64
from accel.errors import here

F = TypeVar("F")


def expand(
    sizeOf: Callable[[Exp[E]], Exp[np.int64]],
    element: Callable[[Exp[E], Exp[np.int64]], Exp[F]],
    xs: Acc[Vector[E]],
) -> Acc[Vector[F]]:
    """`element(x, 0)`, …, `element(x, sizeOf(x) - 1)` of each x in turn, as one vector (Accelerate's `expand`).

    A size may be 0. A negative one, or too many elements in all, raise `AccelShapeError` when run.

        >>> A.run(A.expand(lambda x: x, lambda x, k: 10 * x + k, A.use(np.array([2, 0, 3]))))
        array([20, 21, 30, 31, 32])
    """
    where = here()
    array = of_rank("expand", xs, 1, where)
    sized = trace(sizeOf, (array.type.element,), "the size function of expand", where, result=I64)
    forbid_nested("expand", (sized,), where)
    sizes = map_node("expand", sized, (array,), array.extents, where)
    starts, total = scanlTotal(add, 0, sizes)
    owners = scanl1(
        max, placed_once("expand", filled("expand", (_extent(sizes, total),), 0), _first(sizes, starts), where)
    )

    def made(ix: Exp[Any], pair: Exp[Any]) -> object:
        return apply(element, [pair[0], indexHead(ix) - pair[1]], "the element function of expand", where)

    owned = gather(owners, zip_arrays("expand", (array, starts), trim=False))
    return map_arrays("expand", made, (owned,), indexed=True)


def _first(sizes: Acc[Any], starts: Acc[Any]) -> Acc[Any]:
    """For each element that makes any: where the first of them stands, and which it is."""

    def pair(ix: Exp[Any], size: Exp[Any], start: Exp[Any]) -> Exp[Any]:
        return cond(size > 0, just(lift_items((start, indexHead(ix)))), nothing())

    return map_arrays("expand", pair, (sizes, starts), indexed=True)


def _extent(sizes: Acc[Any], total: Acc[Any]) -> Exp[Any]:
    """How many there are; a size that is negative, if one is; an extent that is too large, if their sum may have wrapped."""
    least, most = fold_array("expand", min, 0, sizes)[()], fold_array("expand", max, 0, sizes)[()]
    room = (1 << 62) // max(indexHead(sizes.shape), 1)
    return cond(least < 0, least, cond(most > room, LARGEST_EXTENT + 1, total[()]))
