"""Folds whose elements come in any order: partial results are kept as the tree of docs/order.md has them, and joined early.

In: elements with their numbers. Out: the bits of `accel.labelled.meaning.order.fold`, whatever the order in which they come,
and how many partial results are kept at each time.
"""

from __future__ import annotations

from collections.abc import Callable

from accel.errors import AccelInternalError
from accel.ir.meaning.nest_run import Combine
from accel.labelled.meaning.environment import Element
from accel.labelled.meaning.order import BLOCK
from accel.support.dataclass import dataclass


class Unordered:
    """An exact fold: one value, which takes elements as they come."""

    def __init__(self, combine: Combine, seed: Element | None) -> None:
        self._combine = combine
        self._value = seed

    @property
    def parts(self) -> int:
        """How many partial results there are."""
        return int(self._value is not None)

    def step(self, element: Element) -> None:
        """One more element."""
        self._value = element if self._value is None else self._combine(self._value, element)

    def total(self) -> Element | None:
        """The value of all."""
        return self._value


@dataclass(frozen=True, slots=True)
class Steps:
    """A lane begins with `first` of an element and goes on by `following`; partial results join by `combine`."""

    first: Callable[[Element], Element]
    following: Combine
    combine: Combine


class Tree:
    """A fold of `count` elements in the order of folds. `number`: of the element that comes next."""

    def __init__(
        self,
        steps: Steps,
        seed: Element | None,
        count: int,
        lanes: int,
        number: Callable[[], int],
        *,
        commutes: bool,
    ) -> None:
        self._steps, self._combine = steps, steps.combine
        self._seed, self._count, self._lanes = seed, count, lanes
        self._number, self._commutes = number, commutes
        self._open: dict[tuple[int, int], tuple[Element, int]] = {}
        """By block and lane: a lane's value, and how many elements it has."""
        self._waiting: dict[tuple[int, int, int], Element] = {}
        """By block, level and place: what is complete, and waits for what it joins with."""
        self._blocks: dict[tuple[int, int], Element] = {}
        """By level and place: blocks that wait."""
        self._seen = 0

    @property
    def parts(self) -> int:
        """How many partial results there are."""
        return len(self._open) + len(self._waiting) + len(self._blocks)

    def step(self, element: Element) -> None:
        """The element with the number that it has now."""
        block, place = divmod(self._number(), BLOCK)
        size = min(BLOCK, self._count - block * BLOCK)
        run = BLOCK // self._lanes
        lane, turn = (place % self._lanes, place // self._lanes) if self._commutes else divmod(place, run)
        length = -(-(size - lane) // self._lanes) if self._commutes else min(run, size - lane * run)
        value, done = self._open.pop((block, lane), (element, 0))
        if done != turn or turn >= length:
            raise AccelInternalError(f"element {turn} of a lane comes as its element {done} of {length}")
        value = self._steps.following(value, element) if done else self._steps.first(element)
        self._seen += 1
        if done + 1 < length:
            self._open[block, lane] = value, done + 1
        else:
            self._join_lanes(block, lane, value, min(self._lanes, size if self._commutes else -(-size // run)))

    def _join_lanes(self, block: int, lane: int, value: Element, present: int) -> None:
        """A lane, and what it makes complete, up to the block."""
        level, width = 0, self._lanes
        while present > 1:
            half = width // 2
            if self._commutes:
                left, right, last = lane % half, lane % half + half, present
            else:
                left, right, last = lane & ~1, lane | 1, present
            if right < last:
                other = self._waiting.pop((block, level, left + right - lane), None)
                if other is None:
                    self._waiting[block, level, lane] = value
                    return
                value = self._combine(other, value) if lane == right else self._combine(value, other)
            lane = left if self._commutes else lane // 2
            present = min(half, present) if self._commutes else -(-present // 2)
            level, width = level + 1, half
        self._join_blocks(block, value)

    def _join_blocks(self, place: int, value: Element) -> None:
        """A block, and what it makes complete, up to all."""
        level, present = 0, -(-self._count // BLOCK)
        while present > 1:
            if place | 1 < present:
                other = self._blocks.pop((level, place ^ 1), None)
                if other is None:
                    self._blocks[level, place] = value
                    return
                value = self._combine(other, value) if place & 1 else self._combine(value, other)
            level, place, present = level + 1, place // 2, -(-present // 2)
        self._blocks[level, 0] = value

    def total(self) -> Element | None:
        """The seed, then the value of all elements; None if there is nothing at all."""
        if self._seen != self._count:
            raise AccelInternalError(f"{self._seen} of {self._count} elements have come")
        if not self._count:
            return self._seed
        (total,) = self._blocks.values()
        return total if self._seed is None else self._combine(self._seed, total)
