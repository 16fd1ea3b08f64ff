"""What an order of loops costs, by a model of caches: enough to rank orders, not to say seconds to a percent.

In: a nest, an order, the sizes of caches (`accel/schedule/prediction/caches.py`). Out: seconds. On top of what the caches lack
stand the instructions of the innermost loop: vectors along consecutive elements, single elements otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from accel.rearrange.nest import LinearNest, Reference, Role
from accel.rearrange.rules import Order, Piece
from accel.schedule.prediction.caches import CYCLE, LEVELS, VECTOR, Level, Walk, missed


def predicted(nest: LinearNest, order: Order, levels: Sequence[Level] = LEVELS) -> float:
    """Seconds on one thread."""
    walks, extents = _walks(nest, order), [piece.extent for piece in order.pieces]
    memory = sum(missed(walks, extents, level) for level in levels)
    return CYCLE * (_instructions(nest, order) + memory)


def _instructions(nest: LinearNest, order: Order) -> float:
    """Cycles of the innermost loop, were all in the nearest cache."""
    turns = prod(piece.extent for piece in order.pieces)
    inner = order.pieces[-1]
    references = _references(nest, order)
    strides = [_step(nest, reference, inner) for reference in references]
    lanes = max(1, VECTOR // nest.result.type.bytes)
    if any(stride not in (0, 1) for stride in strides):
        gathered = sum(stride not in (0, 1) for stride in strides)
        return turns * (0.5 + gathered)
    width = min(lanes, inner.extent)
    # Each entry into the innermost loop has its beginning and its end; a sum in lanes is joined there.
    entry = 4.0 + (8.0 if inner.axis.role is Role.REDUCE else 0.0)
    return turns / width * (1 + 0.5 * len(references)) + turns / inner.extent * entry


def _walks(nest: LinearNest, order: Order) -> list[Walk]:
    """How the loops walk through what they read and write."""
    return [
        Walk(reference.type.bytes, tuple([_step(nest, reference, piece) for piece in order.pieces]))
        for reference in _references(nest, order)
    ]


def _references(nest: LinearNest, order: Order) -> list[Reference]:
    """What the innermost loop reads and writes: the result only if it is not carried in a register."""
    carried = nest.reduction is not None and order.pieces[-1].axis.role is Role.REDUCE
    return [*nest.reads, *([] if carried else [nest.result])]


def _step(nest: LinearNest, reference: Reference, piece: Piece) -> int:
    """Elements between two turns of a loop."""
    at = [axis.letter for axis in nest.axes].index(piece.axis.letter)
    return abs(reference.strides[at]) * piece.stride
