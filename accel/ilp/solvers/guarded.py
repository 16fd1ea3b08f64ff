"""A solver of which every failure is a `SolverError`, and whose integral points are points of its model.

Solvers are not ours: what they raise, and what they give that cannot be, becomes a warning (`plan.py`). So it is told from our
own faults here, and nowhere else: behind this, a wrong clustering is a fault of the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import Session, Solution, Solver, SolverError

_T = TypeVar("_T")

_SLACK = 1e-5
"""By how much of its span a row may be broken, and by how much a variable may miss an integer or a bound."""


def _called(call: Callable[[], _T]) -> _T:
    """What a call of a solver gives. Raises `SolverError` whatever it raises."""
    try:
        return call()
    except SolverError:
        raise
    except Exception as error:
        raise SolverError(f"{type(error).__name__}: {error}") from error


class GuardedSession:
    """A session that looks at what it gives."""

    def __init__(self, inner: Session, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> None:
        self._inner, self._variables, self._relaxed = inner, variables, relaxed
        self._rows = list(rows)

    def add(self, rows: Iterable[Linear]) -> None:
        """Require `row >= 0` from now on."""
        fresh = list(rows)
        self._rows += fresh
        _called(lambda: self._inner.add(fresh))

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        """The best point found in that time, or None. Raises `SolverError` if it is none, or the solver fails."""
        solution = _called(lambda: self._inner.minimise(objective, seconds, cutoff))
        if solution is not None:
            self._look(solution)
        return solution

    def _look(self, solution: Solution) -> None:
        if math.isnan(solution.bound):
            raise SolverError("its bound is not a number")
        for variable in self._variables:
            value = solution.values.get(variable.number, math.nan)
            if not -_SLACK <= value <= variable.upper + _SLACK:
                raise SolverError(f"it gives {value} for {variable.name}, which is from 0 to {variable.upper}")
            if variable.integer and not self._relaxed and abs(value - round(value)) > _SLACK:
                raise SolverError(f"it gives {value} for {variable.name}, which is an integer")
        if self._relaxed:
            return  # what is wrong with such a point only costs time, or is seen when integers are asked for
        if any(row.value(solution.values) < -_SLACK * max(1, row.span) for row in self._rows):
            raise SolverError("it ignores a row of its model")


class Guarded:
    """A solver whose sessions are guarded."""

    def __init__(self, inner: Solver) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """Its name in settings and reports."""
        return self._inner.name

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> GuardedSession:
        """A session; `relaxed`: no variable need be an integer. Raises `SolverError` if the solver fails."""
        known = list(rows)
        inner = _called(lambda: self._inner.session(variables, known, relaxed))
        return GuardedSession(inner, variables, known, relaxed)


def guarded(make: Callable[[], Solver]) -> Guarded:
    """The solver that `make` gives. Raises `SolverError` if it is not installed, or has no licence."""
    return Guarded(_called(make))
