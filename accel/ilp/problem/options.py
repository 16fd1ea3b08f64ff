"""How a program is to be planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from accel.errors import AccelValueError, here
from accel.ilp.problem.cost import MODELS, CostModel
from accel.ilp.problem.cost_function import Cost, CostFunction, name_of
from accel.labelled.array import SizeVariable
from accel.support.choices import (
    DUPLICATE,
    RECOMPUTED_BY_READERS,
    CostName,
    Duplicate,
    FormulationName,
    Strategy,
    check_choice,
    check_seconds,
)
from accel.support.dataclass import dataclass
from accel.support.shown import shown

CostGiven: TypeAlias = CostName | CostModel | CostFunction
"""How a user says what clusters cost: by the name of a model, a model of weights, or a function over one cluster."""


def check_cost(value: object) -> None:
    """Raise `AccelValueError` unless `value` is a cost."""
    named = isinstance(value, str) and value in MODELS
    if not (named or isinstance(value, CostModel) or callable(value)):
        hint = f"one of {', '.join(map(repr, MODELS))}, a CostModel, or a function over a CostCluster"
        raise AccelValueError(f"cost={shown(value)} is no setting", here(), hint=hint)


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the planner.

    `sizes`: "nominal" (1024 for every unknown extent) or the extents to plan for. `duplicate`: whether work may be
    recomputed. "gathers": a cheap operation may be pushed through a gather that is larger than its source. "stencils":
    readers that load it by index may recompute it as well. True: all its readers may (docs/ilp/recomputation.md). False: none
    of these. "published": any operation may be pushed [vB24].
    `time_limit`: seconds for the solver, all components and levels together; with `duplicate=True` once more, with "stencils"
    up to twice more.
    `formulation`: of the integer linear program; ours, that of [vB24 Fig. 4], or that of [Rob section 1.4].
    """

    strategy: Strategy = "ilp"
    cost: CostGiven = "default"
    solver: str = "cbc"
    sizes: Literal["nominal"] | Mapping[SizeVariable, int] = "nominal"
    duplicate: Duplicate = DUPLICATE
    time_limit: float = 10.0
    formulation: FormulationName = "accel"

    def __post_init__(self) -> None:
        for name in ("strategy", "duplicate", "formulation"):
            check_choice(name, getattr(self, name))
        check_seconds("time_limit", self.time_limit)
        check_cost(self.cost)
        if self.strategy == "ilp" and self.model is None:
            message = f"The strategy 'ilp' cannot minimise the cost function {name_of(self.what_costs)}."
            hint = "give strategy='branch_and_bound' or 'greedy', or a CostModel, a sum of weights, as the cost"
            raise AccelValueError(message, here(), hint=hint)

    @property
    def what_costs(self) -> Cost:
        """The model or function that `cost` stands for."""
        return MODELS[self.cost] if isinstance(self.cost, str) else self.cost

    @property
    def recomputes(self) -> bool:
        """Whether readers may recompute what they read."""
        return self.duplicate in RECOMPUTED_BY_READERS

    @property
    def stored(self) -> Options:
        """Those of a search in which stencils take nothing in."""
        return replace(self, duplicate="gathers") if self.duplicate == "stencils" else self

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
