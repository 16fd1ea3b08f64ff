"""What the planner asks of a solver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from accel.ilp.solvers.linear import Linear, Variable
from accel.support.dataclass import dataclass


class SolverError(Exception):
    """A solver failed, or gave what cannot be: the one kind of error after which a program is clustered otherwise."""


GAP = 0.99
"""Objectives are integral: what is better by less than 1 is no better, and by that much a solver's best may be worse."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A point, and whether no better one exists (but for less than 1 in the objective). Not to be trusted."""

    values: Mapping[int, float]
    optimal: bool
    bound: float


class Session(Protocol):
    """One program, to which rows are added between solves."""

    def add(self, rows: Iterable[Linear]) -> None:
        """Require `row >= 0` from now on."""

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        """The best point found in that time, or None.

        Points of which the objective is above `cutoff` need not be found; there is one at or below it. Raises `SolverError`
        if the solver claims that there is no point at all.
        """


class Solver(Protocol):
    """A solver."""

    @property
    def name(self) -> str:
        """Its name in settings and reports."""

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> Session:
        """A session; `relaxed`: no variable need be an integer."""
