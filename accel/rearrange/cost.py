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

UNROLLED = 16
"""Turns of an innermost loop that LLVM writes out, to take the loop around it in lanes."""

WRITTEN_OUT = 64
"""Turns of an innermost sum that it writes out at all: elements that the loop around does not change are loaded before it."""


def predicted(nest: LinearNest, order: Order, levels: Sequence[Level] = LEVELS) -> float:
    """Seconds on one thread."""
    pieces = order.pieces
    cycles = _cycles(nest, pieces, levels, carried=_is_reduction(pieces[-1]))
    if len(pieces) > 1 and pieces[-1].extent <= UNROLLED and _step(nest, nest.result, pieces[-2]) <= 1:
        # LLVM writes the innermost loop out, and takes the one around it in lanes, unless it had to scatter results: so they
        # have changed places, but what is carried is carried still.
        *outer, around, inner = pieces
        turned = (*outer, inner, around)
        is_carried = _is_reduction(inner) or _is_reduction(around)
        unrolled = inner if _is_reduction(around) else None
        cycles = min(cycles, _cycles(nest, turned, levels, carried=is_carried, unrolled=unrolled))
    if len(pieces) > 1 and pieces[-1].extent <= WRITTEN_OUT and _is_reduction(pieces[-1]):
        cycles = min(cycles, _cycles(nest, pieces, levels, carried=True, before=pieces[-2]))
    return CYCLE * cycles


def _is_reduction(piece: Piece) -> bool:
    return piece.axis.role is Role.REDUCE


def _cycles(
    nest: LinearNest,
    pieces: Sequence[Piece],
    levels: Sequence[Level],
    *,
    carried: bool,
    unrolled: Piece | None = None,
    before: Piece | None = None,
) -> float:
    """Of loops in this order; `carried`: the result stays in a register while the innermost one runs. `unrolled`: a loop
    written out around the sums of the innermost one, for all turns of which a register holds what does not change. `before`:
    the loop around one that is written out, before which single elements that it does not change are loaded."""
    every = [*nest.reads, *([] if carried else [nest.result])]
    early = [each for each in every if before and not _step(nest, each, before) and _step(nest, each, pieces[-1]) > 1]
    late = [each for each in every if each not in early]
    without = [piece for piece in pieces if piece != before]
    found = [(late, pieces), (early, without)]
    memory = sum(_missed(nest, some, loops, level) for some, loops in found if some for level in levels)
    loaded = sum(prod(piece.extent for piece in without) for _ in early)
    return memory + loaded + _instructions(nest, pieces, late, unrolled)


def _missed(nest: LinearNest, references: Sequence[Reference], pieces: Sequence[Piece], level: Level) -> float:
    """Cycles for what a level of memory does not hold."""
    walks = [
        Walk(
            each.type.bytes,
            tuple(_step(nest, each, piece) for piece in pieces),
            nest.reduction is not None and each is nest.result,
        )
        for each in references
    ]
    return missed(walks, [piece.extent for piece in pieces], level)


def _instructions(
    nest: LinearNest, pieces: Sequence[Piece], references: Sequence[Reference], unrolled: Piece | None
) -> float:
    """Cycles of the innermost loop, were all in the nearest cache."""
    turns, inner = prod(piece.extent for piece in pieces), pieces[-1]
    if not turns:
        return 0.0
    strides = [_step(nest, reference, inner) for reference in references]
    parts = [1 / unrolled.extent if unrolled and not _step(nest, each, unrolled) else 1.0 for each in references]
    lanes = max(1, VECTOR // nest.result.type.bytes)
    if any(stride not in (0, 1) for stride in strides):
        gathered = sum(part for stride, part in zip(strides, parts, strict=True) if stride not in (0, 1))
        return turns * (0.5 + gathered)
    width = min(lanes, inner.extent)
    # Each entry into the innermost loop has its beginning and its end; a sum in lanes is joined there.
    entry = 4.0 + (8.0 if _is_reduction(inner) else 0.0)
    return turns / width * (1 + 0.5 * sum(parts)) + turns / inner.extent * entry


def _step(nest: LinearNest, reference: Reference, piece: Piece) -> int:
    """Elements between two turns of a loop."""
    at = [axis.letter for axis in nest.axes].index(piece.axis.letter)
    return abs(reference.strides[at]) * piece.stride
