"""The order in which folds and scans combine their elements (docs/order.md), as reference code.

Every backend gives these bits. `combine` takes and gives one value of any kind (a tuple of leaves, usually); the
element visited earlier comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from accel.ast.tree.types import ScalarType

T = TypeVar("T")
E = TypeVar("E")

BLOCK = 4096
"""Elements of a block."""

SCAN_VECTOR = 8
"""Elements of a scan's vector."""


def lanes(state: Sequence[ScalarType]) -> int:
    """How many lanes a fold's block has: 32 if a leaf of the state has 8 bytes, else 64."""
    return 32 if any(leaf.bytes == 8 for leaf in state) else 64


def join_pairs(parts: list[T], combine: Callable[[T, T], T]) -> T:
    """Join adjacent pairs, level by level; an odd one at the end waits."""
    while len(parts) > 1:
        pairs = [combine(parts[i], parts[i + 1]) for i in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(parts) - len(parts) % 2 :]
    return parts[0]


def _fold_runs(block: Sequence[T], combine: Callable[[T, T], T], width: int) -> T:
    run = BLOCK // width
    partial = []
    for start in range(0, len(block), run):
        total = block[start]
        for value in block[start + 1 : start + run]:
            total = combine(total, value)
        partial.append(total)
    return join_pairs(partial, combine)


def _fold_lanes(
    block: Sequence[E], first: Callable[[E], T], step: Callable[[T, E], T], combine: Callable[[T, T], T], width: int
) -> T:
    lane = list(map(first, block[:width]))
    for i in range(width, len(block)):
        lane[i % width] = step(lane[i % width], block[i])
    half = width // 2
    while half:
        for i in range(min(half, len(lane) - half)):
            lane[i] = combine(lane[i], lane[i + half])
        half //= 2
    return lane[0]


def fold(elements: Sequence[T], combine: Callable[[T, T], T], commutes: bool, width: int) -> T:
    """All elements (at least one) combined in the order of folds, without seed.

    Commuting: lane l takes i = l mod `width` in rising order; lanes join l with l + width/2, and so on. Not commuting: lane
    l takes a contiguous run, lanes join in adjacent pairs. Absent lanes are skipped. Blocks join in adjacent pairs.
    """
    if commutes:
        return fold_in_lanes(elements, lambda element: element, combine, combine, width)
    return join_pairs([_fold_runs(block, combine, width) for block in _blocks(elements)], combine)


def fold_in_lanes(
    elements: Sequence[E], first: Callable[[E], T], step: Callable[[T, E], T], combine: Callable[[T, T], T], width: int
) -> T:
    """All elements (at least one) in the order of commuting folds, where elements are no partial results themselves.

    A lane begins with `first` of its first element and goes on by `step`; lanes and blocks join by `combine`.
    """
    return join_pairs([_fold_lanes(block, first, step, combine, width) for block in _blocks(elements)], combine)


def _blocks(elements: Sequence[E]) -> list[Sequence[E]]:
    return [elements[i : i + BLOCK] for i in range(0, len(elements), BLOCK)]


def scan(elements: Iterable[T], combine: Callable[[T, T], T], seed: T | None) -> Iterable[T]:
    """The inclusive scan in the order of scans: one result per element, `seed` (if any) combined into each.

    Within a vector of 8: steps of 1, 2, 4. Result = block carry + (vector carry + local); carries by left fold over
    vectors, and over blocks; the seed is the first block's carry.
    """
    block_carry = seed
    vector_carry: T | None = None
    steps: list[list[T]] = [[], [], [], []]  # the vector's lanes after steps of 0, 1, 2, 4
    total = None
    for position, element in enumerate(elements):
        lane = position % SCAN_VECTOR
        if lane == 0:
            if position % BLOCK == 0:
                if position:
                    assert total is not None
                    block_carry = total
                vector_carry = None
            steps = [[], [], [], []]
        steps[0].append(element)
        for level, distance in enumerate((1, 2, 4)):
            value = steps[level][lane]
            if lane >= distance:
                value = combine(steps[level][lane - distance], value)
            steps[level + 1].append(value)
        local = steps[3][lane]
        in_block = local if vector_carry is None else combine(vector_carry, local)
        total = in_block if block_carry is None else combine(block_carry, in_block)
        if lane == SCAN_VECTOR - 1:
            vector_carry = in_block
        yield total
