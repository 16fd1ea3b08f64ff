"""Loops that run as one over positions: which dimensions are one where arrays lie in memory as the loops run.

In: a nest, and loops of it; which run as one, a schedule says. Also: loops without whose iterations others do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accel.ir import mentions
from accel.ir.nodes import For, Nest, Operand, Read, State, Stream, Write, is_known
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Constant


def accesses(nest: Nest) -> Iterator[tuple[Array, tuple[Operand, ...]]]:
    """The reads and writes at loop indices: which array, at which index."""
    for statement in mentions.statements(nest):
        if isinstance(statement, Read | Write):
            yield statement.array, statement.index


def merging(nest: Nest, loops: Sequence[For], *, contiguous: bool = False) -> int:
    """The first dimension that may merge with all behind it, as far as the text tells: these indices occur only together,
    in order, at the end of an array's index.

    `contiguous`: all arrays are, so that their extents say whether they lie as the loops run, and nothing at the call does.
    """
    indices = [loop.index for loop in loops]
    used = [operand for operand in mentions.operands(nest) if isinstance(operand, Stream)]
    every = list(accesses(nest))
    for first in range(len(loops) - 1):
        tail = tuple(indices[first:])
        whole = 0
        for array, index in every:
            lies = not contiguous or _has_extents(array, loops[first + 1 :])
            if lies and index[-len(tail) :] == tail and not set(index[: -len(tail)]) & set(tail):
                whole += 1
        if all(used.count(each) == whole for each in tail):
            return first
    return len(loops) - 1


def _has_extents(array: Array, loops: Sequence[For]) -> bool:
    """Whether loops visit all of an array's last dimensions, as far as the text tells."""
    extents = [Extent(None, int(e.value)) if isinstance(e := loop.extent, Constant) else e for loop in loops]
    return list(array.shape[-len(loops) :]) == extents


def needed_inside(loop: For) -> Iterator[For]:
    """The loops without whose iterations a loop does nothing: those directly inside of each other in it.

    So it need not run at all where one of them has no iterations, however many it has itself.
    """
    outer = loop
    while not outer.body.before and not outer.body.after and outer.body.loop is not None:
        outer = outer.body.loop
        if not is_known(outer.extent) or any(not _may_be_empty(state) for state in outer.states):
            return
        yield outer


def _may_be_empty(state: State) -> bool:
    """Whether a state of no elements is no error."""
    return state.running or state.initial is not None
