"""Levels of a cost as the objectives that a solver is given, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from accel.ilp.model.digits import LARGEST_SPAN, Carry, Digit, digits
from accel.ilp.solvers.linear import Linear, total
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Goal:
    """Consecutive parts of levels as one objective: a sum in which each is multiplied with a number.

    `levels`: those of which the last part is in it, so that they are decided with it. `counting`: it is the number of clusters,
    of clusterings that are best otherwise, or comes after that. `counted`: clusters are counted in it, for whatever reason.
    """

    objective: Linear
    parts: tuple[tuple[Digit, int], ...]
    levels: range
    counting: bool = False
    counted: bool = False

    def value(self, levels: Sequence[int]) -> int:
        """The objective of a point, given the values of all levels there."""
        return sum(part.value(levels) * factor for part, factor in self.parts)


def goals(
    objectives: Sequence[Linear], counters: frozenset[int], variables: int
) -> tuple[tuple[Goal, ...], tuple[Carry, ...]]:
    """Levels put together where that is exact: the more important one outweighs all that follow it.

    A level that is too large for a solver is several parts, and there may be carries among them, in variables with
    numbers from `variables` on. The number of clusters, whose variables are `counters`, is a goal of its own: it is
    harder than all that may come before.
    """
    result: list[Goal] = []
    carries: list[Carry] = []
    counting = False
    for level, objective in enumerate(objectives):
        counting = level > 0 and (counting or not counters.isdisjoint(objective.terms))
        parts, carried = digits(objective, level, variables + sum(len(carry.bits) for carry in carries))
        carries += carried
        for carry in carried:
            counters |= frozenset(() if counters.isdisjoint(carry.low.terms) else carry.bits)
        for part in parts:
            counted = counting or not counters.isdisjoint(part.objective.terms)
            goal = Goal(part.objective, ((part, 1),), range(level, level + part.last), counting, counted)
            together = _together(result[-1], goal) if result and not counting else None
            result[-1:] = [*result[-1:], goal] if together is None else [together]
    return tuple(result), tuple(carries)


def _together(first: Goal, second: Goal) -> Goal | None:
    """Two goals as one, if a solver can tell its values apart."""
    factor = second.objective.span + 1
    objective = total([first.objective * factor, second.objective])
    if first.counting or objective.span > LARGEST_SPAN:
        return None
    parts = (*((part, f * factor) for part, f in first.parts), *second.parts)
    levels = range(first.levels.start, second.levels.stop)
    return Goal(objective, parts, levels, counted=first.counted or second.counted)
