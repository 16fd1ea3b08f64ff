"""The checks of a nest that may fail, and the errors that they stand for: what the compiled backends have in common.

A kernel only says that something failed; the nest then runs again, in order, and says which of its sites failed first, at
which index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, Union, assert_never

from accel.errors import AccelError, Where
from accel.ir.nodes import State
from accel.labelled import faults
from accel.labelled.nodes import Extent, Shape, SizeVariable


@dataclass(frozen=True, slots=True)
class IndexSite:
    """An index must lie inside of `shape`."""

    shape: Shape
    where: Where | None


@dataclass(frozen=True, slots=True)
class EmptySite:
    """A fold without a seed must meet an element in every row."""

    state: State


Site: TypeAlias = Union[IndexSite, EmptySite]


def fault(site: Site, index: Sequence[int], size: Callable[[SizeVariable], int]) -> AccelError:
    """The error of a site that failed. `index` begins with the offending one; `size` gives the extents of the call."""

    def numbers(shape: Shape) -> tuple[int, ...]:
        return tuple([_number(extent, size) for extent in shape])

    match site:
        case IndexSite(shape, where):
            return faults.index(index[: len(shape)], numbers(shape), where)
        case EmptySite(state):
            return faults.empty_row(state.combinator, numbers(state.over), state.where)
        case _:
            assert_never(site)


def _number(extent: Extent, size: Callable[[SizeVariable], int]) -> int:
    return extent.offset if extent.variable is None else size(extent.variable) + extent.offset
