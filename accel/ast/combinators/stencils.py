"""`stencil` and `stencil2`: each element from its neighbourhood, as a `Map` that knows its index and loads from its array.

In: functions of neighbourhoods, boundaries, handles. Out: handles. The element itself comes as the map's own, so that a
stencil shares its loop with what else reads the array; neighbours are loads, whose indices `boundary.py` keeps inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Generic, Never, TypeVar, final, overload

import numpy as np

from accel.ast.combinators.boundary import Boundary
from accel.ast.combinators.elementwise import map_node
from accel.ast.handles.acc import DIM1, DIM2, DIM3, DIM4, DIM5, Acc, Array, Sh
from accel.ast.handles.checks import arrays_of
from accel.ast.handles.exp import E, Exp, raw
from accel.ast.handles.extents import LARGEST_EXTENT, equal_extents
from accel.ast.handles.function import apply, expect_exp, forbid_nested
from accel.ast.handles.literals import describe, require_definite
from accel.ast.handles.tuples import cond, index_of, unlift_items
from accel.ast.tree.nodes import Index, Parameter
from accel.ast.tree.structure import scalar_function
from accel.ast.tree.types import index_type
from accel.errors import AccelTypeError, AccelValueError, Where, here

E2 = TypeVar("E2")
F = TypeVar("F")


@final
class Neighbourhood(Generic[Sh, E]):
    """What the function of a stencil gets: `n(di, dj)` is the element at the index plus these constant offsets."""

    __slots__ = ("_array", "_boundary", "_element", "_index", "_name")

    def __init__(
        self, name: str, array: Acc[Array[Sh, E]], boundary: Boundary[Sh, E], element: Exp[E], *, index: Exp[Sh]
    ) -> None:
        self._name, self._array, self._boundary = name, array, boundary
        self._index, self._element = index, element

    @overload
    def __call__(self: Neighbourhood[DIM1, E], i: int, /) -> Exp[E]: ...
    @overload
    def __call__(self: Neighbourhood[DIM2, E], i: int, j: int, /) -> Exp[E]: ...
    @overload
    def __call__(self: Neighbourhood[DIM3, E], i: int, j: int, k: int, /) -> Exp[E]: ...
    @overload
    def __call__(self: Neighbourhood[DIM4, E], i: int, j: int, k: int, l: int, /) -> Exp[E]: ...  # noqa: E741
    @overload
    def __call__(self: Neighbourhood[DIM5, E], i: int, j: int, k: int, l: int, m: int, /) -> Exp[E]: ...  # noqa: E741
    def __call__(self, *offsets: int) -> Exp[Any]:
        """The neighbour. Raises `AccelTypeError` unless there is a Python int for each dimension of the array."""
        where = here()
        _require_offsets(self._name, offsets, self._array.rank, where)
        offsets = tuple(map(int, offsets))
        if not any(offsets):
            return self._element
        coordinates = unlift_items(self._name, self._index)
        extents = unlift_items(self._name, self._array.shape)
        moved, value = self._boundary.moved, self._boundary.value
        places = list(zip(coordinates, offsets, extents, strict=True))
        if moved is not None:
            return self._load(index_of([moved(*place) for place in places]), where)
        assert value is not None
        index = index_of([i + offset if offset else i for i, offset, _ in places])
        outside = Exp[Any](value(index, self._array.type.element, self._name, where))
        sides = [i + offset < 0 if offset < 0 else i + offset >= extent for i, offset, extent in places if offset]
        return cond(reduce(or_, sides), outside, self._load(index, where))

    if not TYPE_CHECKING:  # for mypy it is missing

        def __getitem__(self, offsets: object) -> Never:
            """Say how a neighbour is read."""
            hint = "write `n(-1)`, of a matrix `n(0, 1)`"
            raise AccelTypeError("a neighbour is read by a call, not by an index", here(), hint=hint)

        def _refuse(self, *_: object) -> Never:
            """Say that it is no element."""
            hint = f"write `n({', '.join('0' * self._array.rank)})` for the element itself"
            raise AccelTypeError("a neighbourhood is no element", here(), hint=hint)

        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _refuse
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _refuse
        __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __invert__ = _refuse

    def _load(self, index: Exp[Any], where: Where | None) -> Exp[Any]:
        return Exp(Index(self._array.node, index.node, self._array.type.element, where))

    def __repr__(self) -> str:
        return f"the neighbourhood of {self._name}, of rank {self._array.rank}"


def stencil(
    f: Callable[[Neighbourhood[Sh, E]], Exp[F]], boundary: Boundary[Sh, E], xs: Acc[Array[Sh, E]]
) -> Acc[Array[Sh, F]]:
    """`f(n)` at every element, where `n(di, dj)` is the element as many further along each dimension.

    Of rank 1 or more, with an offset for each dimension, a Python int: any, of any sign, also beyond the array. What `n` gives
    outside of the array, `boundary` says: one of `A.boundary`. The result has the shape of `xs`. Raises `AccelTypeError` for
    another number of offsets, offsets that are no ints, and boundaries of another element type. Accelerate's `stencil`.

    >>> import numpy as np
    >>> import accel as A
    >>> xs = A.use(np.array([1.0, 2.0, 4.0, 8.0]))
    >>> A.run(A.stencil(lambda n: n(1) - n(-1), A.boundary.clamp, xs))
    array([1., 3., 6., 4.])
    """
    return _stencil("stencil", f, (xs,), (boundary,))


def stencil2(
    f: Callable[[Neighbourhood[Sh, E], Neighbourhood[Sh, E2]], Exp[F]],
    b1: Boundary[Sh, E],
    xs: Acc[Array[Sh, E]],
    b2: Boundary[Sh, E2],
    ys: Acc[Array[Sh, E2]],
) -> Acc[Array[Sh, F]]:
    """`f(n, m)` at every element of two arrays of equal shape, with a neighbourhood and a boundary for each: see `stencil`.

    Unequal shapes raise `AccelShapeError`. Accelerate's `stencil2`, which takes the part that both shapes share.

    >>> import numpy as np
    >>> import accel as A
    >>> xs, ys = A.use(np.array([1.0, 2.0, 4.0])), A.use(np.array([3.0, 5.0, 7.0]))
    >>> A.run(A.stencil2(lambda n, m: n(-1) + m(1), A.boundary.constant(0), xs, A.boundary.wrap, ys))
    array([5., 8., 5.])
    """
    return _stencil("stencil2", f, (xs, ys), (b1, b2))


def _stencil(
    name: str, f: Callable[..., object], xs: Sequence[Acc[Any]], boundaries: Sequence[Boundary[Any, Any]]
) -> Acc[Any]:
    where = here()
    given = (f, *(each for pair in zip(boundaries, xs, strict=True) for each in pair))
    arrays = arrays_of(name, xs, where, given)
    for boundary in boundaries:
        if not isinstance(boundary, Boundary):
            hint = "one of `A.boundary`: `clamp`, `mirror`, `wrap`, `constant(v)`, `function(f)`"
            raise AccelTypeError(f"{name} takes a boundary, got {describe(boundary)}", where, hint=hint)
    extents = equal_extents(name, arrays, where)
    rank = arrays[0].rank
    if rank == 0:
        made = (("the array was made here:", arrays[0].node.where),)
        hint = "one element has no neighbours: write `A.map(f, xs)`"
        raise AccelTypeError(f"{name} takes an array of rank 1 or more, got rank 0", where, others=made, hint=hint)
    parameters = tuple(Parameter(kind, where) for kind in (index_type(rank), *(each.type.element for each in arrays)))
    index, *elements = map(Exp[Any], parameters)
    for array, boundary in zip(arrays, boundaries, strict=True):
        if boundary.value is not None:  # also where the function asks for nothing outside
            boundary.value(index, array.type.element, name, where)
    places = zip(arrays, boundaries, elements, strict=True)
    neighbourhoods = [Neighbourhood[Any, Any](name, *place, index=index) for place in places]
    what, kinds = f"the function of {name}", [each.type.element for each in arrays]
    value = expect_exp(apply(f, neighbourhoods, what, where), what, where, kinds)
    require_definite(value, f"the result of {what}", where)
    function = scalar_function(parameters, value)
    forbid_nested(name, (function,), where)
    return map_node(name, function, arrays, extents, where, indexed=True)


def _require_offsets(name: str, offsets: Sequence[object], rank: int, where: Where | None) -> None:
    if len(offsets) != rank:
        due = f"{rank} offset{'s' * (rank != 1)}, one for each dimension"
        hint = f"write `n({', '.join(['0'] * (rank - 1) + ['1'])})` for the next one of the innermost dimension"
        raise AccelTypeError(f"a neighbour in {name} needs {due}, got {len(offsets)}", where, hint=hint)
    for offset in offsets:
        if not isinstance(offset, int | np.integer) or isinstance(offset, bool):
            hint = (
                "offsets are known while the program is built; what stands at a computed place is read by `xs[index]`"
            )
            raise AccelTypeError(f"an offset in {name} is a Python int, got {describe(raw(offset))}", where, hint=hint)
        if abs(int(offset)) > LARGEST_EXTENT:
            hint = f"at most {LARGEST_EXTENT}, whichever way; what lies outside of the array the boundary says"
            raise AccelValueError(f"an offset in {name} is larger than any array: {offset}", where, hint=hint)
