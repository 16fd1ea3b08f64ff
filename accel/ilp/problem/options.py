"""How a program is to be planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from accel.errors import AccelValueError, here
from accel.ilp.problem.cost import MODELS, CostModel, CostName
from accel.ilp.problem.cost_function import Cost, CostFunction, name_of
from accel.labelled.array import SizeVariable

Strategy: TypeAlias = Literal[
    "ilp", "none", "linear", "greedy", "greedy_top_down", "greedy_bottom_up", "unintrusive", "branch_and_bound"
]
Duplicate: TypeAlias = bool | Literal["gathers", "published"]
FormulationName: TypeAlias = Literal["accel", "published", "robinson"]
CostGiven: TypeAlias = CostName | CostModel | CostFunction
"""How a user says what clusters cost: by the name of a model, a model of weights, or a function over one cluster."""

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

DUPLICATE: Duplicate = "gathers"
"""The default of `duplicate`."""


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the planner.

    `sizes`: "nominal" (1024 for every unknown extent) or the extents to plan for. `duplicate`: whether work may be done
    again. "gathers": a cheap operation may be pushed through a gather that is larger than its source. True: its readers may
    recompute it as well (docs/ilp.md, "Recomputation"). False: neither. "published": any operation may be pushed
    [vB24]. `time_limit`: seconds for the solver, all components and levels together. `formulation`: of the integer linear
    program; ours, that of [vB24 Fig. 4], or that of [Rob section 1.4].
    """

    strategy: Strategy = "ilp"
    cost: CostGiven = "default"
    solver: str = "cbc"
    sizes: Literal["nominal"] | Mapping[SizeVariable, int] = "nominal"
    duplicate: Duplicate = DUPLICATE
    time_limit: float = 10.0
    formulation: FormulationName = "accel"

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            known = ", ".join(STRATEGIES)
            raise AccelValueError(f"There is no strategy {self.strategy!r}.", hint=f"the strategies are {known}")
        if isinstance(self.cost, str) and self.cost not in MODELS:
            known = ", ".join(MODELS)
            raise AccelValueError(f"There is no cost model {self.cost!r}.", hint=f"the cost models are {known}")
        if self.strategy == "ilp" and self.model is None:
            message = f"The strategy 'ilp' cannot minimise the cost function {name_of(self.what_costs)}."
            hint = "give strategy='branch_and_bound' or 'greedy', or a CostModel, a sum of weights, as the cost"
            raise AccelValueError(message, here(), hint=hint)
        if self.duplicate not in (True, False, "gathers", "published"):
            raise AccelValueError(f"`duplicate` is True, False, 'gathers' or 'published', not {self.duplicate!r}.")
        if self.formulation not in get_args(FormulationName):
            known = ", ".join(get_args(FormulationName))
            raise AccelValueError(
                f"There is no formulation {self.formulation!r}.", hint=f"the formulations are {known}"
            )
        if not self.time_limit > 0:
            raise AccelValueError(f"A time limit is a positive number of seconds, not {self.time_limit!r}.")

    @property
    def what_costs(self) -> Cost:
        """The model or function that `cost` stands for."""
        return MODELS[self.cost] if isinstance(self.cost, str) else self.cost

    @property
    def extents(self) -> Mapping[SizeVariable, int]:
        """The extents to plan for, as far as they are not nominal."""
        return {} if self.sizes == "nominal" else self.sizes

    @property
    def model(self) -> CostModel | None:
        """The cost as levels of weights; None for a function."""
        cost = self.what_costs
        return cost if isinstance(cost, CostModel) else None


DEFAULT = Options()
