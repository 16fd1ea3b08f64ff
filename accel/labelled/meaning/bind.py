"""Arguments meet parameters: what the size variables of a program are in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from accel.ast.handles.extents import require_extents
from accel.ast.tree.leaves import Leaf
from accel.errors import here
from accel.labelled.array import Array, Shape, SizeVariable
from accel.labelled.meaning import faults
from accel.labelled.nodes import Equality


class Called(Protocol):
    """A program of any stage, as far as its arguments meet its parameters: see `accel.labelled.nodes.Program`."""

    @property
    def parameters(self) -> tuple[tuple[Array, ...], ...]:
        """The leaves of each."""
        ...

    @property
    def own_shapes(self) -> tuple[Shape, ...]:
        """The parameters' shapes, each in variables of its own."""
        ...

    @property
    def equalities(self) -> tuple[Equality, ...]:
        """What is required of them."""
        ...


def sizes(
    parameters: Sequence[tuple[Array, ...]],
    own_shapes: Sequence[Shape],
    equalities: Sequence[Equality],
    arguments: Sequence[Leaf],
) -> dict[SizeVariable, int]:
    """The extents of `arguments`, one per leaf of each parameter, by variable of the parameters' shapes.

    Raises `AccelShapeError` for extents beyond `LARGEST_EXTENT`, and naming the combinator whose requirement fails.
    """
    found: dict[SizeVariable, int] = {}
    leaves = [leaf for parameter in parameters for leaf in parameter]
    for argument in arguments:
        require_extents(argument.shape, here())
    fits = True
    for leaf, argument in zip(leaves, arguments, strict=True):
        fits = fits and len(leaf.shape) == argument.ndim
        for extent, actual in zip(leaf.shape, argument.shape, strict=False):
            if extent.variable is None:
                fits = fits and extent.offset == actual
            else:
                fits = fits and actual >= extent.offset
                fits = fits and found.setdefault(extent.variable, actual - extent.offset) == actual - extent.offset
    if not fits:
        shapes = [argument.shape for argument in arguments]
        raise faults.arguments(own_shapes, equalities, shapes, [len(parameter) for parameter in parameters])
    return found
