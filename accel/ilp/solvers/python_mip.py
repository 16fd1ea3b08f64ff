"""CBC and HiGHS through python-mip: in this process, one thread, a fixed seed, not a word printed."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterable, Sequence
from functools import partial
from types import MappingProxyType

import mip
from mip.cbc import cbc_set_parameter, cbclib

from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import GAP, Solution, SolverError
from accel.support.forks import Once

_SEED = 1
_BLUR = 1e-5
"""CBC finds nothing at some cutoffs that are a few millionths of the objective too high."""

_SMALL = 150
"""In models of so many variables CBC's heuristics take more time than they save."""

_HUGE = 1e15
"""Bounds beyond this mean that a solver has none."""


class MipSession:
    """A python-mip model that grows."""

    def __init__(self, backend: str, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> None:
        self._backend = backend
        self._model = mip.Model(sense=mip.MINIMIZE, solver_name=backend)
        self._model.verbose = 0
        self._model.threads = 1
        self._model.seed = _SEED
        self._model.max_mip_gap = 1e-9
        self._model.max_mip_gap_abs = GAP
        if backend == mip.CBC:
            # With it, CBC writes beyond its memory now and then when the time is up: the process dies, or hangs.
            self._model.preprocess = 0
            # More than that takes bounds of reals for a contradiction that meet slowly, each a little below the other in turns.
            cbc_set_parameter(self._model.solver, "boundPropLevel", "singletons")
            if len(variables) <= _SMALL:
                cbc_set_parameter(self._model.solver, "heur", "off")
        self._relaxed = relaxed
        if backend == mip.CBC:
            self._silence()
        self._columns = {
            variable.number: self._model.add_var(
                lb=0.0,
                ub=float(variable.upper),
                var_type=mip.INTEGER if variable.integer and not relaxed else mip.CONTINUOUS,
            )
            for variable in variables
        }
        self.add(rows)

    def _silence(self) -> None:
        """CBC writes on the process's standard output when it solves a model without integers, whatever `verbose` says.

        So there is one in each model. A relaxation is quiet after a first model that is none: this cannot hold, which is quick.
        """
        column = self._model.add_var(lb=0.0, ub=1.0, var_type=mip.INTEGER)
        if self._relaxed:
            row = self._model.add_constr(mip.LinExpr([column], [1.0], -2.0, ">"))
            self._model.optimize(max_seconds=1.0)
            self._model.remove(row)

    def _expression(self, linear: Linear, sense: str) -> mip.LinExpr:
        columns = [self._columns[number] for number in linear.terms]
        return mip.LinExpr(columns, [float(c) for c in linear.terms.values()], float(linear.constant), sense)

    def add(self, rows: Iterable[Linear]) -> None:
        """Require `row >= 0` from now on."""
        for row in rows:
            self._model.add_constr(self._expression(row, ">"))

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        """The best point found in that time, or None. Raises `SolverError` if there is none at all."""
        self._model.objective = self._expression(objective, "")
        self._cut_off(objective, cutoff)
        status = self._optimised(seconds)
        if status is mip.OptimizationStatus.INFEASIBLE:
            raise SolverError("it finds no solution where there is one")
        if not self._model.num_solutions:
            return None
        values: dict[int, float] = {}
        for number, column in self._columns.items():
            value = column.x
            if value is None:
                return None
            values[number] = value
        bound = self._model.objective_bound
        # Now and then CBC stops at its bound and does not call that optimal.
        reached = bound is not None and abs(bound) <= _HUGE and objective.value(values) <= bound + 1e-6
        optimal = reached or status is mip.OptimizationStatus.OPTIMAL
        if optimal or bound is None or abs(bound) > _HUGE:
            bound = objective.value(values) if optimal else -math.inf
        return Solution(values, optimal, bound)

    def _optimised(self, seconds: float) -> mip.OptimizationStatus:
        """What the solver says of the model.

        CBC tightens bounds before it solves, and may call a model infeasible because those of variables that need not be
        integers move slowly. Their best values are integers all the same, so it is asked once more with integers only.
        """
        if self._relaxed and self._backend == mip.CBC:
            return self._model.optimize(max_seconds=seconds, relax=True)
        end = time.monotonic() + seconds
        status = self._model.optimize(max_seconds=seconds)
        open_variables = [column for column in self._columns.values() if column.var_type != mip.INTEGER]
        if status is not mip.OptimizationStatus.INFEASIBLE or self._backend != mip.CBC or not open_variables:
            return status
        for column in open_variables:
            column.var_type = mip.INTEGER
        return self._model.optimize(max_seconds=max(0.0, end - time.monotonic()))

    def _cut_off(self, objective: Linear, cutoff: int | None) -> None:
        """CBC has a parameter; a row costs it time. HiGHS gains from a row; its parameter leads to wrong claims."""
        if self._backend == mip.CBC:
            self._model.cutoff = _HUGE if cutoff is None else cutoff + 0.5 + _BLUR * objective.span
        elif cutoff is not None:
            self.add([cutoff - objective])


def _library(backend: str) -> object:
    """The solver's functions as python-mip sees them."""
    if backend == mip.CBC:
        return cbclib
    from mip.highs import highslib  # it complains where HiGHS is missing

    return highslib


def _warm_up(backend: str) -> None:
    """Look up all functions and types of the solver's library that sessions use.

    cffi does that behind a lock when they are first used, and never again. A handler that interrupted it would wait for itself,
    and a forked child for a thread that it does not have.
    """
    library = _library(backend)
    for name in dir(library):
        with contextlib.suppress(AttributeError):  # of another version of the library
            getattr(library, name)
    variables = [Variable(0, "x", True), Variable(1, "y", False)]
    objective = Linear(0, {0: 1, 1: 1})
    for relaxed in (True, False):
        for least in (1, 3):  # with solutions, and without
            with contextlib.suppress(Exception):
                session = MipSession(backend, variables, [Linear(-least, {0: 1, 1: 1})], relaxed)
                session.minimise(objective, 1.0)
                session.add([Linear(1, {0: -1})])
                session.minimise(objective, 1.0, cutoff=1)


_READY = MappingProxyType({"cbc": Once(partial(_warm_up, mip.CBC)), "highs": Once(partial(_warm_up, mip.HIGHS))})


class PythonMip:
    """A backend of python-mip: "cbc" comes with it, "highs" needs the package highspy."""

    def __init__(self, name: str) -> None:
        self._backend = {"cbc": mip.CBC, "highs": mip.HIGHS}[name]
        self._name = name
        _READY[name]()

    @property
    def name(self) -> str:
        """Its name in settings and reports."""
        return self._name

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> MipSession:
        """A session; `relaxed`: no variable need be an integer."""
        return MipSession(self._backend, variables, rows, relaxed)
