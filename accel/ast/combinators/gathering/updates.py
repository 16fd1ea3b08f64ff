"""`update`: an array with a strided rectangular part replaced.

In: handles, slices as NumPy writes them. Out: a handle. It is a scatter to places of which no two are one, so the array is
changed in place where nobody else reads the old version, and copied before it otherwise.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, TypeAlias

from accel.ast.combinators.construct import generate
from accel.ast.combinators.permutations import placed_once
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

Part: TypeAlias = tuple[Exp[Any], Exp[Any], int]
"""Of one dimension: the first place, how many there are, and how far apart."""


def update(xs: Acc[Array[Sh, E]], view: View, values: Acc[Array[Sh, E]]) -> Acc[Array[Sh, E]]:
    """`xs` with the part `view` replaced by `values`, as `xs[view] = values` does in NumPy.

    view: a tuple of slices, one for each dimension (or of fewer, the others are taken whole), or one slice. Ends are ints or
    i64 expressions, negative ones count from the end, and beyond the ends there is nothing; steps are ints other than 0.
    `values` has the shape of the part (`AccelShapeError`) and the elements' type (`AccelTypeError`): nothing is broadcast.

        >>> A.run(A.update(A.fill((5,), 0), (slice(None, None, 2),), A.use(np.array([1, 2, 3]))))
        array([1, 0, 2, 0, 3])
    """
    where = here()
    array, given = arrays_of("update", (xs, values), where)
    slices = _slices(view, array, where)
    require_one_rank("update", (array, given), where)
    require_same_elements("update", {"xs": array, "view": None, "values": given}, where)
    if array.rank == 0:
        return given
    extents = zip(unlift_items("update", array.shape), array.extents, strict=True)
    parts = [_part(each, extent, known, where) for each, (extent, known) in zip(slices, extents, strict=True)]
    counts = [_number(count) for _, count, _ in parts]
    shape = tuple(count if known is None else known for (_, count, _), known in zip(parts, counts, strict=True))

    def place(ix: Exp[Any]) -> Exp[Any]:
        indices = unlift_items("update", ix)
        return index_of([first + k * step for k, (first, _, step) in zip(indices, parts, strict=True)])

    pairs = zip_arrays("update", (generate(shape, place), given), trim=False)
    return placed_once("update", array, pairs, where)


def _slices(view: object, array: Acc[Any], where: Where | None) -> list[builtins.slice[Any, Any, Any]]:
    """A slice for each dimension."""
    given: Sequence[object] = view if isinstance(view, tuple) else (view,)
    slices = [each for each in given if isinstance(each, builtins.slice)]
    if len(slices) < len(given):
        hint = "write `slice(start, stop)` or `slice(start, stop, step)` for each dimension"
        wrong = next(each for each in given if not isinstance(each, builtins.slice))
        raise AccelTypeError(f"update needs a tuple of slices, got {describe(raw(wrong))}", where, hint=hint)
    if len(slices) > array.rank:
        raise AccelTypeError(f"update by {len(slices)} slices of an array of rank {array.rank}", where)
    return [*slices, *[builtins.slice(None)] * (array.rank - len(slices))]


def _part(part: builtins.slice[Any, Any, Any], extent: Exp[Any], known: int | None, where: Where | None) -> Part:
    """What a slice picks of a dimension."""
    step = 1 if part.step is None else whole_number(part.step)
    if not isinstance(step, int) or isinstance(step, bool):
        hint = "where a step is computed choose by the index: `A.imap(lambda ix, x: A.cond(ix[0] % step == 0, value, x), xs)`"
        raise AccelTypeError(f"update needs an int as a step, got {describe(raw(step))}", where, hint=hint)
    if step == 0:
        raise AccelValueError("update: a step of 0 leads nowhere", where)
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
