"""Gather and scatter where a mask says so: `gatherIf` and `scatterIf`.

In: handles and a test of the mask's elements. Out: handles. Where the mask does not hold, no index is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from accel.ast.combinators.elementwise import map_arrays, tested
from accel.ast.combinators.permutations import permuteWith, require_index, same_elements
from accel.ast.combinators.reorder import require_indices
from accel.ast.combinators.zips.tuples import trimmed
from accel.ast.handles.acc import Acc, Array, Sh, Vector
from accel.ast.handles.checks import arrays_of
from accel.ast.handles.exp import E, Exp
from accel.ast.handles.tuples import cond, lift_items
from accel.ast.scalars.maybes import just, nothing
from accel.errors import here

Mask = TypeVar("Mask")
Sh2 = TypeVar("Sh2", bound=tuple[Any, ...])


@overload
def gatherIf(
    indices: Acc[Array[Sh, np.int64]],
    mask: Acc[Array[Sh, Mask]],
    pred: Callable[[Exp[Mask]], Exp[np.bool_]],
    defaults: Acc[Array[Sh, E]],
    xs: Acc[Vector[E]],
    *,
    trim: bool = False,
) -> Acc[Array[Sh, E]]: ...
@overload
def gatherIf(
    indices: Acc[Array[Sh, Sh2]],
    mask: Acc[Array[Sh, Mask]],
    pred: Callable[[Exp[Mask]], Exp[np.bool_]],
    defaults: Acc[Array[Sh, E]],
    xs: Acc[Array[Sh2, E]],
    *,
    trim: bool = False,
) -> Acc[Array[Sh, E]]: ...
def gatherIf(
    indices: Acc[Any],
    mask: Acc[Any],
    pred: Callable[..., object],
    defaults: Acc[Any],
    xs: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`result[ix] = xs[indices[ix]]` where `pred(mask[ix])` holds, `defaults[ix]` elsewhere (Accelerate's `gatherIf`).

    Indices are i64 for a vector, tuples of them for other ranks. `indices`, `mask` and `defaults` have one shape, of any
    rank (`AccelShapeError`), or with `trim` the part that they share is taken. An index that is looked at and lies outside
    of `xs` raises `AccelIndexError`.

        >>> places, mask = A.use(np.array([2, 9, 0])), A.use(np.array([True, False, True]))
        >>> A.run(A.gatherIf(places, mask, lambda m: m, A.fill((3,), -1), A.use(np.array([10, 20, 30]))))
        array([30, -1, 10])
    """
    where = here()
    at, given, kept, array = arrays_of(
        "gatherIf", (indices, mask, defaults, xs), where, (indices, mask, pred, defaults, xs)
    )
    require_indices("gatherIf", at, array, where)
    same_elements("gatherIf", kept.type.element, array.type.element, kept, array, where)

    def chosen(ix: Exp[Any], m: Exp[Any], default: Exp[Any]) -> Exp[Any]:
        return cond(m, array[ix], default)

    sources = at, tested("gatherIf", pred, given, where), kept
    return map_arrays("gatherIf", chosen, trimmed("gatherIf", sources) if trim else sources)


def scatterIf(
    to: Acc[Vector[np.int64]],
    mask: Acc[Vector[Mask]],
    pred: Callable[[Exp[Mask]], Exp[np.bool_]],
    defaults: Acc[Vector[E]],
    values: Acc[Vector[E]],
    *,
    trim: bool = False,
) -> Acc[Vector[E]]:
    """`defaults` with `values[i]` written at `to[i]` where `pred(mask[i])` holds (Accelerate's `scatterIf`).

    The last of equal targets wins. An index that is looked at and lies outside of `defaults` raises `AccelIndexError`;
    `to`, `mask` and `values` of different extents raise `AccelShapeError`; with `trim` the last ones are left out.

        >>> places, mask = A.use(np.array([2, 9, 0])), A.use(np.array([True, False, True]))
        >>> A.run(A.scatterIf(places, mask, lambda m: m, A.fill((3,), -1), A.use(np.array([10, 20, 30]))))
        array([30, -1, 10])
    """
    where = here()
    at, marks, target, given = arrays_of(
        "scatterIf", (to, mask, defaults, values), where, (to, mask, pred, defaults, values)
    )
    require_index("scatterIf", at.type.element, target.rank, where)
    same_elements("scatterIf", target.type.element, given.type.element, target, given, where)

    sources = at, tested("scatterIf", pred, marks, where), given

    def pair(i: Exp[Any], m: Exp[Any], value: Exp[Any]) -> Exp[Any]:
        return cond(m, just(lift_items((i, value))), nothing())

    return permuteWith(
        lambda new, old: new, target, map_arrays("scatterIf", pair, trimmed("scatterIf", sources) if trim else sources)
    )
