"""How a program is to be planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

_CHOICES: Mapping[str, tuple[object, ...]] = {
    "strategy": STRATEGIES,
    "duplicate": (True, False, "gathers", "published"),
    "formulation": get_args(FormulationName),
}

PLANNED = frozenset({*_CHOICES, "cost", "time_limit"})
"""The settings that `check` judges."""


def check(name: str, value: object) -> None:
    """Raise `AccelValueError` unless `value` is one for the planner's setting `name`."""
    if name in _CHOICES:
        check_choice(name, value, _CHOICES[name])
    elif name == "cost":
        named = isinstance(value, str) and value in MODELS
        if not (named or isinstance(value, CostModel) or callable(value)):
            hint = f"one of {', '.join(map(repr, MODELS))}, a CostModel, or a function over a CostCluster"
            raise AccelValueError(f"cost={value!r} is no setting", here(), hint=hint)
    elif not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise AccelValueError(f"{name}={value!r} is no number of seconds", here(), hint="more than 0")


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise `AccelValueError` unless `value` is one of `choices`."""
    # 1 == True, but a number is no answer to `duplicate`; arrays compare element by element.
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        hint = "one of " + ", ".join(map(repr, choices))
        raise AccelValueError(f"{name}={value!r} is no setting", here(), hint=hint)


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the planner.

    `sizes`: "nominal" (1024 for every unknown extent) or the extents to plan for. `duplicate`: whether work may be
    recomputed. "gathers": a cheap operation may be pushed through a gather that is larger than its source. True: its readers
    may recompute it as well (docs/ilp.md, "Recomputation"). False: neither. "published": any operation may be pushed
    [vB24]. `time_limit`: seconds for the solver, all components and levels together; with `duplicate=True` once more.
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
        check("strategy", self.strategy)
        check("cost", self.cost)
        check("duplicate", self.duplicate)
        check("time_limit", self.time_limit)
        check("formulation", self.formulation)
        if self.strategy == "ilp" and self.model is None:
            message = f"The strategy 'ilp' cannot minimise the cost function {name_of(self.what_costs)}."
            hint = "give strategy='branch_and_bound' or 'greedy', or a CostModel, a sum of weights, as the cost"
            raise AccelValueError(message, here(), hint=hint)

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
