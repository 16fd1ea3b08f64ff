"""How a program is to be planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from accel.errors import AccelValueError
from accel.ilp.cost import MODELS
from accel.labelled.nodes import SizeVariable

Strategy: TypeAlias = Literal["ilp", "greedy", "none"]
Duplicate: TypeAlias = bool | Literal["published"]
STRATEGIES: tuple[Strategy, ...] = ("ilp", "greedy", "none")


@dataclass(frozen=True)
class Options:
    """Settings of the planner.

    `sizes`: "nominal" (1024 for every unknown extent) or the extents to plan for. `duplicate`: whether an operation may be
    pushed through a gather that is larger than its source: True, if it is cheap; False, never; "published", always [vB24].
    `time_limit`: seconds for the solver, all components and levels together.
    """

    strategy: Strategy = "ilp"
    cost: str = "default"
    solver: str = "cbc"
    sizes: Literal["nominal"] | Mapping[SizeVariable, int] = "nominal"
    duplicate: Duplicate = True
    time_limit: float = 10.0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            known = ", ".join(STRATEGIES)
            raise AccelValueError(f"There is no strategy {self.strategy!r}.", hint=f"the strategies are {known}")
        if self.cost not in MODELS:
            known = ", ".join(MODELS)
            raise AccelValueError(f"There is no cost model {self.cost!r}.", hint=f"the cost models are {known}")
        if self.duplicate not in (True, False, "published"):
            raise AccelValueError(f"`duplicate` is True, False or 'published', not {self.duplicate!r}.")
        if not self.time_limit > 0:
            raise AccelValueError(f"A time limit is a positive number of seconds, not {self.time_limit!r}.")


DEFAULT = Options()
