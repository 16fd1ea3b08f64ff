"""Solving a model: level after level, each by a relaxation with cuts and, where that does not settle it, with integers.

Rows that the formulation knows are added until none is violated. The best point that is known, greedy's at first, stands until
a better one is found: a relaxation whose bound it reaches proves it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence

from accel.ilp.formulations.protocol import Posed
from accel.ilp.model.digits import carried, with_carries
from accel.ilp.model.forest import circles, spanning
from accel.ilp.model.lexicographic import Goal, goals
from accel.ilp.solvers.linear import Linear
from accel.ilp.solvers.protocol import GAP, Session, Solver, SolverError
from accel.labelled.array import Label
from accel.support.dataclass import dataclass

_MOST_ROUNDS = 30
"""Of a relaxation."""

_BLUR = 1e-5
"""By how much of an objective a solver may be wrong."""

_INTEGRAL = 1e-6
"""How far from an integer a value may be that is one."""

_SHARE_OF_COUNTING = 0.2
"""How much of the time may go into the number of clusters, where that is not the first level."""

Values = Mapping[int, int]
"""The variables of a model at an integral point."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """Clusters of a part (before they are split), what runs backward, a lower bound per level, how many are reached.

    Bounds are of the objectives without their constants; `proved`: how many levels, from the first one. `late`: the
    first of the others is not the number of clusters. `values`: of all variables of the model; None if nothing better was
    found than the point that was known before. `trouble`: what the solver did wrong after the levels that are proved.
    """

    clusters: tuple[tuple[Label, ...], ...]
    backward: frozenset[Label]
    bound: tuple[int, ...]
    proved: int
    late: bool
    values: Values | None
    trouble: str = ""


class Clock:
    """The time for all parts together, and what of it is left for counting clusters. Starts when it is made."""

    def __init__(self, limit: float) -> None:
        self._deadline = time.monotonic() + limit
        self._counting = limit * _SHARE_OF_COUNTING

    def deadline(self, counting: bool) -> float:
        """When a goal that begins now has to end."""
        return min(self._deadline, time.monotonic() + self._counting) if counting else self._deadline

    def spent_counting(self, seconds: float) -> None:
        """So much of the time for counting is gone."""
        self._counting -= seconds


class _Search:
    """One part being solved: the rows found so far, and the best point that is known."""

    def __init__(self, part: Posed, solver: Solver, clock: Clock, known: Sequence[int] | None) -> None:
        self.part, self.solver, self.clock = part, solver, clock
        self.objectives = [Linear(0, objective.terms) for objective in part.model.objectives]
        self.goals, self.carries = goals(self.objectives, part.forest.counters, len(part.model.variables))
        self.variables = with_carries(part.model.variables, self.carries)
        self.levels = None if known is None else tuple(known)
        self.values: Values | None = None
        self.rows = [*part.model.rows, *(row for carry in self.carries for row in carry.rows)]
        self.relaxation: Session | None = None
        self.exact: Session | None = None
        self.added: set[tuple[int, tuple[tuple[int, int], ...]]] = set()

    # ---- level after level

    def answer(self) -> PartAnswer | None:
        """The optimum of one goal after the other, each kept for the next; None if no point is known at all.

        Raises `SolverError` where the solver fails in the first goal; later, nothing about the goals before changes.
        """
        bound: list[int] = []
        done = 0
        trouble = ""
        for goal in self.goals:
            least = -math.inf
            try:
                least = self._goal(goal)
            except SolverError as error:
                if not done:
                    raise
                trouble = str(error)
            if trouble or self.levels is None or least < goal.value(self.levels):
                break
            done += 1
            bound += [self.levels[level] for level in goal.levels]
            # A row per part: together they say more about a relaxation than the goal's sum of them does.
            self._add([part.value(self.levels) - part.objective for part, _ in goal.parts])
        if self.levels is None:
            return None
        proved = len(bound)
        late = not all(goal.counting for goal in self.goals[done : done + 1])
        bound += [self._bound_of(goal, least) for goal in self.goals[done : done + 1]]
        bound += [_least(objective) for objective in self.objectives[len(bound) :]]
        values = self.values
        clusters = () if values is None else self.part.clusters(values)
        backward = frozenset[Label]() if values is None else self.part.backward(values)
        sets = tuple(tuple(cluster) for cluster in clusters if len(cluster) > 1)
        return PartAnswer(sets, backward, tuple(bound), proved, late, values, trouble)

    def _goal(self, goal: Goal) -> float:
        """A lower bound on a goal, at best what it is at the best point, if there was time for it."""
        start = time.monotonic()
        deadline = self.clock.deadline(goal.counting)
        try:
            bound = self._bound(goal, deadline)
            if self.levels is None or bound < goal.value(self.levels):
                bound = max(bound, self._rounds(goal, deadline))
        finally:
            if goal.counting:
                self.clock.spent_counting(time.monotonic() - start)
        if self.levels is not None and bound > goal.value(self.levels) + 0.5:
            raise SolverError(f"its bound of {bound} is above what can be had")
        return bound

    # ---- points

    def _completed(self, values: Values) -> Values:
        return carried(self.carries, {**values, **spanning(self.part.forest, values)})

    def _rounded(self, values: Mapping[int, float]) -> Values:
        """The integral point next to a solution; what is carried is counted, not rounded."""
        return carried(self.carries, {number: round(value) for number, value in values.items()})

    def _take(self, values: Values) -> None:
        """A point that violates no row at all: the best one, if it is better than the one before."""
        complete = self._completed(values)
        levels = tuple(round(objective.value(complete)) for objective in self.objectives)
        if self.levels is None or levels < self.levels:
            self.levels, self.values = levels, complete

    def _add(self, rows: Iterable[Linear]) -> None:
        """Rows that hold from now on."""
        known = list(rows)
        self.rows += known
        for session in (self.relaxation, self.exact):
            if session is not None:
                session.add(known)

    # ---- without integers

    def _bound(self, goal: Goal, deadline: float) -> float:
        """A bound by the relaxation, if that works: only the solver's word on integers is needed."""
        try:
            return self._relaxed(goal, deadline)
        except SolverError:
            self.relaxation = None
            return -math.inf

    def _relaxed(self, goal: Goal, deadline: float) -> float:
        """A bound by the relaxation, of which an integral solution is a point. Rows that it violates are found."""
        if self.relaxation is None:
            self.relaxation = self.solver.session(self.variables, self.rows, relaxed=True)
        objective, session = goal.objective, self.relaxation
        blur = _INTEGRAL + 1e-9 * objective.span
        bound = -math.inf
        pool: list[Linear] = []
        values: Mapping[int, float] = {}
        for _ in range(_MOST_ROUNDS):
            seconds = deadline - time.monotonic()
            solution = session.minimise(objective, seconds) if seconds > 0 else None
            if solution is None or not solution.optimal:
                break
            values = solution.values
            bound = max(bound, math.ceil(objective.value(values) - blur))
            if self.levels is not None and bound >= goal.value(self.levels):
                break
            fresh = self.part.relaxed_rows(values) or self._at_integers(goal, values, [*self.rows, *pool])
            if not fresh:
                break
            session.add(fresh)
            pool += fresh
        tight = [row for row in pool if row.value(values) < 1e-6]
        self.rows += tight
        if self.exact is not None:
            self.exact.add(tight)
        return bound

    def _at_integers(self, goal: Goal, values: Mapping[int, float], rows: Iterable[Linear]) -> list[Linear]:
        """Rows that a solution of the relaxation violates if it is integral; if it violates none, it is taken."""
        variables = self.part.model.variables
        if any(abs(values[each.number] - round(values[each.number])) > _INTEGRAL for each in variables if each.integer):
            return []
        point = self._rounded(values)
        if any(row.value(point) < 0 for row in rows):
            return []
        fresh = self._violated(goal, point)
        if not fresh:
            self._take(point)
        return fresh

    def _violated(self, goal: Goal, values: Values) -> list[Linear]:
        """Rows that an integral point violates, with those about its forest where clusters are counted."""
        fresh = self.part.integral_rows(values)
        return [*fresh, *(circles(self.part.forest, values) if goal.counted else ())]

    # ---- with integers

    def _rounds(self, goal: Goal, deadline: float) -> float:
        """Solved and solved again, until a solution violates nothing, or what it could be at best is reached: a bound."""
        if self.exact is None:
            self.exact = self.solver.session(self.variables, self.rows, relaxed=False)
        objective = goal.objective
        bound = -math.inf
        while (seconds := deadline - time.monotonic()) > 0:
            cutoff = None if self.levels is None else goal.value(self.levels)
            solution = self.exact.minimise(objective, seconds, cutoff)
            if solution is None:
                break
            values = self._rounded(solution.values)
            if solution.bound > objective.value(values) + 1 + _BLUR * objective.span:
                raise SolverError("its bound is above its own solution")
            bound = max(bound, math.ceil(solution.bound - (GAP if solution.optimal else _INTEGRAL)))
            fresh = self.part.integral_rows(values)
            if not fresh:
                self._take(values)
                assert self.levels is not None
                if not solution.optimal or goal.value(self.levels) <= bound:
                    break
                fresh = circles(self.part.forest, values) if goal.counted else []
                if not fresh and objective.value(values) > bound:
                    raise SolverError("what it takes for integers costs more as integers")
            elif goal.counted:
                fresh = [*fresh, *circles(self.part.forest, values)]
            self._add(self._new(fresh, values))
        return bound

    def _new(self, rows: Sequence[Linear], values: Mapping[int, float]) -> list[Linear]:
        """The rows that are not yet there: a solver that violates one of those does not solve what it is given."""
        fresh = []
        for row in rows:
            key = (row.constant, tuple(sorted(row.terms.items())))
            if key not in self.added:
                self.added.add(key)
                fresh.append(row)
        if all(row.value(values) >= 0 for row in fresh):
            raise SolverError("it ignores a row of its model")
        return fresh

    def _bound_of(self, goal: Goal, least: float) -> int:
        """What a bound on a goal says about the level of its first part: nothing, if it has more parts than that."""
        assert self.levels is not None
        first, _ = goal.parts[0]
        lowest = _least(first.objective)
        if len(goal.parts) == 1 and math.isfinite(least):
            lowest = max(lowest, math.ceil(least - 1e-6))
        return max(_least(self.objectives[first.level]), first.bound(lowest, self.levels))


def _least(objective: Linear) -> int:
    """The least value that an expression can have, whatever the rows say."""
    return objective.constant + sum(min(0, c) for c in objective.terms.values())


def solve(part: Posed, solver: Solver, clock: Clock, known: Sequence[int] | None = None) -> PartAnswer | None:
    """The best clusters of a part, or None if there was no time to find any. Raises `SolverError`.

    `known`: the objectives, without their constants, of a clustering that the model has: others may be left out.
    """
    return _Search(part, solver, clock, known).answer()
