"""One graph planned in one way: what it costs, how large the model is, how long the proof takes.

A plan is measured as a user gets it: chains, analysis, greedy, formulation, solver and checker together. Solvers do not tell
when they found what they return (python-mip has no such report for HiGHS, and CBC crashes when asked for it), so the time
to the first plan of the final cost is found from outside: the same program is planned with ever shorter time limits.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from unittest import mock

from accel.errors import AccelSolverWarning
from accel.ilp import optimise
from accel.ilp.answer import Answer
from accel.ilp.graph import Graph
from accel.ilp.linear import Linear, Variable
from accel.ilp.options import Options
from accel.ilp.plan import search
from accel.ilp.solvers import find
from accel.ilp.solvers.protocol import Session, Solution, Solver

_HALVINGS = 6
"""The shortest time limit that is tried is the time to the proof, halved so often."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A plan, and what it took. `rows` and `columns`: of all integer programs together, with the rows that were added.

    `first`: seconds to a plan of this cost; None if that is not known. `trouble`: why the planner gave no proof.
    """

    answer: Answer
    seconds: float
    rows: int
    columns: int
    first: float | None
    trouble: str


class _Counted:
    """A session that counts the rows it is given."""

    def __init__(self, session: Session, size: Size) -> None:
        self._session, self._size = session, size

    def add(self, rows: Iterable[Linear]) -> None:
        """Require `row >= 0` from now on."""
        known = list(rows)
        self._size.rows += len(known)
        self._session.add(known)

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        """The best point found in that time, or None."""
        return self._session.minimise(objective, seconds, cutoff)


class Size:
    """How large the programs are that a solver is given; a solver that counts, for all else the one inside."""

    def __init__(self) -> None:
        self.rows = self.columns = 0
        self._solver: Solver | None = None

    def watch(self, name: str) -> Size:
        """Stand for the solver of that name from now on."""
        self._solver = find(name)
        return self

    @property
    def name(self) -> str:
        """Its name in settings and reports."""
        return "" if self._solver is None else self._solver.name

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> Session:
        """A session; relaxations are not counted, they are solved again as integer programs."""
        assert self._solver is not None
        known = list(rows)
        session = self._solver.session(variables, known, relaxed)
        if relaxed:
            return session
        self.rows += len(known)
        self.columns += len(variables)
        return _Counted(session, self)


@contextmanager
def _counting() -> Iterator[Size]:
    """Within, the planner's solvers count."""
    size = Size()
    with mock.patch.object(optimise, "find", size.watch):
        yield size


def _planned(graph: Graph, options: Options) -> tuple[Answer, float, str]:
    """A plan, its seconds, and the planner's warning, if there is one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AccelSolverWarning)
        start = time.perf_counter()
        answer = search(graph, options)
        seconds = time.perf_counter() - start
    return answer, seconds, "; ".join(str(warning.message) for warning in caught)


def _first(graph: Graph, options: Options, cost: tuple[int, ...], proof: float) -> float:
    """Seconds to a plan of `cost`, at most: of the shortest time limit that was enough. Limits are halved until one is not."""
    greedy, seconds, _ = _planned(graph, replace(options, strategy="greedy"))
    if greedy.cost == cost:
        return seconds
    best, limit = proof, proof
    for _ in range(_HALVINGS):
        limit /= 2
        answer, seconds, _ = _planned(graph, replace(options, time_limit=limit))
        if answer.cost != cost:
            break
        best = min(best, seconds)
    return best


def measure(graph: Graph, options: Options, repeat: int = 1) -> Measured:
    """A plan by `options`; the median of the times of `repeat` runs."""
    with _counting() as size:
        answer, seconds, trouble = _planned(graph, options)
    times = sorted([seconds, *(_planned(graph, options)[1] for _ in range(repeat - 1))])
    median = times[len(times) // 2]
    first = _first(graph, options, answer.cost, median) if answer.proved else None
    return Measured(answer, median, size.rows, size.columns, first, trouble)
