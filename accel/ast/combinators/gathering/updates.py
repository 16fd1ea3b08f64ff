"""`update`: an array with a strided rectangular part replaced.

In: handles, slices and places as NumPy writes them. Out: a handle. It is a scatter to places of which no two are one, so the
array is changed in place where nobody else reads the old version, and copied before it otherwise.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy as np

from accel.ast.combinators.construct import generate
from accel.ast.combinators.permutations import placed_once
from accel.ast.combinators.reorder import AllType
from accel.ast.combinators.zips.tuples import zip_arrays
from accel.ast.handles.acc import Acc, Array, Sh
from accel.ast.handles.checks import arrays_of, require_same_elements
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.extents import require_one_rank
from accel.ast.handles.literals import describe, whole_number, whole_typed
from accel.ast.handles.tuples import index_of, select, unlift_items
from accel.ast.scalars.conversions import max, min
from accel.ast.tree.nodes import Literal
from accel.ast.tree.types import I64
from accel.errors import AccelTypeError, AccelValueError, Where, here

View: TypeAlias = "builtins.slice[Any, Any, Any] | tuple[builtins.slice[Any, Any, Any], ...]"
"""A slice for each dimension, outermost first; those that are not there are kept whole."""

Place: TypeAlias = "Exp[np.int64] | int"

PlacesView: TypeAlias = "Place | tuple[builtins.slice[Any, Any, Any] | AllType | Place, ...]"
"""The same with places, whose dimensions the part does not have, and `All` for whole ones."""

Part: TypeAlias = tuple[Exp[Any], Exp[Any], int]
"""Of one dimension: the first place, how many there are, and how far apart."""


@overload
def update(xs: Acc[Array[Sh, E]], view: View, values: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]: ...
@overload
def update(xs: Acc[Array[Sh, E]], view: PlacesView, values: Acc[Array[Any, E]]) -> Acc[Array[Sh, E]]: ...
def update(xs: Acc[Array[Any, E]], view: View | PlacesView, values: Acc[Array[Any, E]]) -> Acc[Array[Any, E]]:
    """`xs` with the part `view` replaced by `values`, as `xs[view] = values` does in NumPy.

    view: a tuple of slices, one for each dimension (or of fewer, the others are taken whole), or one slice. Ends are ints or
    i64 expressions, negative ones count from the end, and beyond the ends there is nothing; steps are ints other than 0.
    Instead of a slice there may be `All`, or a place, an int or i64 expression, whose dimension the part does not have: it
    raises `AccelIndexError` if it lies outside, where the part has any element. `values` has the shape of the part
    (`AccelShapeError`) and the elements' type (`AccelTypeError`): nothing is broadcast.

        >>> A.run(A.update(A.fill((5,), 0), (slice(None, None, 2),), A.use(np.array([1, 2, 3]))))
        array([1, 0, 2, 0, 3])
        >>> A.run(A.update(A.fill((2, 3), 0), 1, A.use(np.array([4, 5, 6]))))
        array([[0, 0, 0],
               [4, 5, 6]])
    """
    where = here()
    array, given = arrays_of("update", (xs, values), where)
    every = _dimensions(view, array, where)
    _require_rank(array, every, given, where)
    require_same_elements("update", {"xs": array, "view": None, "values": given}, where)
    if array.rank == 0:
        return given
    extents = list(zip(unlift_items("update", array.shape), array.extents, strict=True))
    found = [
        _part(each, *extent, where) if isinstance(each, builtins.slice) else select(each < 0, each + extent[0], each)
        for each, extent in zip(every, extents, strict=True)
    ]
    counts = [part[1] for part in found if isinstance(part, tuple)]
    shape = tuple(count if (known := _number(count)) is None else known for count in counts)

    def place(ix: Exp[Any]) -> Exp[Any]:
        indices = iter(unlift_items("update", ix))
        return index_of([p[0] + next(indices) * p[2] if isinstance(p, tuple) else p for p in found])

    pairs = zip_arrays("update", (generate(shape, place), given), trim=False)
    return placed_once("update", array, pairs, where)


Dimension: TypeAlias = "builtins.slice[Any, Any, Any] | Exp[np.int64]"


def _dimensions(view: object, array: Acc[Any], where: Where | None) -> list[Dimension]:
    """A slice or a place for each dimension."""
    given: Sequence[object] = view if isinstance(view, tuple) else (view,)
    if len(given) > array.rank:
        hint = "one slice, place or `A.All` for each dimension of the array, and less if the last ones are kept whole"
        raise AccelTypeError(f"update by {len(given)} slices of an array of rank {array.rank}", where, hint=hint)
    found = [_dimension(each, where) for each in given]
    return [*found, *[builtins.slice(None)] * (array.rank - len(found))]


def _dimension(given: object, where: Where | None) -> Dimension:
    if isinstance(given, builtins.slice):
        return given
    if isinstance(given, AllType):
        return builtins.slice(None)
    place = whole_number(given)
    is_place = place.type == I64 if isinstance(place, Exp) else isinstance(place, int) and not isinstance(place, bool)
    if not is_place:
        hint = "write `slice(start, stop)`, `slice(start, stop, step)`, a place or `A.All` for each dimension"
        raise AccelTypeError(f"update needs a tuple of slices and places, got {describe(raw(given))}", where, hint=hint)
    return Exp(whole_typed(raw(place), "a place of update", where))


def _require_rank(array: Acc[Any], every: Sequence[Dimension], given: Acc[Any], where: Where | None) -> None:
    """Raises `AccelTypeError` unless what is given has a dimension for each slice."""
    rank = sum(isinstance(each, builtins.slice) for each in every)
    if rank == array.rank:
        require_one_rank("update", (array, given), where)
    elif rank != given.rank:
        message = f"update replaces a part of rank {rank}, got values of rank {given.rank}"
        hint = "a place has no dimension in the part: `A.update(m, (i, A.All), row)`, `A.update(m, (i, j), A.unit(x))`"
        raise AccelTypeError(message, where, hint=hint)


def _part(part: builtins.slice[Any, Any, Any], extent: Exp[Any], known: int | None, where: Where | None) -> Part:
    """What a slice picks of a dimension."""
    step = 1 if part.step is None else whole_number(part.step)
    if not isinstance(step, int) or isinstance(step, bool):
        hint = "where a step is computed choose by the index: `A.imap(lambda ix, x: A.cond(ix[0] % step == 0, value, x), xs)`"
        raise AccelTypeError(f"update needs an int as a step, got {describe(raw(step))}", where, hint=hint)
    if step == 0:
        hint = "one place is written as its number, all as `A.All`"
        raise AccelValueError("update: a step of 0 leads nowhere", where, hint=hint)
    start, stop = _end(part.start, where), _end(part.stop, where)
    if known is not None and all(end is None or _number(end) is not None for end in (start, stop)):
        ends = [None if end is None else _number(end) for end in (start, stop)]
        found = range(*builtins.slice(ends[0], ends[1], step).indices(known))
        return _constant(found.start), _constant(len(found)), step
    least, most = (0, extent) if step > 0 else (-1, extent - 1)
    first = (_constant(0) if step > 0 else most) if start is None else _clamped(start, extent, least, most)
    last = (extent if step > 0 else _constant(-1)) if stop is None else _clamped(stop, extent, least, most)
    length = last - first if step > 0 else first - last
    size = step if step > 0 else -step
    return first, max((length + (size - 1)) // size, 0), step


def _clamped(end: Exp[Any], extent: Exp[Any], least: int, most: Exp[Any]) -> Exp[Any]:
    """An end within the dimension; a negative one counts from its end."""
    return max(min(select(end < 0, end + extent, end), most), least)


def _end(end: object, where: Where | None) -> Exp[Any] | None:
    return None if end is None else Exp(whole_typed(raw(end), "the end of a slice of update", where))


def _number(e: Exp[Any]) -> int | None:
    return int(e.node.value) if isinstance(e.node, Literal) else None


def _constant(number: int) -> Exp[Any]:
    return Exp(Literal(I64, number, here()))
