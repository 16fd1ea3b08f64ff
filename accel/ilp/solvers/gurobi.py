"""Gurobi through gurobipy: in this process, one thread, a fixed seed, not a word printed.

Not through python-mip, which cannot load the library inside of gurobipy's wheel. Without a licence of one's own gurobipy comes
with one for small models, of at most 2000 variables and 2000 rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import gurobipy

from accel.ilp.solvers.linear import Linear, Variable
from accel.ilp.solvers.protocol import GAP, Solution, SolverError

_SEED = 1
_TOO_LARGE = 10010
"""Gurobi's number for a model beyond the licence."""

_HUGE = 1e15
"""Bounds beyond this mean that there is none."""


class GurobiSession:
    """A gurobipy model that grows."""

    def __init__(
        self, environment: gurobipy.Env, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool
    ) -> None:
        self._model = gurobipy.Model(env=environment)
        self._columns = {
            variable.number: self._model.addVar(
                lb=0.0,
                ub=float(variable.upper),
                vtype=gurobipy.GRB.INTEGER if variable.integer and not relaxed else gurobipy.GRB.CONTINUOUS,
            )
            for variable in variables
        }
        self.add(rows)

    def _expression(self, linear: Linear) -> gurobipy.LinExpr:
        columns = [self._columns[number] for number in linear.terms]
        return gurobipy.LinExpr([float(c) for c in linear.terms.values()], columns)

    def add(self, rows: Iterable[Linear]) -> None:
        """Require `row >= 0` from now on."""
        for row in rows:
            self._model.addLConstr(self._expression(row), gurobipy.GRB.GREATER_EQUAL, -float(row.constant))

    def minimise(self, objective: Linear, seconds: float, cutoff: int | None = None) -> Solution | None:
        """The best point found in that time, or None. Raises `SolverError` if there is none, or too much for the licence."""
        self._model.setObjective(self._expression(objective) + float(objective.constant), gurobipy.GRB.MINIMIZE)
        self._model.setParam("TimeLimit", seconds)
        self._model.setParam("Cutoff", math.inf if cutoff is None else cutoff + 0.5)
        try:
            self._model.optimize()
        except gurobipy.GurobiError as error:
            if error.errno == _TOO_LARGE:
                size = f"{self._model.NumVars} variables and {self._model.NumConstrs} rows"
                raise SolverError(f"the model, of {size}, is larger than Gurobi's licence here allows") from error
            raise
        status = self._model.Status
        if status in (gurobipy.GRB.INFEASIBLE, gurobipy.GRB.INF_OR_UNBD, gurobipy.GRB.CUTOFF):
            raise SolverError("it finds no solution where there is one")
        if not self._model.SolCount:
            return None
        values = {number: float(column.X) for number, column in self._columns.items()}
        if status == gurobipy.GRB.OPTIMAL:
            return Solution(values, True, objective.value(values))
        bound = float(self._model.ObjBound)
        return Solution(values, False, bound if abs(bound) < _HUGE else -math.inf)


class Gurobi:
    """Gurobi, with the licence that it finds. Raises `gurobipy.GurobiError` if there is none at all."""

    name = "gurobi"

    def __init__(self) -> None:
        self._environment = gurobipy.Env(empty=True)
        self._environment.setParam("OutputFlag", 0)
        self._environment.setParam("Threads", 1)
        self._environment.setParam("Seed", _SEED)
        self._environment.setParam("MIPGap", 1e-9)
        self._environment.setParam("MIPGapAbs", GAP)
        self._environment.start()

    def session(self, variables: Sequence[Variable], rows: Iterable[Linear], relaxed: bool) -> GurobiSession:
        """A session; `relaxed`: no variable need be an integer."""
        return GurobiSession(self._environment, variables, rows, relaxed)
