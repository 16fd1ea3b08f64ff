"""Solving a model: relaxation with cuts, then integers, re-solved until no row that the formulation knows is violated."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel.ilp.forest import circles, spanning
from accel.ilp.formulations.protocol import Posed
from accel.ilp.linear import Linear, total
from accel.ilp.solvers.protocol import Session, Solver
from accel.labelled.nodes import Label

_WORTH_RELAXING = 80
"""Fewer variables than this go to the integer solver at once."""

_MOST_ROUNDS = 30
_LARGEST_SPAN = 1_000_000
"""Levels are put into one objective as long as it stays below this: beyond, tolerances of solvers would blur it."""

_BLUR = 1e-5
"""By how much of an objective a solver may be wrong."""

_SHARE_OF_COUNTING = 0.2
"""How much of the time may go into the number of clusters, where that is not the first level."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """Clusters of a part (before they are split), what runs backward, a lower bound per level, how many are reached.

    Bounds are of the objectives without their constants; `proved`: how many levels, from the first one. `late`: the
    first of the others is not the number of clusters. `values`: of all variables of the model. `trouble`: what the solver
    did wrong after the levels that are proved.
    """

    clusters: tuple[tuple[Label, ...], ...]
    backward: frozenset[Label]
    bound: tuple[int, ...]
    proved: int
    late: bool
    values: Mapping[int, int]
    trouble: str = ""


class Clock:
    """The time for all parts together, and what of it is left for counting clusters. Starts when it is made."""

    def __init__(self, limit: float) -> None:
        self._deadline = time.monotonic() + limit
        self._counting = limit * _SHARE_OF_COUNTING

    def deadline(self, counting: bool) -> float:
        """When a stage that begins now has to end."""
        return min(self._deadline, time.monotonic() + self._counting) if counting else self._deadline

    def spent_counting(self, seconds: float) -> None:
        """So much of the time for counting is gone."""
        self._counting -= seconds


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


@dataclass(frozen=True, slots=True)
class _Point:
    """An integral point that violates no row at all, and a lower bound on the objective: is it reached?"""

    values: Mapping[int, int]
    bound: float
    optimal: bool


class _Search:
    """One part being solved: rows found so far."""

    def __init__(self, part: Posed, solver: Solver, clock: Clock) -> None:
        self.part, self.solver, self.clock = part, solver, clock
        self.objectives = [Linear(0, objective.terms) for objective in part.model.objectives]
        self.stages = stages(self.objectives, part.forest.counters)
        self.found: list[Linear] = []
        self.added: set[tuple[int, tuple[tuple[int, int], ...]]] = set()

    def relax(self) -> None:
        """Rows that the relaxation of the first stage violates; those that end up slack are dropped."""
        session = self.solver.session(self.part.model.variables, self.part.model.rows, relaxed=True)
        pool: list[Linear] = []
        values: Mapping[int, float] = {}
        deadline = self.clock.deadline(False)
        for _ in range(_MOST_ROUNDS):
            seconds = deadline - time.monotonic()
            solution = session.minimise(self.stages[0].objective, seconds) if seconds > 0 else None
            if solution is None:
                return
            values = solution.values
            fresh = self.part.relaxed_rows(values)
            if not fresh:
                break
            session.add(fresh)
            pool += fresh
        self.found = [row for row in pool if row.value(values) < 1e-6]

    def integers(self, known: Sequence[int] | None) -> PartAnswer | None:
        """The optimum of one stage after the other, each kept for the next; None if the very first has no answer.

        `known`: the levels of a point that is known to exist. Raises what the solver raises in the first stage; what it does
        wrong later changes nothing about the answer of those before.
        """
        part = self.part
        session = self.solver.session(part.model.variables, [*part.model.rows, *self.found], relaxed=False)
        best: Mapping[int, int] | None = None
        bound: list[int] = []
        proved = 0
        trouble = ""
        for stage in self.stages:
            here = [] if best is None else [round(stage.objective.value(self._completed(best)))]
            there = [] if known is None else [stage.value(known)]
            try:
                point = self._stage(session, stage, min([*here, *there], default=None))
            except Exception as error:
                if best is None:
                    raise
                point, trouble = None, described(error)
            if point is None:
                break
            best = point.values
            if not point.optimal:
                bound += self._bound_of(stage, point.bound)
                break
            bound += [round(self.objectives[level].value(best)) for level in stage.levels]
            proved = stage.levels.stop
            # A row per level: together they say more about a relaxation than the stage's sum of them does.
            session.add(self._kept(level, best) for level in stage.levels)
            if there and round(stage.objective.value(best)) < there[0]:
                known = None  # what it is on later levels does not matter
        if best is None:
            return None
        bound += [_least(objective) for objective in self.objectives[len(bound) :]]
        clusters = tuple(tuple(cluster) for cluster in part.clusters(best) if len(cluster) > 1)
        late = [stage.counting for stage in self.stages if stage.levels.stop > proved][:1] == [False]
        return PartAnswer(clusters, part.backward(best), tuple(bound), proved, late, best, trouble)

    def _kept(self, level: int, best: Mapping[int, int]) -> Linear:
        """A level is no more than at a point, in the smallest numbers."""
        objective = reduced(self.objectives[level])[0]
        return round(objective.value(best)) - objective

    def _completed(self, values: Mapping[int, int]) -> Mapping[int, int]:
        return {**values, **spanning(self.part.forest, values)}

    def _stage(self, session: Session, stage: Stage, cutoff: int | None) -> _Point | None:
        """The best point of one stage that there was time for."""
        start = time.monotonic()
        deadline = self.clock.deadline(stage.counting)
        try:
            return self._rounds(session, stage, cutoff, deadline)
        finally:
            if stage.counting:
                self.clock.spent_counting(time.monotonic() - start)

    def _rounds(self, session: Session, stage: Stage, cutoff: int | None, deadline: float) -> _Point | None:
        """Solved and solved again, until the solution violates nothing, or what it could be at best is reached."""
        objective, forest = stage.objective, self.part.forest
        counted = stage.counting or not forest.counters.isdisjoint(objective.terms)
        best: Mapping[int, int] | None = None
        bound = -math.inf
        while (seconds := deadline - time.monotonic()) > 0:
            solution = session.minimise(objective, seconds, cutoff)
            if solution is None:
                break
            values = {number: round(value) for number, value in solution.values.items()}
            if solution.bound > objective.value(values) + 1 + _BLUR * objective.span:
                raise ValueError("its bound is above its own solution")
            bound = max(bound, objective.value(values) if solution.optimal else solution.bound)
            fresh = self.part.integral_rows(values)
            if not fresh:
                complete = self._completed(values) if counted else values
                if best is None or objective.value(complete) < objective.value(best):
                    best = complete
                if not solution.optimal or objective.value(best) <= bound + 1e-6:
                    break
            session.add(self._new([*fresh, *(circles(forest, values) if counted else ())], values))
        if best is None:
            return None
        return _Point(best, bound, objective.value(best) <= bound + 1e-6)

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

    def _bound_of(self, stage: Stage, least: float) -> list[int]:
        """What a bound on a stage says about its level, if it is only one."""
        if not math.isfinite(least) or len(stage.levels) > 1:
            return []
        divisor, _ = stage.scales[0]
        return [max(_least(self.objectives[stage.levels.start]), math.ceil(least - 1e-6) * divisor)]


def described(error: Exception) -> str:
    """What went wrong, in one line."""
    return f"{type(error).__name__}: {error}"


def _least(objective: Linear) -> int:
    """The least value that an expression can have, whatever the rows say."""
    return objective.constant + sum(min(0, c) for c in objective.terms.values())


def solve(part: Posed, solver: Solver, clock: Clock, known: Sequence[int] | None = None) -> PartAnswer | None:
    """The best clusters of a part, or None if there was no time to find any. Raises whatever the solver raises.

    `known`: the objectives, without their constants, of a clustering that the model has: others may be left out.
    """
    search = _Search(part, solver, clock)
    if len(part.model.variables) >= _WORTH_RELAXING:
        search.relax()
    return search.integers(known)
