"""Folds of segments: parts of the innermost dimension that follow each other, each as long as a descriptor says.

In: functions, seeds, handles, and a descriptor: the lengths of the segments, or the offsets at which they begin and end. Out:
handles. A descriptor has elements of any integer type; every row of the array is divided in the same way. What does not
describe segments of the array raises `AccelShapeError` when run. Each segment gives the bits that a fold of it alone gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVarTuple

import numpy as np

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.folds import UNSEEDED, scan_total
from accel.ast.combinators.reorder import permuted
from accel.ast.handles.acc import Acc, Array, Vector
from accel.ast.handles.checks import arrays_of, inner_array, seed
from accel.ast.handles.exp import E, Exp
from accel.ast.handles.extents import require_extents
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.handles.tuples import index_of, unlift_items
from accel.ast.scalars.conversions import I, add
from accel.ast.scalars.floats import fromIntegral
from accel.ast.tree.nodes import Direction, FoldSegments
from accel.ast.tree.types import ScalarType, array_type
from accel.errors import AccelTypeError, Where, here

Ix = TypeVarTuple("Ix")


def foldSeg(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]) -> Acc[Any]:
    """Each segment of the innermost dimension reduced by the associative `f` from `z`; an empty segment gives `z`.

    Segment k has `lengths[k]` elements; what is left behind the last segment is not looked at. A negative length raises
    `AccelShapeError` when run, as do lengths that come to more elements than there are. Accelerate's `foldSeg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.foldSeg(A.add, 0, A.use(np.array([1, 2, 3, 4, 5])), A.use(np.array([2, 0, 3]))))
    array([ 3,  0, 12])
    """
    return _by_lengths("foldSeg", f, z, xs, lengths)


def fold1Seg(
    f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[tuple[*Ix, int], E]], lengths: Acc[Vector[I]]
) -> Acc[Array[tuple[*Ix, int], E]]:
    """Each segment of the innermost dimension reduced by the associative `f`.

    An empty segment raises `AccelValueError` when run. Segments are as for `foldSeg`. Accelerate's `fold1Seg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.fold1Seg(A.max, A.use(np.array([1, 4, 3, 2, 5])), A.use(np.array([3, 1]))))
    array([4, 2])
    """
    return _by_lengths("fold1Seg", f, UNSEEDED, xs, lengths)


def foldSegOffsets(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], offsets: Acc[Any]) -> Acc[Any]:
    """Each segment of the innermost dimension reduced by the associative `f` from `z`; an empty segment gives `z`.

    Segment k has the elements from `offsets[k]` to before `offsets[k + 1]`, so there is one segment less than offsets. No
    offsets at all, offsets that decrease, and offsets outside of the array raise `AccelShapeError` when run.
    Accelerate's `foldSeg'`.

    >>> import numpy as np, accel as A
    >>> A.run(A.foldSegOffsets(A.add, 0, A.use(np.array([1, 2, 3, 4, 5])), A.use(np.array([0, 2, 2, 5]))))
    array([ 3,  0, 12])
    """
    return _by_offsets("foldSegOffsets", f, z, xs, offsets)


def fold1SegOffsets(
    f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[tuple[*Ix, int], E]], offsets: Acc[Vector[I]]
) -> Acc[Array[tuple[*Ix, int], E]]:
    """Each segment of the innermost dimension reduced by the associative `f`.

    An empty segment raises `AccelValueError` when run.     Segments are as for `foldSegOffsets`. Accelerate's `fold1Seg'`.

    >>> import numpy as np, accel as A
    >>> A.run(A.fold1SegOffsets(A.min, A.use(np.array([4, 1, 3, 2])), A.use(np.array([1, 2, 4]))))
    array([1, 2])
    """
    return _by_offsets("fold1SegOffsets", f, UNSEEDED, xs, offsets)


def _by_lengths(name: str, f: Callable[..., object], z: object, xs: object, lengths: object) -> Acc[Any]:
    where = here()
    array = inner_array(name, xs, where, given(f, z, xs, lengths))
    starts, ends, _ = by_lengths(name, lengths, where)
    return _fold(name, f, z, array, starts, ends, where)


def by_lengths(name: str, lengths: object, where: Where | None) -> tuple[Acc[Any], Acc[Any], Acc[Any]]:
    """Where segments of those lengths begin and end, and the lengths, as vectors of i64."""
    counts = _descriptor(name, lengths, where)
    # A sum that wraps is noticed: each segment's length is compared with what there is, from the first segment on.
    starts, _ = scan_total(name, add, 0, counts, Direction.LEFT)
    ends = map_arrays(name, lambda start, count: start + count, (starts, counts))
    return starts, ends, counts


def _by_offsets(name: str, f: Callable[..., object], z: object, xs: object, offsets: object) -> Acc[Any]:
    where = here()
    array = inner_array(name, xs, where, given(f, z, xs, offsets))
    places = _descriptor(name, offsets, where)
    (known,), (extent,) = places.extents, unlift_items(name, places.shape)
    segments = (None if known is None else known - 1,)
    require_extents(segments, where, name)

    def part(first: int) -> Acc[Any]:
        def source(ix: Exp[Any]) -> Exp[Any]:
            return index_of([item + first for item in unlift_items(name, ix)])

        return permuted(name, index_of([extent - 1]), source, places, shrinking=True, known=segments)

    return _fold(name, f, z, array, part(0), part(1), where)


def _descriptor(name: str, value: object, where: Where | None) -> Acc[Any]:
    """A vector of integers, as i64."""
    (vector,) = arrays_of(name, (value,), where)
    kind, made = vector.type.element, (("the descriptor was made here:", vector.node.where),)
    if vector.rank != 1:
        hint = "it is a vector, by which all rows are divided alike"
        raise AccelTypeError(
            f"{name} takes a descriptor of rank 1, got rank {vector.rank}", where, others=made, hint=hint
        )
    if not isinstance(kind, ScalarType) or not kind.is_integer:
        hint = "it holds the length of each segment, or, by `foldSegOffsets`, where each begins"
        raise AccelTypeError(f"{name} takes a descriptor of integers, got {kind}", where, others=made, hint=hint)
    return map_arrays(name, lambda each: fromIntegral(each, np.int64), (vector,))


def _fold(
    name: str,
    f: Callable[..., object],
    z: object,
    array: Acc[Any],
    starts: Acc[Any],
    ends: Acc[Any],
    where: Where | None,
) -> Acc[Any]:
    element = array.type.element
    function = trace(f, (element, element), f"the function of {name}", where, result=element)
    initial = None if z is UNSEEDED else seed(name, z, element, where)
    forbid_nested(name, (function, initial), where)
    kind = array_type(array.rank, element)
    node = FoldSegments(function, initial, array.node, starts.node, ends.node, name, (kind,), where)
    return Acc(node, (*array.extents[:-1], *starts.extents))


def given(f: Callable[..., object], z: object, xs: object, descriptor: object) -> tuple[object, ...]:
    """The arguments of a fold of segments as the user gave them."""
    return (f, xs, descriptor) if z is UNSEEDED else (f, z, xs, descriptor)
