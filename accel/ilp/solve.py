"""Solving a model: relaxation with cuts, then integers, re-solved until no row that the formulation knows is violated."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel.ilp.formulations.protocol import Posed
from accel.ilp.linear import Linear, total
from accel.ilp.solvers.protocol import Session, Solver
from accel.labelled.nodes import Label

_WORTH_RELAXING = 80
"""Fewer variables than this go to the integer solver at once."""

_MOST_ROUNDS = 30
_LARGEST_SPAN = 1_000_000
"""Levels are put into one objective as long as it stays below this: beyond, tolerances of solvers would blur it."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """Clusters of a part (before they are split), what runs backward, a lower bound per level, whether it is reached.

    Bounds are of the objectives without their constants.
    """

    clusters: tuple[tuple[Label, ...], ...]
    backward: frozenset[Label]
    bound: tuple[int, ...]
    proved: bool


def stages(objectives: Sequence[Linear]) -> list[tuple[Linear, range]]:
    """Consecutive levels put together where that is exact: the more important one outweighs all that follow it."""
    result: list[tuple[Linear, range]] = []
    start = 0
    while start < len(objectives):
        stop, scaled = start + 1, _reduced(objectives[start])
        while stop < len(objectives):
            factor = objectives[stop].span + 1
            together = total([scaled * factor, objectives[stop]])
            if together.span > _LARGEST_SPAN:
                break
            scaled, stop = together, stop + 1
        result.append((scaled, range(start, stop)))
        start = stop
    return result


def _reduced(objective: Linear) -> Linear:
    """An objective divided by what divides all its coefficients."""
    divisor = math.gcd(*objective.terms.values()) if objective.terms else 1
    return Linear(0, {number: c // divisor for number, c in objective.terms.items()})


class _Search:
    """One part being solved: rows found so far, the time that is left."""

    def __init__(self, part: Posed, solver: Solver, deadline: float) -> None:
        self.part, self.solver, self.deadline = part, solver, deadline
        self.objectives = [Linear(0, objective.terms) for objective in part.model.objectives]
        self.found: list[Linear] = []
        self.added: set[tuple[int, tuple[tuple[int, int], ...]]] = set()

    def seconds(self) -> float:
        """What is left until the deadline."""
        return self.deadline - time.monotonic()

    def relax(self, objective: Linear) -> None:
        """Cycle rows that the relaxation violates; those that end up slack are dropped."""
        session = self.solver.session(self.part.model.variables, self.part.model.rows, relaxed=True)
        pool: list[Linear] = []
        values: Mapping[int, float] = {}
        for _ in range(_MOST_ROUNDS):
            if self.seconds() <= 0:
                return
            solution = session.minimise(objective, self.seconds())
            if solution is None:
                return
            values = solution.values
            fresh = self.part.relaxed_rows(values)
            if not fresh:
                break
            session.add(fresh)
            pool += fresh
        self.found = [row for row in pool if row.value(values) < 1e-6]

    def integers(self, staged: Sequence[tuple[Linear, range]]) -> PartAnswer | None:
        """The optimum of one stage after the other, each kept for the next; None if the very first has no answer."""
        part = self.part
        session = self.solver.session(part.model.variables, [*part.model.rows, *self.found], relaxed=False)
        best: dict[int, int] | None = None
        bound: list[int] = []
        for objective, levels in staged:
            point = self._stage(session, objective)
            if point is None:
                break
            best, optimal, least = point
            if not optimal:
                bound += self._bound_of(objective, levels, least)
                break
            bound += [round(self.objectives[level].value(best)) for level in levels]
            session.add([round(objective.value(best)) - objective])
        if best is None:
            return None
        proved = len(bound) == len(self.objectives) and point is not None and point[1]
        bound += [_least(objective) for objective in self.objectives[len(bound) :]]
        clusters = tuple(tuple(cluster) for cluster in part.clusters(best) if len(cluster) > 1)
        return PartAnswer(clusters, part.backward(best), tuple(bound), proved)

    def _stage(self, session: Session, objective: Linear) -> tuple[dict[int, int], bool, float] | None:
        """An integral point that violates no row at all, whether it is optimal, and a lower bound."""
        counted = not self.part.counters.isdisjoint(objective.terms)
        while self.seconds() > 0:
            solution = session.minimise(objective, self.seconds())
            if solution is None:
                return None
            values = {number: round(value) for number, value in solution.values.items()}
            fresh = self.part.integral_rows(values, counted)
            if not fresh:
                return values, solution.optimal, solution.bound
            session.add(self._new(fresh, values))
        return None

    def _new(self, rows: Sequence[Linear], values: Mapping[int, float]) -> list[Linear]:
        """The rows that are not yet there: a solver that violates one of those does not solve what it is given."""
        fresh = []
        for row in rows:
            key = (row.constant, tuple(sorted(row.terms.items())))
            if key not in self.added:
                self.added.add(key)
                fresh.append(row)
        if all(row.value(values) >= 0 for row in fresh):
            raise ValueError("it ignores a row of its model")
        return fresh

    def _bound_of(self, objective: Linear, levels: range, least: float) -> list[int]:
        """What a bound on a stage says about its level, if it is only one."""
        level = self.objectives[levels[0]]
        if not math.isfinite(least) or len(levels) > 1 or not objective.terms:
            return []
        number = next(iter(objective.terms))
        return [max(_least(level), math.ceil(least - 1e-6) * (level.terms[number] // objective.terms[number]))]


def _least(objective: Linear) -> int:
    """The least value that an expression can have, whatever the rows say."""
    return objective.constant + sum(min(0, c) for c in objective.terms.values())


def solve(part: Posed, solver: Solver, deadline: float) -> PartAnswer | None:
    """The best clusters of a part, or None if there was no time to find any. Raises whatever the solver raises."""
    search = _Search(part, solver, deadline)
    staged = stages(search.objectives)
    if len(part.model.variables) >= _WORTH_RELAXING:
        search.relax(staged[0][0])
    return search.integers(staged)
