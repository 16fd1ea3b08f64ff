"""Writing to computed places: `permute` and `scatterWith`, and what is made of them.

In: functions, handles. Out: handles. `combine(new, old)` must be associative; collisions are combined in source order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from accel.ast.combinators.zips import zip_arrays
from accel.ast.handles.acc import Acc, Array, Sh, Vector
from accel.ast.handles.checks import arrays_of
from accel.ast.handles.elements import Maybe
from accel.ast.handles.exp import E, Exp
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.tree.nodes import Permute, ScatterWith
from accel.ast.tree.types import I64, ElementType, MaybeType, ScalarType, TupleType, index_type
from accel.errors import AccelTypeError, Where, here

Sh2 = TypeVar("Sh2", bound=tuple[Any, ...])


def permute(
    f: Callable[[Exp[E], Exp[E]], Exp[E]],
    defaults: Acc[Array[Sh2, E]],
    ixf: Callable[[Exp[Sh]], Exp[Maybe[Sh2]]],
    xs: Acc[Array[Sh, E]],
) -> Acc[Array[Sh2, E]]:
    """`defaults`, where each element of `xs` is combined as `f(new, old)` at the index that `ixf` gives, if it gives one.

    Elements of one target are combined in row-major order. An index outside of `defaults` raises
    `AccelIndexError`.
    """
    where = here()
    target, array = arrays_of("permute", (defaults, xs), where)
    element = target.type.element
    _same_elements("permute", element, array.type.element, target, array, where)
    combine = trace(f, (element, element), "the function of permute", where, result=element)
    place = MaybeType(index_type(target.rank))
    index = trace(ixf, (index_type(array.rank),), "the index function of permute", where, result=place)
    forbid_nested("permute", (combine, index), where)
    return Acc(Permute(combine, target.node, index, array.node, (target.type,), where), target.extents)


@overload
def scatterWith(
    f: Callable[[Exp[E], Exp[E]], Exp[E]], defaults: Acc[Vector[E]], pairs: Acc[Array[Sh, tuple[np.int64, E]]]
) -> Acc[Vector[E]]: ...
@overload
def scatterWith(
    f: Callable[[Exp[E], Exp[E]], Exp[E]], defaults: Acc[Array[Sh2, E]], pairs: Acc[Array[Sh, tuple[Sh2, E]]]
) -> Acc[Array[Sh2, E]]: ...
def scatterWith(f: Callable[..., object], defaults: Acc[Any], pairs: Acc[Any]) -> Acc[Any]:
    """`defaults`, where each of the `pairs` (index, new) is combined as `f(new, old)`; indices are i64 for vectors.

    Pairs of one target are combined in order. An index outside of `defaults` raises `AccelIndexError`.
    """
    where = here()
    target, array = arrays_of("scatterWith", (defaults, pairs), where)
    element, given = target.type.element, array.type.element
    due = "i64" if target.rank == 1 else str(index_type(target.rank))
    if not isinstance(given, TupleType) or len(given.items) != 2:
        raise AccelTypeError(
            f"scatterWith into rank {target.rank} needs pairs ({due}, {element}), got elements of type {given}",
            where,
            hint="pair them up: `A.zip(indices, values)`",
        )
    _index_fits("scatterWith", given.items[0], target.rank, where)
    _same_elements("scatterWith", element, given.items[1], target, array, where)
    combine = trace(f, (element, element), "the function of scatterWith", where, result=element)
    forbid_nested("scatterWith", (combine,), where)
    return Acc(ScatterWith(combine, target.node, array.node, (target.type,), where), target.extents)


def scatter(to: Acc[Vector[np.int64]], defaults: Acc[Vector[E]], values: Acc[Vector[E]]) -> Acc[Vector[E]]:
    """`defaults` with `values[i]` written at `to[i]`; the last of equal targets wins.

    An index outside of `defaults` raises `AccelIndexError`, another number of indices than of values `AccelShapeError`.
    """
    where = here()
    indices, target, given = arrays_of("scatter", (to, defaults, values), where)
    _index_fits("scatter", indices.type.element, target.rank, where)
    _same_elements("scatter", target.type.element, given.type.element, target, given, where)
    return scatterWith(lambda new, old: new, target, zip_arrays("scatter", (indices, given), trim=False))


def _index_fits(name: str, kind: ElementType, rank: int, where: Where | None) -> None:
    if kind == index_type(rank) or (kind is I64 and rank == 1):
        return
    due = "i64" if rank == 1 else str(index_type(rank))
    hint = None
    if rank == 1 and isinstance(kind, ScalarType) and kind.is_integer:
        hint = "convert them: `A.map(lambda i: A.fromIntegral(i, np.int64), indices)`"
    raise AccelTypeError(
        f"{name} into an array of rank {rank} needs indices of type {due}, got {kind}", where, hint=hint
    )


def _same_elements(
    name: str, element: ElementType, given: ElementType, target: Acc[Any], array: Acc[Any], where: Where | None
) -> None:
    if element != given:
        places = (("the defaults were made here:", target.node.where), ("the values were made here:", array.node.where))
        message = f"{name} needs defaults and values of one type, got {element} and {given}"
        raise AccelTypeError(message, where, others=places)
