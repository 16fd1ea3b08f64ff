"""The part of python-mip 2 that accel uses."""

from collections.abc import Iterable, Sequence
from enum import Enum

MINIMIZE: str
CBC: str
HIGHS: str
CONTINUOUS: str
INTEGER: str

class OptimizationStatus(Enum):
    OPTIMAL = 0
    INFEASIBLE = 1
    FEASIBLE = 3
    NO_SOLUTION_FOUND = 5
    OTHER = 10000

class Constr: ...
class Solver: ...

class LinExpr:
    def __init__(
        self, variables: Sequence[Var] = ..., coeffs: Sequence[float] = ..., const: float = ..., sense: str = ...
    ) -> None: ...

class Var:
    var_type: str
    @property
    def x(self) -> float | None: ...

class Model:
    verbose: int
    threads: int
    seed: int
    max_mip_gap: float
    max_mip_gap_abs: float
    preprocess: int
    cutoff: float
    objective: LinExpr
    solver: Solver
    def __init__(self, name: str = ..., sense: str = ..., solver_name: str = ...) -> None: ...
    def add_var(
        self, name: str = ..., lb: float = ..., ub: float = ..., obj: float = ..., var_type: str = ...
    ) -> Var: ...
    def add_constr(self, lin_expr: LinExpr, name: str = ...) -> Constr: ...
    def optimize(self, max_seconds: float = ..., relax: bool = ...) -> OptimizationStatus: ...
    def remove(self, objects: Constr) -> None: ...
    @property
    def num_solutions(self) -> int: ...
    @property
    def objective_bound(self) -> float | None: ...
    @property
    def objective_value(self) -> float | None: ...
    @property
    def vars(self) -> Iterable[Var]: ...
