"""The checks of a nest that may fail, and the errors that they stand for: what the compiled backends have in common.

A kernel only says that something failed; the nest then runs again, in order, and says which of its sites failed first, at
which index. If none does, what the nest reads has changed. Where nests do not wait for each other, the whole program runs again
first, one nest after the other, up to the one that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, Union, assert_never

from accel.errors import AccelError, AccelInternalError, AccelValueError, Where
from accel.ir.nodes import Operand, Segment, State
from accel.labelled.array import Extent, Shape, SizeVariable
from accel.labelled.meaning import faults
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class IndexSite:
    """An index must lie inside of `shape`. segment: whose bounds it has, as of `accel.ir.nodes.Remap`."""

    shape: Shape
    where: Where | None
    segment: Segment | None = None

    @property
    def more(self) -> tuple[Operand, ...]:
        """What is written down behind the index."""
        return () if self.segment is None else (self.segment.number,)


@dataclass(frozen=True, slots=True)
class EmptySite:
    """A fold without a seed must meet an element in every row."""

    state: State

    @property
    def more(self) -> tuple[Operand, ...]:
        """What is written down."""
        return () if self.state.segment is None else (self.state.segment,)


Site: TypeAlias = Union[IndexSite, EmptySite]


class NoSite(Exception):
    """A launcher's: a check failed in a nest, but none when it ran again. `arrays`: the slots of the nest's arrays."""

    def __init__(self, arrays: Sequence[int]) -> None:
        super().__init__(arrays)
        self.arrays = arrays


class Failed(Exception):
    """A check has failed, in some nest of those that were launched since somebody looked."""


def no_fault(borrowed: bool, where: Where | None) -> AccelError:
    """The error for `NoSite`. `borrowed`: something that the nest reads is an argument's memory, which others may write to."""
    what = "a check failed in a loop nest, but not when the nest ran again"
    if not borrowed:
        return AccelInternalError(what)
    hint = "no other thread may write to an array while a program reads it; give the program a copy"
    return AccelValueError(f"an argument changed while the program ran: {what}", where, hint=hint)


def fault(site: Site, index: Sequence[int], size: Callable[[SizeVariable], int]) -> AccelError:
    """The error of a site that failed. `index` begins with the offending one, then the site's `more`.

    `size` gives the extents of the call.
    """

    def numbers(shape: Shape) -> tuple[int, ...]:
        return tuple([_number(extent, size) for extent in shape])

    match site:
        case IndexSite(shape, where, Segment(name)):
            start, end, _, number = index[:4]
            return faults.segment((start, end), number, numbers(shape)[0] - 1, name, where)
        case IndexSite(shape, where):
            return faults.index(index[: len(shape)], numbers(shape), where)
        case EmptySite(state):
            of = None if state.segment is None else index[0]
            return faults.empty_row(state.combinator, numbers(state.over), state.where, of)
        case _:
            assert_never(site)


def _number(extent: Extent, size: Callable[[SizeVariable], int]) -> int:
    return extent.offset if extent.variable is None else size(extent.variable) + extent.offset
