"""`einsum`: products of any number of arrays, summed over the axes that the result lacks, as `np.einsum` has them.

In: subscripts, handles of one element type, in which order to multiply. Out: a handle. Each step is one contraction
(`contraction.py`), so of two arrays `einsum` is the same program as `matmul` or `tensordot`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypeAlias, TypeVar

import numpy as np

from accel.ast.combinators.construct import generate
from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.linear_algebra.contraction import (
    Factor,
    contracted,
    factors_of,
    repeated,
    require_equal,
    unequal_extents,
    union,
)
from accel.ast.combinators.linear_algebra.subscripts import ELLIPSIS, subscripts_of
from accel.ast.combinators.reorder import permuted
from accel.ast.handles.acc import Acc, Array
from accel.ast.handles.literals import describe
from accel.ast.handles.tuples import constant, index_of, unlift_items
from accel.errors import AccelTypeError, AccelValueError, Where, here
from accel.support.shown import shown

B = TypeVar("B", bound=np.generic)

Path: TypeAlias = Sequence[Sequence[int] | str]
"""Which arrays are multiplied first, as `np.einsum_path` gives it: positions, whose product then stands last."""


def einsum(subscripts: str, *xs: Acc[Array[Any, B]], path: Path | None = None) -> Acc[Array[Any, B]]:
    """The product of the arrays, summed over each axis that the result lacks: `"ij,jk->ik"` is the matrix product.

    Subscripts are NumPy's: a letter for each axis, twice in one array for its diagonal; `...` for further axes, lined up from
    the innermost and repeated where an extent is known to be 1, as along a letter it is not; without `->` the result has the
    letters that stand once, sorted.

    Without a `path` an axis that one array alone has is summed first, arrays whose axes another has as well multiply that one,
    and a pair from the left is multiplied by itself if that takes fewer loops around each other than all at once. So of
    `einsum("ij,jk,j->ik", a, b, g)` the first and the last are multiplied where they are read, and the innermost loop
    has one product ([Ber] eq. 2). Sizes are not looked at. A `path` is followed as it is, that of `np.einsum_path` too.

    Extents that differ raise `AccelShapeError`, ranks and types `AccelTypeError`, other mistakes `AccelValueError`.

        >>> m = A.use(np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> A.run(A.einsum("ii", m))
        array(5.)
    """
    where = here()
    if not isinstance(subscripts, str):
        hint = 'write `A.einsum("ij,jk->ik", xs, ys)`'
        raise AccelTypeError(f"einsum needs a text of subscripts, got {describe(subscripts)}", where, hint=hint)
    if not xs:
        raise AccelTypeError("einsum needs one array at least", where, hint='write `A.einsum("ij,jk->ik", xs, ys)`')
    arrays = factors_of("einsum", xs, where)
    names = subscripts_of(subscripts, [array.rank for array in arrays], where)
    pairs = zip(arrays, names.operands, strict=True)
    factors: Sequence[Factor] = [_without_diagonals(array, axes, where) for array, axes in pairs]
    dots = frozenset(axis for factor in factors for axis in factor.axes if axis.startswith(ELLIPSIS))
    factors = repeated(factors, dots)
    require_equal("einsum", factors, where)
    steps = _Steps(list(factors), names.result, where)
    if path is None:
        steps.by_axes()
    else:
        steps.by(path)
    return contracted("einsum", steps.factors, names.result, where).array


class _Steps:
    """The factors that are left."""

    def __init__(self, factors: list[Factor], result: tuple[str, ...], where: Where | None) -> None:
        self.factors = factors
        self._result = result
        self._where = where

    def by(self, path: Path) -> None:
        """Multiply as the path says."""
        steps = list(path)
        if steps and isinstance(steps[0], str):  # NumPy's says "einsum_path" first
            steps = steps[1:]
        for step in steps:
            count = len(self.factors)
            if isinstance(step, str) or not step or not all(isinstance(at, int) and 0 <= at < count for at in step):
                hint = "a step has the positions of arrays that are left; their product stands last: `[(0, 2), (0, 1)]`"
                raise AccelValueError(
                    f"einsum's path has a step {shown(step)} where {count} arrays are left", self._where, hint=hint
                )
            if len(set(step)) != len(step):
                hint = "what a step multiplies is left no more, and their product stands last: `[(0, 2), (0, 1)]`"
                raise AccelValueError(f"einsum's path has an array twice in {shown(step)}", self._where, hint=hint)
            self._multiply([int(at) for at in step], len(self.factors) - len(step))

    def by_axes(self) -> None:
        """Multiply what needs no loops of its own, then pairs that need fewer loops than all factors together."""
        while len(self.factors) > 1:
            if self._sum_alone() or (len(self.factors) > 2 and (self._absorb() or self._pair())):
                continue
            return

    def _sum_alone(self) -> bool:
        """Sum, in one factor, the axes that no other has."""
        for at, factor in enumerate(self.factors):
            if set(factor.axes) - self._needed([at]):
                self._multiply([at], at)
                return True
        return False

    def _absorb(self) -> bool:
        """Multiply, into the first array that has all its axes, a factor."""
        for at, factor in enumerate(self.factors):
            for into, other in enumerate(self.factors):
                if into != at and set(factor.axes) <= set(other.axes):
                    self._multiply([into, at], min(into, at))
                    return True
        return False

    def _pair(self) -> bool:
        """Multiply the first pair that needs fewer loops than all factors together, and sum what is then complete."""
        every = len(union(self.factors))
        for pair in combinations(range(len(self.factors)), 2):
            if len(union([self.factors[at] for at in pair])) < every:
                self._multiply(list(pair), pair[0])
                return True
        return False

    def _multiply(self, positions: list[int], to: int) -> None:
        """The product of some factors, summed over what nothing else needs, in their stead."""
        taken = [self.factors[at] for at in positions]
        needed = self._needed(positions)
        kept = [axis for axis in union(taken) if axis in needed]
        made = contracted("einsum", taken, kept, self._where)
        self.factors = [factor for at, factor in enumerate(self.factors) if at not in positions]
        self.factors.insert(to, made)

    def _needed(self, positions: list[int]) -> set[str]:
        """The axes that the result or other factors have."""
        others = [factor for at, factor in enumerate(self.factors) if at not in positions]
        return {*self._result, *union(others)}


def _without_diagonals(array: Acc[Any], axes: tuple[str, ...], where: Where | None) -> Factor:
    """The array with each name once: of several axes with one name, the elements where their indices are equal."""
    kept = tuple(dict.fromkeys(axes))
    if kept == axes:
        return Factor(array, kept)
    first = [axes.index(axis) for axis in kept]
    extents = unlift_items("einsum", array.shape)
    diagonal = permuted(
        "einsum",
        index_of([extents[at] for at in first]),
        lambda ix: index_of([unlift_items("einsum", ix)[kept.index(axis)] for axis in axes]),
        array,
        shrinking=True,
        known=tuple(array.extents[at] for at in first),
    )
    for at, axis in enumerate(axes):
        before = axes.index(axis)
        sizes = array.extents[before], array.extents[at]
        if before == at or (sizes[0] is not None and sizes[0] == sizes[1]):
            continue
        if sizes[0] is not None and sizes[1] is not None:
            raise unequal_extents("einsum", array, array, sizes[0], sizes[1], where)
        # The extents are compared when the program runs, as those of all arrays that are zipped.
        shape = [extents[position] for position in first]
        shape[kept.index(axis)] = extents[at]
        same = generate(index_of(shape), lambda _: constant(0))
        diagonal = map_arrays("einsum", lambda x, _: x, (diagonal, same))
    return Factor(diagonal, kept)
