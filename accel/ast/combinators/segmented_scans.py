"""Scans of segments: parts of the innermost dimension that follow each other, each as long as a descriptor says.

In: functions, seeds, handles, and the lengths of the segments as for `foldSeg` (`segments.py`). Out: handles. Results stand
side by side as the segments do, and there are none for elements behind the last segment. Each segment gives the bits that a
scan of it alone gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVarTuple

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.folds import UNSEEDED, fold_dimensions
from accel.ast.combinators.parts import take_inner
from accel.ast.combinators.segments import by_lengths, given
from accel.ast.handles.acc import Acc, Array, Vector, result_of
from accel.ast.handles.checks import inner_array, seed
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.extents import LARGEST_EXTENT
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.handles.literals import whole_typed
from accel.ast.handles.tuples import cond, unlift_items
from accel.ast.scalars.conversions import I, add, max, min
from accel.ast.tree.nodes import Direction, ScalarNode, ScanForm, ScanSegments
from accel.ast.tree.types import ArrayType, array_type
from accel.errors import Where, here

Ix = TypeVarTuple("Ix")

LEFT, RIGHT = Direction.LEFT, Direction.RIGHT


def scanlSeg(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]) -> Acc[Any]:
    """Running reductions of each segment from the left, `z` among them: one result more than elements for each segment.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `scanlSeg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.scanlSeg(A.add, 0, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    array([0, 1, 3, 0, 0, 3, 7])
    """
    return _longer("scanlSeg", f, z, xs, lengths, LEFT)


def scanlTotalSeg(
    f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]
) -> tuple[Acc[Any], Acc[Any]]:
    """Running reductions of each segment from the left, each without its own element; and the totals of the segments.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `scanl'Seg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.scanlTotalSeg(A.add, 0, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    (array([0, 1, 0, 3]), array([3, 0, 7]))
    """
    return _totals("scanlTotalSeg", f, z, xs, lengths, LEFT)


def prescanlSeg(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]) -> Acc[Any]:
    """Running reductions of each segment from the left, each without its own element.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `prescanlSeg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.prescanlSeg(A.add, 5, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    array([5, 6, 5, 8])
    """
    return _totals("prescanlSeg", f, z, xs, lengths, LEFT)[0]


def postscanlSeg(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]) -> Acc[Any]:
    """Running reductions of each segment from the left, each with its own element, `z` combined into each.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `postscanlSeg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.postscanlSeg(A.add, 5, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    array([ 6,  8,  8, 12])
    """
    return _seeded_afterwards("postscanlSeg", f, z, xs, lengths, LEFT)


def scanl1Seg(
    f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[tuple[*Ix, int], E]], lengths: Acc[Vector[I]]
) -> Acc[Array[tuple[*Ix, int], E]]:
    """Running reductions of each segment from the left, each with its own element. Segments may be empty.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `scanl1Seg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.scanl1Seg(A.add, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    array([1, 3, 3, 7])
    """
    return _scan("scanl1Seg", f, UNSEEDED, xs, lengths, LEFT, ScanForm.INCLUSIVE)[0]


def scanrSeg(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]) -> Acc[Any]:
    """Running reductions of each segment from the right, `z` among them: one result more than elements for each segment.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `scanrSeg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.scanrSeg(A.add, 0, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    array([3, 2, 0, 0, 7, 4, 0])
    """
    return _longer("scanrSeg", f, z, xs, lengths, RIGHT)


def scanrTotalSeg(
    f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]
) -> tuple[Acc[Any], Acc[Any]]:
    """Running reductions of each segment from the right, each without its own element; and the totals of the segments.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `scanr'Seg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.scanrTotalSeg(A.add, 0, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    (array([2, 0, 4, 0]), array([3, 0, 7]))
    """
    return _totals("scanrTotalSeg", f, z, xs, lengths, RIGHT)


def prescanrSeg(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]) -> Acc[Any]:
    """Running reductions of each segment from the right, each without its own element.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `prescanrSeg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.prescanrSeg(A.add, 5, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    array([7, 5, 9, 5])
    """
    return _totals("prescanrSeg", f, z, xs, lengths, RIGHT)[0]


def postscanrSeg(f: Callable[[Any, Any], object], z: object, xs: Acc[Any], lengths: Acc[Any]) -> Acc[Any]:
    """Running reductions of each segment from the right, each with its own element, `z` combined into each.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `postscanrSeg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.postscanrSeg(A.add, 5, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    array([ 8,  7, 12,  9])
    """
    return _seeded_afterwards("postscanrSeg", f, z, xs, lengths, RIGHT)


def scanr1Seg(
    f: Callable[[Exp[E], Exp[E]], Exp[E]], xs: Acc[Array[tuple[*Ix, int], E]], lengths: Acc[Vector[I]]
) -> Acc[Array[tuple[*Ix, int], E]]:
    """Running reductions of each segment from the right, each with its own element. Segments may be empty.

    Segments are as for `foldSeg`; there are results for what they hold only. Accelerate's `scanr1Seg`.

    >>> import numpy as np, accel as A
    >>> A.run(A.scanr1Seg(A.add, A.use(np.array([1, 2, 3, 4])), A.use(np.array([2, 0, 2]))))
    array([3, 2, 7, 4])
    """
    return _scan("scanr1Seg", f, UNSEEDED, xs, lengths, RIGHT, ScanForm.INCLUSIVE)[0]


def _longer(
    name: str, f: Callable[..., object], z: object, xs: object, lengths: object, direction: Direction
) -> Acc[Any]:
    """An exclusive scan of as many results more as there are segments."""
    return _scan(name, f, z, xs, lengths, direction, ScanForm.EXCLUSIVE)[0]


def _totals(
    name: str, f: Callable[..., object], z: object, xs: object, lengths: object, direction: Direction
) -> tuple[Acc[Any], Acc[Any]]:
    """An exclusive scan of as many results as elements, and the totals aside."""
    scanned, totals = _scan(name, f, z, xs, lengths, direction, ScanForm.TOTAL)
    return scanned, totals


def _seeded_afterwards(
    name: str, f: Callable[..., object], z: object, xs: object, lengths: object, direction: Direction
) -> Acc[Any]:
    """An inclusive scan with a seed, which is combined into each result."""
    where = here()
    array = inner_array(name, xs, where, (f, z, xs, lengths))
    start: Exp[Any] = Exp(seed(name, z, array.type.element, where))
    (inclusive,) = _scan(name, f, UNSEEDED, array, lengths, direction, ScanForm.INCLUSIVE)
    if direction is LEFT:
        return map_arrays(name, lambda x: f(start, x), (inclusive,))
    return map_arrays(name, lambda x: f(x, start), (inclusive,))


def _together(name: str, counts: Acc[Any], where: Where | None) -> Exp[Any]:
    """How many elements the segments have; if a length is none, more than there are, so that the first wrong one is found.

    Summed once more: the scan need not be done before the number of results is known, so it shares the loop over segments.
    """
    total, bits = [fold_dimensions(name, f, 0, counts, 1, where)[()] for f in (add, lambda a, b: a | b)]
    return cond((bits < 0) | (bits >= 2 * LARGEST_EXTENT), LARGEST_EXTENT, total)


def _scan(
    name: str, f: Callable[..., object], z: object, xs: object, lengths: object, direction: Direction, form: ScanForm
) -> tuple[Acc[Any], ...]:
    """The results of a scan, without a seed if `z` is `UNSEEDED`: one, or with `ScanForm.TOTAL` two."""
    where = here()
    array = inner_array(name, xs, where, given(f, z, xs, lengths))
    starts, ends, counts = by_lengths(name, lengths, where)
    extent = unlift_items(name, array.shape)[-1]
    # Also where lengths are wrong no more than there are, and no fewer than none: then the scan says which are wrong.
    cut = take_inner(name, max(min(_together(name, counts, where), extent), 0), array)
    element = array.type.element
    function = trace(f, (element, element), f"the function of {name}", where, result=element)
    initial = None if z is UNSEEDED else seed(name, z, element, where)
    forbid_nested(name, (function, initial), where)
    kinds: tuple[ArrayType, ...] = (array_type(array.rank, element),)
    longer: ScalarNode | None = None
    if form is ScanForm.EXCLUSIVE:
        results: Exp[Any] = unlift_items(name, cut.shape)[-1] + unlift_items(name, starts.shape)[0]
        longer = whole_typed(raw(results), "the number of results", where)
    if form is ScanForm.TOTAL:
        kinds = (*kinds, array_type(array.rank, element))
    node = ScanSegments(
        function, initial, cut.node, starts.node, ends.node, direction, form, longer, name, kinds, where
    )
    outer = array.extents[:-1]
    if form is not ScanForm.TOTAL:
        return (Acc(node, (*outer, None)),)
    return result_of(node, 0, (*outer, None)), result_of(node, 1, (*outer, *starts.extents))
