"""The same elements in another shape or order: `reshape`, `replicate`, `slice`, `backpermute`, `gather`.

In: shapes, functions, handles. Out: handles. Raises `AccelTypeError` for ranks, `AccelShapeError` and `AccelIndexError` for
what is known while the program is built. What depends on a rank is typed in `overloads.pyi`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Never, TypeVar, final, overload

import numpy as np

from accel.ast.handles.acc import Acc, Array, Extents, Sh, Vector
from accel.ast.handles.checks import arrays_of
from accel.ast.handles.exp import E, raw
from accel.ast.handles.extents import OTHER_SIZE, product, require_extents, show
from accel.ast.handles.function import forbid_nested, trace
from accel.ast.handles.literals import describe, whole_typed
from accel.ast.handles.shapes import shape_of
from accel.ast.handles.tuples import shapeSize
from accel.ast.tree.nodes import Backpermute, Gather, Literal, MakeTuple, Replicate, Reshape, ScalarNode, Slice
from accel.ast.tree.types import I64, ScalarType, TupleType, array_type, index_type
from accel.errors import AccelIndexError, AccelShapeError, AccelTypeError, Where, here
from accel.support.source import texts

Sh2 = TypeVar("Sh2", bound=tuple[Any, ...])


@final
class AllType:
    """The type of `All`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "All"

    if not TYPE_CHECKING:  # for mypy it is no function

        def __call__(self, *_: object, **__: object) -> Never:
            """Say that it stands for itself."""
            hint = "write `A.All`, without parentheses: `A.replicate((n, A.All), xs)`"
            raise AccelTypeError("All stands for a whole dimension, and is no function", here(), hint=hint)


All: Final = AllType()
"""In `replicate` and `slice`: this dimension is kept whole."""


def reshape(sh: object, xs: Acc[Any]) -> Acc[Any]:
    """The elements of `xs` in row-major order under another shape of equal size; another size raises `AccelShapeError`.

    >>> A.run(A.reshape((3, 2), A.use(np.arange(6).reshape(2, 3))))
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    where = here()
    (array,) = arrays_of("reshape", (xs,), where, (sh, xs))
    shape, extents = shape_of("reshape", sh, where)
    forbid_nested("reshape", (shape,), where)
    old, new = product(array.extents), product(extents)
    if old is not None and new is not None and old != new:
        message = f"reshape from {show(array.extents)} to {show(extents)}: {old} elements cannot become {new}"
        others = (("the array was made here:", array.node.where),)
        raise AccelShapeError(message, where, others=others, hint=OTHER_SIZE)
    return reshaped("reshape", shape, extents, array, where)


def flatten_array(name: str, xs: object, given: Sequence[object] = ()) -> Acc[Any]:
    """All elements in row-major order as a vector; the vector itself if it is one. `given` as for `arrays_of`."""
    where = here()
    (array,) = arrays_of(name, (xs,), where, given)
    if array.rank == 1:
        return array
    shape = MakeTuple((shapeSize(array.shape).node,), index_type(1), where)
    return reshaped(name, shape, (product(array.extents),), array, where)


def replicate(slix: object, xs: Acc[Any]) -> Acc[Any]:
    """`xs` repeated: `slix` has an extent for each new dimension, and `All` for each of the array's.

    A negative extent raises `AccelShapeError`.

    >>> A.run(A.replicate((2, A.All), A.use(np.arange(5))))
    array([[0, 1, 2, 3, 4],
           [0, 1, 2, 3, 4]])
    """
    where = here()
    (array,) = arrays_of("replicate", (xs,), where, (slix, xs))
    entries = _spec("replicate", slix, where)
    kept = entries.count(None)
    if kept != array.rank:
        message = f"replicate by {_show_spec(slix)} keeps {kept} dimensions, but the array has rank {array.rank}"
        raise AccelTypeError(message, where, hint="one `A.All` for each dimension of the array")
    forbid_nested("replicate", entries, where)
    inner = iter(array.extents)
    extents = tuple(next(inner) if entry is None else _literal(entry) for entry in entries)
    require_extents(extents, where, "replicate")
    kind = array_type(len(entries), array.type.element)
    return Acc(Replicate(entries, array.node, (kind,), where), extents)


def slice(xs: Acc[Any], slix: object) -> Acc[Any]:
    """A part of fewer dimensions: `slix` has an index for each dimension to fix, and `All` for each to keep.

    An index outside of its dimension raises `AccelIndexError`, where it picks any element.

    >>> A.run(A.slice(A.use(np.arange(6).reshape(2, 3)), (1, A.All)))
    array([3, 4, 5])
    """
    where = here()
    (array,) = arrays_of("slice", (xs,), where, (xs, slix))
    entries = _spec("slice", slix, where)
    if len(entries) != array.rank:
        message = f"slice by {_show_spec(slix)} of {len(entries)} dimensions, but the array has rank {array.rank}"
        raise AccelTypeError(message, where, hint="one index or `A.All` for each dimension of the array")
    forbid_nested("slice", entries, where)
    extents = tuple(extent for entry, extent in zip(entries, array.extents, strict=True) if entry is None)
    for axis, (entry, extent) in enumerate(zip(entries, array.extents, strict=True)):
        index = None if entry is None else _literal(entry)
        if index is not None and (index < 0 or (extent is not None and index >= extent and 0 not in extents)):
            bound = "" if extent is None else f" of extent {extent}"
            hint = "the last of n is `n - 1`" if index >= 0 else "none counts from the end: the last of n is `n - 1`"
            raise AccelIndexError(f"slice picks index {index} of dimension {axis}{bound}", where, hint=hint)
    kind = array_type(len(extents), array.type.element)
    return Acc(Slice(array.node, entries, (kind,), where), extents)


def backpermute(sh: object, f: Callable[[Any], object], xs: Acc[Any]) -> Acc[Any]:
    """`result[ix] = xs[f(ix)]` for every index of shape `sh`. An index outside of `xs` raises `AccelIndexError`.

    >>> A.run(A.backpermute((5,), lambda ix: A.index(4 - A.indexHead(ix)), A.use(np.arange(5))))
    array([4, 3, 2, 1, 0])
    """
    return permuted("backpermute", sh, f, xs, shrinking=False)


def permuted(
    name: str,
    sh: object,
    f: Callable[..., object],
    xs: object,
    *,
    shrinking: bool,
    known: Extents | None = None,
) -> Acc[Any]:
    """A backpermute that the user knows as `name`; `shrinking` if it never has more elements than `xs`."""
    where = here()
    (array,) = arrays_of(name, (xs,), where)
    shape, extents = shape_of(name, sh, where)
    target = index_type(array.rank)
    function = trace(f, (index_type(len(extents)),), f"the function of {name}", where, result=target)
    forbid_nested(name, (shape, function), where)
    kind = array_type(len(extents), array.type.element)
    node = Backpermute(shape, function, array.node, shrinking, name, (kind,), where)
    return Acc(node, extents if known is None else known)


@overload
def gather(indices: Acc[Array[Sh, np.int64]], xs: Acc[Vector[E]]) -> Acc[Array[Sh, E]]: ...
@overload
def gather(indices: Acc[Array[Sh, Sh2]], xs: Acc[Array[Sh2, E]]) -> Acc[Array[Sh, E]]: ...
def gather(indices: Acc[Any], xs: Acc[Any]) -> Acc[Any]:
    """`result[ix] = xs[indices[ix]]`; indices are i64 for a vector, tuples of them for other ranks.

    An index outside of `xs` raises `AccelIndexError`.

    >>> A.run(A.gather(A.use(np.array([4, 0, 0])), A.use(np.arange(5))))
    array([4, 0, 0])
    """
    where = here()
    at, array = arrays_of("gather", (indices, xs), where)
    require_indices("gather", at, array, where)
    kind = array_type(at.rank, array.type.element)
    return Acc(Gather(at.node, array.node, (kind,), where), at.extents)


def require_indices(name: str, at: Acc[Any], array: Acc[Any], where: Where | None) -> None:
    """Raises `AccelTypeError` unless the elements of `at` are indices into `array`."""
    element = at.type.element
    if element == index_type(array.rank) or (element is I64 and array.rank == 1):
        return
    due = "i64" if array.rank == 1 else str(index_type(array.rank))
    hint, swapped = "an index has one number for each dimension: `A.map(lambda i: A.index(i, …), indices)`", None
    if array.rank == 1:
        hint = "integers of 64 bits, such as `A.map(A.floor, indices)` of floats"
    if name == "gather" and (array.type.element is I64 or array.type.element == index_type(array.rank)):
        source, places = texts("gather", where, ("xs", "indices"))
        swapped = f"write `A.gather({places}, {source})`"
        hint = f"the indices come first: {swapped}"
    if array.rank == 1 and isinstance(element, ScalarType) and element.is_integer:
        hint = "convert them: `A.map(lambda i: A.fromIntegral(i, np.int64), indices)`"
        if swapped is not None:  # either of the two may be meant as the indices
            hint += f"; if the second array has the indices, {swapped}"
    raise AccelTypeError(
        f"{name} from an array of rank {array.rank} needs indices of type {due}, got {element}", where, hint=hint
    )


def reshaped(name: str, shape: ScalarNode, extents: Extents, array: Acc[Any], where: Where | None) -> Acc[Any]:
    """The array's elements under a shape of which these extents are known, by a combinator that the user knows as `name`."""
    assert isinstance(shape.type, TupleType)
    kind = array_type(len(shape.type.items), array.type.element)
    return Acc(Reshape(shape, array.node, name, (kind,), where), extents)


def _spec(name: str, spec: object, where: Where | None) -> tuple[ScalarNode | None, ...]:
    if not isinstance(spec, tuple):
        hint = "write a tuple, of one entry as well: `(A.All,)`"
        raise AccelTypeError(
            f"{name} needs a tuple of extents or indices and `A.All`, got {describe(raw(spec))}", where, hint=hint
        )
    return tuple(
        None if entry is All else whole_typed(raw(entry), f"entry {i} of {name}'s tuple", where)
        for i, entry in enumerate(spec)
    )


def _show_spec(spec: object) -> str:
    assert isinstance(spec, tuple)
    inner = ", ".join(str(entry) if isinstance(entry, (int, AllType)) else "…" for entry in spec)
    return f"({inner},)" if len(spec) == 1 else f"({inner})"


def _literal(node: ScalarNode) -> int | None:
    return int(node.value) if isinstance(node, Literal) else None
