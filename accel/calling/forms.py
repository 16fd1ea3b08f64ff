"""What the user's nested tuple of `Acc`s looks like, so that results come back in the same form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from accel.ast.combinators.control import instead_of
from accel.ast.handles.acc import Acc
from accel.ast.handles.exp import raw
from accel.ast.handles.extents import LESS_MEMORY
from accel.ast.handles.literals import describe
from accel.ast.tree.host_functions import HostArray
from accel.ast.tree.leaves import Leaf
from accel.ast.tree.nodes import ArrayNode
from accel.ast.tree.types import ArrayType, require_shallow_tuples
from accel.device_array import device_arrays
from accel.errors import AccelMemoryError, AccelTypeError, here
from accel.structure import Nested, element_arrays, has_leaves, like
from accel.support.dataclass import frozen


@frozen
class Shaped:
    """The types of its arrays, nested as they are, in named tuples where the user wrote these."""

    form: Nested[ArrayType]

    def assemble(self, arrays: Sequence[HostArray]) -> object:
        """Program results, one per leaf, as the user expects them. Raises `AccelMemoryError`."""
        try:
            return _assembled(self.form, iter(arrays))
        except MemoryError as error:  # complex numbers and records are copied together from their leaves
            message = f"no memory for an argument or a result: {error}"
            raise AccelMemoryError(message, here(), hint=LESS_MEMORY) from error

    def is_nested_as(self, given: object) -> bool:
        """Whether nested tuples have an array for each leaf, where results are assembled of these."""
        return _is_nested_as(self.form, given)

    def left_there(self, leaves: Sequence[Leaf], place: str) -> object:
        """The same of results that stay where the backend of that name runs programs."""
        return _left_there(self.form, iter(leaves), place)


def _assembled(form: Nested[ArrayType], arrays: Iterator[HostArray]) -> object:
    # Not a function inside of another: one that calls itself would be a cycle, and keep the arrays until a collection.
    if isinstance(form, tuple):
        return like(form, [_assembled(part, arrays) for part in form])
    return element_arrays(form.element, arrays)


def _is_nested_as(form: Nested[ArrayType], given: object) -> bool:
    if not isinstance(form, tuple):
        return has_leaves(form.element, given)
    if not isinstance(given, tuple) or len(given) != len(form):
        return False
    return all(_is_nested_as(part, each) for part, each in zip(form, given, strict=True))


def _left_there(form: Nested[ArrayType], leaves: Iterator[Leaf], place: str) -> object:
    if isinstance(form, tuple):
        return like(form, [_left_there(part, leaves, place) for part in form])
    return device_arrays(form.element, leaves, place)


def nodes_of(result: object, what: str) -> tuple[list[ArrayNode], Shaped]:
    """The nodes of its arrays, left to right, and its form. Raises `AccelTypeError` for anything else."""
    if isinstance(result, tuple):
        require_shallow_tuples(result, here())
    handles: list[Acc[Any]] = []  # Any: the arrays of a program have different types
    shaped = Shaped(_form(result, what, handles))
    return [handle.node for handle in handles], shaped


def _form(part: object, what: str, handles: list[Acc[Any]]) -> Nested[ArrayType]:
    """The types of a nested tuple of handles, which are noted left to right. Raises `AccelTypeError` for anything else."""
    if isinstance(part, tuple):
        return like(part, [_form(item, what, handles) for item in part])
    if not isinstance(part, Acc):
        hint = instead_of(part) or "wrap NumPy arrays in `A.use(...)`; an Exp becomes an array by `A.unit(e)`"
        raise AccelTypeError(f"{what} must be an Acc or a tuple of them, got {describe(raw(part))}", here(), hint=hint)
    handles.append(part)
    return part.type
