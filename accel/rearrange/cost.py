"""What an order of loops costs, by a model of caches: enough to rank orders, not to say seconds to a percent.

In: a nest, an order, the sizes of caches. Out: seconds. Each level of memory, and the table of pages, holds what the
innermost loops touch, as far out as that fits; what lies further out fetches it anew with each turn. Neighbouring lines
stream, lines far apart wait; columns at multiples of a cache's way lie in few of its sets. On top of that stand the
instructions of the innermost loop: vectors along consecutive elements, single elements otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from accel.rearrange.nest import LinearNest, Reference, Role
from accel.rearrange.rules import Order, Piece

LINE, PAGE, VECTOR = 64, 4096, 64
"""Bytes."""
_CYCLE = 0.35e-9


@dataclass(frozen=True, slots=True)
class Level:
    """A cache of `size` bytes in `ways`; cycles for a unit that it lacks, in streams and else. Units are lines or pages."""

    size: int
    ways: int
    unit: int
    streaming: float
    waiting: float


LEVELS = (
    Level(48 << 10, 12, LINE, 2, 10),
    Level(2 << 20, 16, LINE, 5, 40),
    Level(32 << 20, 16, LINE, 10, 120),
    Level(64 * PAGE, 4, PAGE, 1, 7),
    Level(1536 * PAGE, 12, PAGE, 4, 30),
)
"""Of a processor of today. What ranks orders is that each level is many times as large as the one before."""


def predicted(nest: LinearNest, order: Order, levels: Sequence[Level] = LEVELS) -> float:
    """Seconds on one thread."""
    memory = sum(_missed(nest, order, level) for level in levels)
    return _CYCLE * (_instructions(nest, order) + memory)


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


def _missed(nest: LinearNest, order: Order, level: Level) -> float:
    """Cycles for what a level does not hold."""
    references = _references(nest, order)
    depth = len(order.pieces)
    while depth and sum(_occupied(nest, each, order.pieces[depth - 1 :], level) for each in references) <= level.size:
        depth -= 1
    outer, inner = order.pieces[:depth], order.pieces[depth:]
    total = 0.0
    for reference in references:
        turns = prod(piece.extent for piece in outer)
        # What the nearest loops outside do not move stays, if they come one after the other.
        for piece in reversed(outer):
            if _step(nest, reference, piece) or not inner:
                break
            if _occupied(nest, reference, inner, level) > level.size // 2:
                break
            turns //= piece.extent
        units, streams = _units(nest, reference, inner or order.pieces[-1:], level)
        if not inner:
            turns //= order.pieces[-1].extent
        total += turns * units * (level.streaming if streams else level.waiting)
    return total


def _units(nest: LinearNest, reference: Reference, pieces: Sequence[Piece], level: Level) -> tuple[float, bool]:
    """How many lines or pages the loops touch, and whether mostly one after the other."""
    bytes_ = reference.type.bytes
    count, run = 1.0, float(bytes_)
    for step, extent in sorted((_step(nest, reference, piece) * bytes_, piece.extent) for piece in pieces):
        if step == 0:
            continue
        if step <= max(run, level.unit):
            run = max(run, run + step * (extent - 1))
        else:
            count *= extent
    return count * max(1.0, run / level.unit), run > level.unit


def _occupied(nest: LinearNest, reference: Reference, pieces: Sequence[Piece], level: Level) -> float:
    """Bytes of a level that are taken, or kept from others: what lies a way apart shares its sets."""
    bytes_ = reference.type.bytes
    way = level.size // level.ways
    count, run, apart = 1.0, float(bytes_), 0
    for step, extent in sorted((_step(nest, reference, piece) * bytes_, piece.extent) for piece in pieces):
        if step == 0:
            continue
        if step <= max(run, level.unit):
            run = max(run, run + step * (extent - 1))
        else:
            count *= extent
            apart = apart or step
    share = _common(apart, way) if apart else 0
    return count * max(run, float(level.unit), float(share))


def _common(step: int, way: int) -> int:
    """The largest power of two that divides both."""
    return min(step & -step, way & -way if way & (way - 1) else way)


def _references(nest: LinearNest, order: Order) -> list[Reference]:
    """What the innermost loop reads and writes: the result only if it is not carried in a register."""
    carried = nest.reduction is not None and order.pieces[-1].axis.role is Role.REDUCE
    return [*nest.reads, *([] if carried else [nest.result])]


def _step(nest: LinearNest, reference: Reference, piece: Piece) -> int:
    """Elements between two turns of a loop."""
    at = [axis.letter for axis in nest.axes].index(piece.axis.letter)
    return abs(reference.strides[at]) * piece.stride
