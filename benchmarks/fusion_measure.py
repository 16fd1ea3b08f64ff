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
from accel.ilp.plan import search
from accel.ilp.problem.answer import Answer
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.ilp.solvers import find
from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import Session, Solution, Solver

_HALVINGS = 6
"""The shortest time limit that is tried is the time to the proof, halved so often."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A plan, and what it took. `rows` and `columns`: of all integer programs together, with the rows that were added.

    Seconds are the processor's, which one thread uses: what else runs on the machine matters little. `seconds`: from graph to
    checked plan. `first`: to a plan of this cost; None if that is not known. `trouble`: why the planner gave no proof.
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
        """A session; only relaxations are counted, with which every program begins."""
        assert self._solver is not None
        known = list(rows)
        session = self._solver.session(variables, known, relaxed)
        if not relaxed:
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


@dataclass(frozen=True, slots=True)
class Timed:
    """A plan, its seconds of processor and of the clock on the wall, and the planner's warning, if there is one."""

    answer: Answer
    seconds: float
    wall: float
    trouble: str


def planned(graph: Graph, options: Options) -> Timed:
    """A plan by `options`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AccelSolverWarning)
        wall, start = time.perf_counter(), time.process_time()
        answer = search(graph, options)
        seconds, wall = time.process_time() - start, time.perf_counter() - wall
    return Timed(answer, seconds, wall, "; ".join(str(warning.message) for warning in caught))


def _first(graph: Graph, options: Options, proof: Timed) -> float:
    """Seconds to a plan of that cost, at most: limits are halved until one is not enough."""
    greedy = planned(graph, replace(options, strategy="greedy"))
    if greedy.answer.cost == proof.answer.cost:
        return greedy.seconds
    best, limit = proof.seconds, proof.wall
    for _ in range(_HALVINGS):
        limit /= 2
        found = planned(graph, replace(options, time_limit=limit))
        if found.answer.cost != proof.answer.cost:
            break
        best = min(best, found.seconds)
    return best


def measure(graph: Graph, options: Options, repeat: int = 1) -> Measured:
    """A plan by `options`; of `repeat` runs, the one of median time."""
    with _counting() as size:
        runs = [planned(graph, options)]
    runs += [planned(graph, options) for _ in range(repeat - 1)]
    median = sorted(runs, key=lambda run: run.seconds)[repeat // 2]
    first = _first(graph, options, median) if median.answer.proved else None
    return Measured(median.answer, median.seconds, size.rows, size.columns, first, median.trouble)


def warm_up(graph: Graph, options: Options) -> None:
    """Plan once, so that no later measurement pays for importing a solver."""
    planned(graph, options)
