"""Products of arrays whose axes have names, summed over the names that the result lacks: what all linear algebra here is.

In: arrays with a name for each axis. Out: one. A product is the same program whoever asks for it, made of nothing but

    fold(add, 0, zipWith(mul, replicate(…, xs), replicate(…, ys)))

with the axes of the result outside, and those that are summed innermost. Of bools it is `fold(or, False, zipWith(and, …))`,
as in NumPy. Raises `AccelShapeError` where extents of one name differ, and `AccelTypeError` for elements that have no product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.folds import fold_dimensions
from accel.ast.combinators.reorder import All, permuted, slice
from accel.ast.handles.acc import Acc
from accel.ast.handles.checks import arrays_of, conversion
from accel.ast.handles.exp import Exp
from accel.ast.handles.extents import show
from accel.ast.handles.tuples import index_of, unlift_items
from accel.ast.scalars.conversions import add, apply, mul
from accel.ast.tree.nodes import Replicate, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, ComplexType, ScalarType, array_type
from accel.errors import AccelShapeError, AccelTypeError, Where
from accel.support.dataclass import frozen
from accel.support.source import texts


@frozen
class Factor:
    """An array with a name for each of its axes, outermost first. No name stands twice."""

    array: Acc[Any]
    axes: tuple[str, ...]


def factors_of(name: str, values: Sequence[object], where: Where | None) -> tuple[Acc[Any], ...]:
    """The arrays that `name` multiplies: all of one type of numbers, or of bools."""
    arrays = arrays_of(name, values, where)
    first = arrays[0].type.element
    for array in arrays:
        element = array.type.element
        if not isinstance(element, ScalarType | ComplexType):
            hint = "`A.rnz(reduce, zip, xs, ys)` takes functions of your own"
            raise AccelTypeError(
                f"{name} takes arrays of numbers or bools, got elements of type {element}", where, hint=hint
            )
        if element != first:
            places = tuple(
                (f"the {each.type.element} array was made here:", each.node.where) for each in (arrays[0], array)
            )
            message = f"{name} needs arrays of one element type, got {first} and {element}"
            say = conversion(arrays, texts(name, where, ("xs", "ys")))
            raise AccelTypeError(message, where, others=places, hint=say)
    return arrays


def contracted(name: str, factors: Sequence[Factor], result: Sequence[str], where: Where | None) -> Factor:
    """The product of the factors, with the axes `result` in this order, summed over all others.

    These are summed as one row, in the order in which the factors have them first.
    """
    summed = [axis for axis in union(factors) if axis not in result]
    order = (*result, *summed)
    whole = _product(name, factors, order, where)
    if not summed:
        return Factor(whole.array, tuple(result))
    if whole.array.type.element is BOOL:
        return Factor(fold_dimensions(name, _either, False, whole.array, len(summed), where), tuple(result))
    return Factor(fold_dimensions(name, add, 0, whole.array, len(summed), where), tuple(result))


def union(factors: Sequence[Factor]) -> tuple[str, ...]:
    """The names that the factors have, in the order in which they first stand."""
    return tuple(dict.fromkeys(axis for factor in factors for axis in factor.axes))


def repeated(factors: Sequence[Factor], axes: frozenset[str]) -> list[Factor]:
    """The factors without those of the `axes` along which they have extent 1, and another factor has more, or may have.

    NumPy repeats such arrays. Only an extent that is known while the program is built does so.
    """
    longer = {
        axis
        for factor in factors
        for axis, extent in zip(factor.axes, factor.array.extents, strict=True)
        if axis in axes and extent != 1
    }
    return [_without_ones(factor, longer) for factor in factors]


def require_equal(name: str, factors: Sequence[Factor], where: Where | None) -> None:
    """Raises `AccelShapeError` if two extents of one name are known and differ."""
    known: dict[str, tuple[int, Acc[Any]]] = {}
    for factor in factors:
        for axis, extent in zip(factor.axes, factor.array.extents, strict=True):
            if extent is None:
                continue
            first, giver = known.setdefault(axis, (extent, factor.array))
            if first != extent:
                raise unequal_extents(name, giver, factor.array, first, extent, where)


def unequal_extents(
    name: str, left: Acc[Any], right: Acc[Any], first: int, second: int, where: Where | None
) -> AccelShapeError:
    """Two axes that must have one extent have two."""
    shapes = show(left.extents), show(right.extents)
    places = tuple(
        (f"{shape} was made here:", each.node.where) for shape, each in zip(shapes, (left, right), strict=True)
    )
    message = f"{name} of {shapes[0]} and {shapes[1]} needs equal extents where it has {first} and {second}"
    hint = "`A.transpose` exchanges the axes of a matrix; `A.takeOn(axis, n, xs)` takes a part of an array"
    return AccelShapeError(message, where, others=places, hint=hint)


def _product(name: str, factors: Sequence[Factor], order: Sequence[str], where: Where | None) -> Factor:
    """The factors multiplied from the left, with the axes `order`; each product has no more axes than its factors."""
    product, *others = factors
    for other in others:
        both = [axis for axis in order if axis in product.axes or axis in other.axes]
        product = _pair(name, product, other, both, where)
    return _lined_up(product, order, [product], where)


def _pair(name: str, left: Factor, right: Factor, axes: Sequence[str], where: Where | None) -> Factor:
    lined = [_lined_up(factor, axes, (left, right), where).array for factor in (left, right)]
    times = _both if lined[0].type.element is BOOL else mul
    return Factor(map_arrays(name, times, lined), tuple(axes))


def _lined_up(factor: Factor, axes: Sequence[str], extents: Sequence[Factor], where: Where | None) -> Factor:
    """The factor transposed to the order of `axes`, and repeated along those that it lacks, whose extents others have."""
    array = _transposed(factor, [axis for axis in axes if axis in factor.axes])
    if len(factor.axes) == len(axes):
        return Factor(array, tuple(axes))
    spec: list[ScalarNode | None] = []
    known: list[int | None] = []
    own = iter(array.extents)
    for axis in axes:
        if axis in factor.axes:
            spec.append(None)
            known.append(next(own))
        else:
            extent, number = _extent(axis, extents)
            spec.append(extent.node)
            known.append(number)
    kind = array_type(len(axes), array.type.element)
    # It stands where the factor was made: an error about its shape is about that.
    node = Replicate(tuple(spec), array.node, (kind,), factor.array.node.where or where)
    return Factor(Acc(node, tuple(known)), tuple(axes))


def _extent(axis: str, factors: Sequence[Factor]) -> tuple[Exp[np.int64], int | None]:
    """The extent of an axis, and the number if it is known."""
    holders = [(factor.array, factor.axes.index(axis)) for factor in factors if axis in factor.axes]
    array, at = next((each for each in holders if each[0].extents[each[1]] is not None), holders[0])
    return unlift_items("the shape", array.shape)[at], array.extents[at]


def _transposed(factor: Factor, axes: Sequence[str]) -> Acc[Any]:
    """The array with its own axes in another order."""
    array = factor.array
    if list(factor.axes) == list(axes):
        return array
    source = [factor.axes.index(axis) for axis in axes]
    target = [axes.index(axis) for axis in factor.axes]
    extents = unlift_items("transpose", array.shape)
    return permuted(
        "transpose",
        index_of([extents[at] for at in source]),
        lambda ix: index_of([unlift_items("transpose", ix)[at] for at in target]),
        array,
        shrinking=True,
        known=tuple(array.extents[at] for at in source),
    )


def _without_ones(factor: Factor, axes: set[str]) -> Factor:
    pairs = list(zip(factor.axes, factor.array.extents, strict=True))
    kept = tuple(axis for axis, extent in pairs if extent != 1 or axis not in axes)
    if kept == factor.axes:
        return factor
    return Factor(slice(factor.array, tuple(All if axis in kept else 0 for axis in factor.axes)), kept)


def _both(x: Exp[np.bool_], y: Exp[np.bool_]) -> Exp[np.bool_]:
    return apply(Operator.AND, "and", x, y)


def _either(x: Exp[np.bool_], y: Exp[np.bool_]) -> Exp[np.bool_]:
    return apply(Operator.OR, "or", x, y)
