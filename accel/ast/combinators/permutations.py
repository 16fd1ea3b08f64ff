"""Writing to computed places: `permute` and `scatterWith`, and what is made of them.

In: functions, handles. Out: handles. `combine(new, old)` must be associative; collisions are combined in source order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from accel.ast.combinators.zips.tuples import zip_arrays
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

    >>> keys = A.use(np.array([0, 2, 0]))
    >>> counts = A.permute(A.add, A.fill((3,), 0), lambda ix: A.just(A.index(keys[ix])), A.fill((3,), 1))
    >>> A.run(counts)
    array([2, 0, 1])
    """
    return _permuted("permute", f, defaults, ixf, xs, unique=False)


def permuteUnique(
    defaults: Acc[Array[Sh2, E]],
    ixf: Callable[[Exp[Sh]], Exp[Maybe[Sh2]]],
    xs: Acc[Array[Sh, E]],
) -> Acc[Array[Sh2, E]]:
    """`defaults`, where each element of `xs` stands at the index that `ixf` gives, if it gives one: no two at the same.

    So elements may be written in any order, by all threads at once. Which one stays at an index that several are given is not
    defined (Accelerate's `permuteUnique`). An index outside of `defaults` raises `AccelIndexError`.

        >>> xs = A.use(np.array([1, 2, 3]))
        >>> A.run(A.permuteUnique(A.fill((4,), 0), lambda ix: A.just(A.index(3 - ix[0])), xs))
        array([0, 3, 2, 1])
    """
    return _permuted("permuteUnique", _new, defaults, ixf, xs, unique=True)


def _new(new: Exp[Any], old: Exp[Any]) -> Exp[Any]:
    return new


def _permuted(
    name: str, f: Callable[..., object], defaults: object, ixf: Callable[..., object], xs: object, *, unique: bool
) -> Acc[Any]:
    """What the user knows as `name`: elements at the indices that `ixf` gives."""
    where = here()
    target, array = arrays_of(name, (defaults, xs), where)
    element = target.type.element
    same_elements(name, element, array.type.element, target, array, where)
    combine = trace(f, (element, element), f"the function of {name}", where, result=element)
    place = MaybeType(index_type(target.rank))
    index = trace(ixf, (index_type(array.rank),), f"the index function of {name}", where, result=place)
    forbid_nested(name, (combine, index), where)
    return Acc(Permute(combine, target.node, index, array.node, unique, (target.type,), where), target.extents)


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

    >>> pairs = A.zip(A.use(np.array([0, 2, 0])), A.use(np.array([1, 2, 3])))
    >>> A.run(A.scatterWith(A.add, A.fill((3,), 0), pairs))
    array([4, 0, 2])
    """
    where = here()
    target, array = arrays_of("scatterWith", (defaults, pairs), where)
    hint = "pair them up: `A.zip(indices, values)`"
    return _scattered("scatterWith", f, target, array, array.type.element, hint, False, where)


@overload
def permuteWith(
    f: Callable[[Exp[E], Exp[E]], Exp[E]],
    defaults: Acc[Vector[E]],
    maybe_pairs: Acc[Array[Sh, Maybe[tuple[np.int64, E]]]],
) -> Acc[Vector[E]]: ...
@overload
def permuteWith(
    f: Callable[[Exp[E], Exp[E]], Exp[E]],
    defaults: Acc[Array[Sh2, E]],
    maybe_pairs: Acc[Array[Sh, Maybe[tuple[Sh2, E]]]],
) -> Acc[Array[Sh2, E]]: ...
def permuteWith(f: Callable[..., object], defaults: Acc[Any], maybe_pairs: Acc[Any]) -> Acc[Any]:
    """`defaults`, where each of the `maybe_pairs` just (index, new) is combined as `f(new, old)` (Accelerate's `permute'`).

    Nothing drops a pair. Indices are tuples of i64, or i64 for vectors; `maybe_pairs` may have any shape. What makes index and
    value shares a loop with the scatter. Pairs of one target are combined in row-major order. An index outside of `defaults`
    raises `AccelIndexError`.

        >>> values = A.use(np.array([5, -3, 4]))
        >>> pairs = A.map(lambda x: A.cond(x > 0, A.just(A.lift(A.index(x % 2), x)), A.nothing()), values)
        >>> A.run(A.permuteWith(A.add, A.fill((2,), 0), pairs))
        array([4, 5])
    """
    where = here()
    target, array = arrays_of("permuteWith", (defaults, maybe_pairs), where)
    kind = array.type.element
    value = kind.value if isinstance(kind, MaybeType) else kind
    hint = "an element is `A.just(A.lift(index, value))` or `A.nothing()`"
    if not isinstance(kind, MaybeType):
        raise AccelTypeError(
            f"permuteWith needs pairs that may be nothing, got elements of type {kind}", where, hint=hint
        )
    return _scattered("permuteWith", f, target, array, value, hint, False, where)


def placed_once(name: str, target: Acc[Any], pairs: Acc[Any], where: Where | None) -> Acc[Any]:
    """`target` with the pairs written, or those that there are; no two at one index. The user knows it as `name`."""
    kind = pairs.type.element
    return _scattered(name, _new, target, pairs, kind.value if isinstance(kind, MaybeType) else kind, "", True, where)


def _scattered(
    name: str,
    f: Callable[..., object],
    target: Acc[Any],
    array: Acc[Any],
    pair: ElementType,
    hint: str,
    unique: bool,
    where: Where | None,
) -> Acc[Any]:
    """A scatter of pairs, or of what may be one, that the user knows as `name`."""
    element = target.type.element
    due = "i64" if target.rank == 1 else str(index_type(target.rank))
    if not isinstance(pair, TupleType) or len(pair.items) != 2:
        message = f"{name} into rank {target.rank} needs pairs ({due}, {element}), got elements of type {pair}"
        raise AccelTypeError(message, where, hint=hint)
    require_index(name, pair.items[0], target.rank, where)
    same_elements(name, element, pair.items[1], target, array, where)
    combine = trace(f, (element, element), f"the function of {name}", where, result=element)
    forbid_nested(name, (combine,), where)
    return Acc(ScatterWith(combine, target.node, array.node, unique, name, (target.type,), where), target.extents)


def scatter(
    to: Acc[Vector[np.int64]], defaults: Acc[Vector[E]], values: Acc[Vector[E]], *, trim: bool = False
) -> Acc[Vector[E]]:
    """`defaults` with `values[i]` written at `to[i]`; the last of equal targets wins.

    An index outside of `defaults` raises `AccelIndexError`, another number of indices than of values `AccelShapeError`; with
    `trim`, as Accelerate does, the last ones of the longer array are left out.

    >>> A.run(A.scatter(A.use(np.array([3, 1])), A.fill((4,), 0), A.use(np.array([5, 6]))))
    array([0, 6, 0, 5])
    """
    where = here()
    indices, target, given = arrays_of("scatter", (to, defaults, values), where)
    require_index("scatter", indices.type.element, target.rank, where)
    same_elements("scatter", target.type.element, given.type.element, target, given, where)
    return scatterWith(lambda new, old: new, target, zip_arrays("scatter", (indices, given), trim=trim))


def require_index(name: str, kind: ElementType, rank: int, where: Where | None) -> None:
    """Raises `AccelTypeError` unless `kind` is the type of an index into an array of that rank."""
    if kind == index_type(rank) or (kind is I64 and rank == 1):
        return
    due = "i64" if rank == 1 else str(index_type(rank))
    hint = f"make them so: `A.map(lambda x: {_place(rank)}, xs)`, of integers of 64 bits"
    if rank == 1 and isinstance(kind, ScalarType) and kind.is_integer:
        hint = "convert them: `A.map(lambda i: A.fromIntegral(i, np.int64), indices)`"
    elif rank == 1 and isinstance(kind, ScalarType) and kind.is_float:
        hint = "make them integers: `A.map(A.floor, indices)`; or are the arrays in another order?"
    raise AccelTypeError(
        f"{name} into an array of rank {rank} needs indices of type {due}, got {kind}", where, hint=hint
    )


def _place(rank: int) -> str:
    """An index into an array of that rank, as users write it."""
    return "i" if rank == 1 else f"A.index({', '.join('ijklmnop'[:rank])})"


def same_elements(
    name: str, element: ElementType, given: ElementType, target: Acc[Any], array: Acc[Any], where: Where | None
) -> None:
    """Raises `AccelTypeError` unless the defaults and values of `name` have elements of one type."""
    if element != given:
        places = (("the defaults were made here:", target.node.where), ("the values were made here:", array.node.where))
        message = f"{name} needs defaults and values of one type, got {element} and {given}"
        hint = f"convert one: `A.map(lambda x: A.cast(x, …), xs)`, to {element} or to {given}"
        raise AccelTypeError(message, where, others=places, hint=hint)
