"""What caches lack when loops walk through arrays: a model of their levels, enough to rank orders of loops.

Each level of memory, and the table of pages, holds what the innermost loops touch, as far out as that fits; what lies further
out fetches it anew with each turn. Neighbouring lines stream, lines far apart wait; columns at multiples of a cache's way lie
in few of its sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from accel.support.dataclass import dataclass

LINE, PAGE, VECTOR = 64, 4096, 64
"""Bytes."""

CYCLE = 0.35e-9
"""Seconds."""

CHANGED = 3
"""Times as long as reads wait changes in place, where neither follow each other."""


PASSING = 4
"""What part of a level is taken by what passes through and does not stay."""


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


@dataclass(frozen=True, slots=True)
class Walk:
    """How loops walk through an array. bytes: of an element. steps: elements between turns of each loop, outermost first.
    is_changed: whether elements are read, changed and written in each turn, so that what waits cannot overlap."""

    bytes: int
    steps: tuple[int, ...]
    is_changed: bool = False


def missed(walks: Sequence[Walk], extents: Sequence[int], level: Level) -> float:
    """Cycles for what a level does not hold. extents: of the loops, outermost first."""
    total = 0.0
    for walk in walks:
        depth = _depth(walk, walks, extents, level)
        turns = prod(extents[:depth])
        inner = _pairs(walk, extents, depth)
        # What the nearest loops outside do not move stays, if they come one after the other.
        for step, extent in zip(reversed(walk.steps[:depth]), reversed(extents[:depth]), strict=True):
            if step or not inner or _occupied(inner, walk, level) > level.size // 2:
                break
            turns //= extent
        units, streams = _units(inner or _pairs(walk, extents, len(extents) - 1), walk, level)
        if not inner:
            turns //= extents[-1]
        waiting = level.waiting * (CHANGED if walk.is_changed else 1)
        total += turns * units * (level.streaming if streams else waiting)
    return total


def _depth(walk: Walk, walks: Sequence[Walk], extents: Sequence[int], level: Level) -> int:
    """From which loop on what the walk touches stays in the level. Others that find no room there take a part of it only."""
    depth = len(extents)
    while depth:
        taken = [_occupied(_pairs(each, extents, depth - 1), each, level) for each in walks]
        own = taken[walks.index(walk)]
        others = sum(taken) - own
        if own + min(others, level.size / PASSING) > level.size:
            break
        depth -= 1
    return depth


def _pairs(walk: Walk, extents: Sequence[int], depth: int) -> list[tuple[int, int]]:
    """Bytes between two turns, and turns, of the loops from `depth` on; the nearest first."""
    return sorted((step * walk.bytes, extent) for step, extent in zip(walk.steps[depth:], extents[depth:], strict=True))


def _units(pairs: Sequence[tuple[int, int]], walk: Walk, level: Level) -> tuple[float, bool]:
    """How many lines or pages the loops touch, and whether mostly one after the other."""
    count, run = 1.0, float(walk.bytes)
    for step, extent in pairs:
        if step == 0:
            continue
        if step <= max(run, level.unit):
            run = max(run, run + step * (extent - 1))
        else:
            count *= extent
    return count * max(1.0, run / level.unit), run > level.unit


def _occupied(pairs: Sequence[tuple[int, int]], walk: Walk, level: Level) -> float:
    """Bytes of a level that are taken, or kept from others: what lies a way apart shares its sets."""
    way = level.size // level.ways
    count, run, apart = 1.0, float(walk.bytes), 0
    for step, extent in pairs:
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
