"""The errors of a running program: one function for each kind, so that every backend raises the same text.

In: numbers known when the program runs, and the places that nodes carry. Out: exceptions, for the caller to raise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType

from accel.ast.handles import extents as known_extents
from accel.ast.tree.types import ScalarType
from accel.errors import (
    AccelAssertionError,
    AccelError,
    AccelIndexError,
    AccelInternalError,
    AccelMemoryError,
    AccelShapeError,
    AccelValueError,
    AccelZeroDivisionError,
    Where,
)
from accel.labelled.array import Shape, SizeVariable
from accel.labelled.nodes import Equality

_ADDRESS_SPACE = 1 << 63
_WRAPS = 1 << 64
"""Where sums of 64 bits begin again."""


def index(position: Sequence[int], shape: Sequence[int], where: Where | None) -> AccelIndexError:
    """An index lies outside of an array."""
    message = f"index {tuple(position)} is out of bounds for an array of shape {tuple(shape)}"
    hint = "the last of n is `n - 1`; where an index may lie outside choose by `A.cond(i < n, …, …)`"
    if any(i < 0 for i in position):
        hint = "none counts from the end: the last of n is `n - 1`; where one may be negative choose by `A.cond(i >= 0, …, …)`"
    return AccelIndexError(message, where, hint=hint)


def require_inside(position: Sequence[int], shape: Sequence[int], where: Where | None) -> None:
    """Raises the error of `index` unless the position lies inside of the shape."""
    for i, extent in zip(position, shape, strict=True):
        if not 0 <= i < extent:
            raise index(position, shape, where)


def repeated(position: Sequence[int], where: Where | None) -> AccelValueError:
    """Two elements go to one place where the user promised that targets are distinct."""
    hint = "combine them by `permute` or `scatterWith`, or drop one of them"
    return AccelValueError(f"two elements go to index {tuple(position)}", where, hint=hint)


def division(spelt: str, where: Where | None) -> AccelZeroDivisionError:
    """A value depends on an integer that is divided by zero; `spelt` says on which."""
    hint = 'choose another value where the divisor is 0; with checks="bounds" the result is 0'
    return AccelZeroDivisionError(f"an integer is divided by zero: {spelt}", where, hint=hint)


def segment(bounds: Sequence[int], number: int, extent: int, name: str, where: Where | None) -> AccelShapeError:
    """The first segment of the combinator `name` that lies outside of the elements, or ends before it begins.

    Segments before it are right, so what the descriptor has for this one is wrong.
    """
    start, end = bounds
    if name in _BY_OFFSETS:
        if end < start:
            got, needed = f"{end} after {start} at index {number + 1}", "offsets that do not decrease"
        else:
            wrong, place = (start, number) if not 0 <= start <= extent else (end, number + 1)
            got, needed = f"{wrong} at index {place}", f"offsets from 0 to {extent}, the number of elements"
        hint = "segment k has the elements from `offsets[k]` to before `offsets[k + 1]`; an empty one has equal offsets"
    else:
        length = (end - start + _WRAPS // 2) % _WRAPS - _WRAPS // 2  # their sum may have wrapped
        got, needed = f"{length} at index {number}", "lengths that are not negative"
        if length >= 0:
            needed = f"lengths that come to at most {extent}, the number of elements"
            got = f"{start + length} with the {got}"
        hint = "an empty segment has length 0; elements behind the last segment are left out"
    return AccelShapeError(f"{name} needs {needed}, got {got}", where, hint=hint)


def require_segment(bounds: Sequence[int], number: int, extent: int, name: str, where: Where | None) -> None:
    """Raises the error of `segment` unless a segment from the first to before the second lies in the elements."""
    if not 0 <= bounds[0] <= bounds[1] <= extent:
        raise segment(bounds, number, extent, name, where)


_BY_OFFSETS = frozenset({"foldSegOffsets", "fold1SegOffsets"})
"""The combinators whose descriptor says where segments begin, not how long they are."""


def empty_row(name: str, shape: Sequence[int], where: Where | None, number: int | None = None) -> AccelValueError:
    """The fold without a seed that the user knows as `name` met rows without elements; `shape` is the folded array's.

    number: of the segment that is empty, if segments are folded.
    """
    message = f"{name} of an empty row: the array has shape {tuple(shape)}"
    if number is not None:
        message = f"{name} of an empty segment: the one at index {number}"
    hint = f"write {_SEEDED.get(name, '`fold`')} with an initial value"
    if name in _OF_PLACES:
        hint = "there is no place to give: choose by `A.acond(A.null(xs), …)`"
    return AccelValueError(message, where, hint=hint)


_OF_PLACES = frozenset({"argmin", "argmax"})
"""The folds that give where an element stands."""


_SEEDED: Mapping[str, str] = MappingProxyType(
    {
        "fold1All": "`foldAll`",
        "fold1Seg": "`foldSeg`",
        "fold1SegOffsets": "`foldSegOffsets`",
        "minimum": "`A.fold(A.min, z, xs)`",
        "maximum": "`A.fold(A.max, z, xs)`",
    }
)
"""How to write folds with a seed that are not `fold`."""


def reshape(before: Sequence[int], wanted: Sequence[int], where: Where | None) -> AccelShapeError:
    """A reshape to a shape of another size."""
    message = f"an array of shape {tuple(before)} cannot be reshaped to {tuple(wanted)}"
    return AccelShapeError(message, where, hint=known_extents.OTHER_SIZE)


def unequal(
    left: Sequence[int],
    right: Sequence[int],
    where: Where | None,
    left_where: Where | None,
    right_where: Where | None,
    name: str,
) -> AccelShapeError:
    """Two operands of the combinator `name` have different shapes."""
    return known_extents.unequal(name, str(tuple(left)), str(tuple(right)), where, left_where, right_where)


def required(
    left: Sequence[int],
    right: Sequence[int],
    where: Where | None,
    left_where: Where | None,
    right_where: Where | None,
    name: str,
    message: str | None,
) -> AccelError:
    """Two shapes are not equal that must be: operands', what became of a condition of the user, who gave `message`, or what
    `topK` and `subdivide` found and needed."""
    if message is not None:
        return AccelAssertionError(message, where, hint="the program states by `A.assert_` that this does not happen")
    if name == "topK":
        return known_extents.no_largest(left[0], right[0], where)
    if name == "subdivide":
        *shape, block = left
        axis = next(axis for axis, extent in enumerate(shape) if extent != right[axis])
        return known_extents.undivided(tuple(shape), axis, block, where, left_where)
    return unequal(left, right, where, left_where, right_where, name)


def is_too_large(element: ScalarType, shape: Sequence[int]) -> bool:
    """Whether no machine can hold such an array, as NumPy counts: without the extents that are zero."""
    return prod(extent or 1 for extent in shape) * element.bytes >= _ADDRESS_SPACE


def too_large(element: ScalarType, shape: Sequence[int], where: Where | None) -> AccelShapeError:
    """More bytes than an address can count: see `is_too_large`."""
    message = f"an array of {element} of shape {tuple(shape)} is too large for the address space"
    return AccelShapeError(message, where, hint=known_extents.SMALLER)


def no_memory(element: ScalarType, shape: Sequence[int], where: Where | None) -> AccelMemoryError:
    """The machine has not enough memory for an array."""
    size = prod(shape) * element.bytes
    message = f"no memory for an array of {element} of shape {tuple(shape)}: {size} bytes"
    return AccelMemoryError(message, where, hint=known_extents.LESS_MEMORY)


def arguments(
    own_shapes: Sequence[Shape],
    equalities: Sequence[Equality],
    shapes: Sequence[Sequence[int]],
    arity: Sequence[int],
) -> AccelError:
    """The error of a call whose arguments do not fit: the first equality that fails, else a malformed argument.

    `shapes` are those of all leaves in order, `arity` says how many leaves each parameter has.
    """
    values: dict[SizeVariable, int] = {}
    position = 0
    for number, (own, count) in enumerate(zip(own_shapes, arity, strict=True)):
        leaves = [tuple(shape) for shape in shapes[position : position + count]]
        position += count
        for leaf in leaves:
            if len(leaf) != len(own) or leaf != leaves[0]:
                message = f"argument {number} must have rank {len(own)} in every part, got shapes {leaves}"
                return AccelShapeError(message, hint="the parts of an array of tuples have one shape")
        for extent, actual in zip(own, leaves[0] if leaves else (), strict=False):
            if extent.variable is not None:
                values[extent.variable] = actual - extent.offset
    for equality in equalities:
        left, right = extents(equality.left, values), extents(equality.right, values)
        if left != right:
            return unequal(left, right, equality.where, equality.left_where, equality.right_where, equality.name)
    return AccelInternalError(f"arguments of shapes {list(shapes)} were refused, but no equality fails")


def extents(shape: Shape, values: dict[SizeVariable, int]) -> tuple[int, ...]:
    """The shape as numbers. Raises `AccelInternalError` for a size variable without a value."""
    try:
        return tuple(e.offset if e.variable is None else values[e.variable] + e.offset for e in shape)
    except KeyError as error:
        raise AccelInternalError(f"size variable {error.args[0]} has no value") from error
