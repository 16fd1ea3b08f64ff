"""Levels of a cost as the objectives that a solver is given, one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from accel.ilp.linear import Linear, total

_LARGEST_SPAN = 1_000_000
"""Levels are put into one objective as long as it stays below this: beyond, tolerances of solvers would blur it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Consecutive levels as one objective: a sum of their values, each divided by and then multiplied with a number.

    `counting`: it is the number of clusters, of clusterings that are best otherwise, or comes after that.
    """

    objective: Linear
    levels: range
    scales: tuple[tuple[int, int], ...]
    counting: bool = False

    def value(self, levels: Sequence[int]) -> int:
        """The objective of a point, given the values of all levels there."""
        parts = zip(self.levels, self.scales, strict=True)
        return sum(levels[level] // divisor * factor for level, (divisor, factor) in parts)


def reduced(objective: Linear) -> tuple[Linear, int]:
    """The variables of an expression with their coefficients divided by what divides them all, and that."""
    divisor = math.gcd(*objective.terms.values()) if objective.terms else 1
    return Linear(0, {number: c // divisor for number, c in objective.terms.items()}), divisor


def stages(objectives: Sequence[Linear], counters: frozenset[int]) -> list[Stage]:
    """Levels put together where that is exact: the more important one outweighs all that follow it.

    The number of clusters, whose variables are `counters`, is a stage of its own: it is harder than all that may come before.
    """
    result: list[Stage] = []
    for level, objective in enumerate(objectives):
        small, divisor = reduced(objective)
        counting = bool(result) and (result[-1].counting or not counters.isdisjoint(objective.terms))
        if result and not counting and not result[-1].counting:
            last, factor = result[-1], small.span + 1
            together = total([last.objective * factor, small])
            if together.span <= _LARGEST_SPAN:
                scales = (*((d, f * factor) for d, f in last.scales), (divisor, 1))
                result[-1] = Stage(together, range(last.levels.start, level + 1), scales)
                continue
        result.append(Stage(small, range(level, level + 1), ((divisor, 1),), counting))
    return result
